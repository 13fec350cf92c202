//! The most memory a process has had so far. Linux only.

use anyhow::Context;

/// In MiB.
pub fn of(process: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))
        .context("this system does not tell a process's memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .context("no peak of memory was told")?;
    Ok(kib.parse::<f64>()? / 1024.0)
}
