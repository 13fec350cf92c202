//! What the figures were measured on.

use super::context::Bench;
use crate::limits::disk;
use std::{path::Path, time::Duration};

/// How long the disk is tried.
const PROBE: Duration = Duration::from_secs(1);

/// Names and values, in reading order.
pub async fn describe(benches: &[Bench]) -> anyhow::Result<Vec<(String, String)>> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut lines = vec![
        ("cores".to_owned(), cores.to_string()),
        (
            "processor".to_owned(),
            line_of("/proc/cpuinfo", "model name").unwrap_or_default(),
        ),
        (
            "memory".to_owned(),
            line_of("/proc/meminfo", "MemTotal").unwrap_or_default(),
        ),
        ("kernel".to_owned(), read("/proc/sys/kernel/osrelease")),
        ("load before".to_owned(), read("/proc/loadavg")),
        (
            "waypost".to_owned(),
            format!(
                "{}{}",
                env!("CARGO_PKG_VERSION"),
                if cfg!(debug_assertions) {
                    " (not optimised!)"
                } else {
                    ""
                }
            ),
        ),
    ];
    for bench in benches {
        lines.push((
            bench.database.name().to_lowercase(),
            bench.database.version().await?,
        ));
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().to_owned();
    let syncs = tokio::task::spawn_blocking(move || disk::fdatasync(&path, PROBE)).await??;
    lines.push((
        "fdatasync".to_owned(),
        format!(
            "{:.0}/s (p50 {:.0} µs, p99 {:.0} µs)",
            syncs.per_second, syncs.p50_us, syncs.p99_us
        ),
    ));
    Ok(lines)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn line_of(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(Path::new(path)).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
