//! The disk itself: how often a small overwrite can be made durable.

use super::{per_second, percentile};
use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::Path,
    time::{Duration, Instant},
};
use store::{Error, Result};

const FILE: u64 = 16 << 20;
const WRITE: u64 = 8 << 10;

#[derive(Debug, Clone, Copy)]
pub struct Syncs {
    pub per_second: f64,
    /// Half of them took less than this, in microseconds.
    pub p50_us: f64,
    pub p99_us: f64,
}

/// Overwrites 8 KiB and waits for the disk, over and over, in a file that is there already.
pub fn fdatasync(folder: &Path, run_for: Duration) -> Result<Syncs> {
    let path = folder.join("fdatasync.probe");
    let syncs = measure(&path, run_for).map_err(Error::unavailable);
    let _ = std::fs::remove_file(path);
    syncs
}

fn measure(path: &Path, run_for: Duration) -> std::io::Result<Syncs> {
    let file = File::create(path)?;
    file.write_all_at(&vec![0; FILE as usize], 0)?;
    file.sync_all()?;
    let block = [1; WRITE as usize];
    let (start, mut took) = (Instant::now(), vec![]);
    while start.elapsed() < run_for {
        let one = Instant::now();
        file.write_all_at(&block, took.len() as u64 * WRITE % FILE)?;
        file.sync_data()?;
        took.push(one.elapsed().as_secs_f64() * 1e6);
    }
    Ok(Syncs {
        per_second: per_second(took.len() as u64, start.elapsed()),
        p50_us: percentile(&mut took, 0.5),
        p99_us: percentile(&mut took, 0.99),
    })
}
