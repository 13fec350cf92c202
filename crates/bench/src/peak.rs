//! How much memory a process has had at most so far, and what of it is the program itself. Linux only.

use anyhow::Context;

/// In MiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// The most so far.
    pub peak: f64,
    /// What is there now of the program's file and its libraries. The system has them once for all who run them, takes them back when it
    /// needs room, and maps more around each page that is touched: how much depends on how the file came into its cache.
    pub program: f64,
}

pub fn of(process: u32) -> anyhow::Result<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))
        .context("this system does not tell a process's memory")?;
    let mebibytes = |name: &str| -> anyhow::Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next());
        let kib = kib.with_context(|| format!("{name} was not told"))?;
        Ok(kib.parse::<f64>()? / 1024.0)
    };
    Ok(Memory {
        peak: mebibytes("VmHWM:")?,
        program: mebibytes("RssFile:")?,
    })
}
