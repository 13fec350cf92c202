//! How fast, and at what price: messages per second, and this process's processor time for each.

use crate::limits::per_second;
use std::time::Instant;

/// What a run of messages came to.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    /// Of all threads of this process, in microseconds a message; other load on the machine hardly changes it. Zero
    /// where the system does not tell.
    pub cpu_us: f64,
}

impl Rate {
    pub fn note(self) -> String {
        format!("{:.1} µs processor time a message in this process", self.cpu_us)
    }
}

#[derive(Debug)]
pub struct Stopwatch {
    start: Instant,
    cpu: u64,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self {
            cpu: cpu_so_far(),
            start: Instant::now(),
        }
    }

    pub fn stop(&self, messages: u64) -> Rate {
        let took = self.start.elapsed();
        let cpu = cpu_so_far().saturating_sub(self.cpu);
        Rate {
            per_second: per_second(messages, took),
            cpu_us: cpu as f64 / 1e3 / messages.max(1) as f64,
        }
    }
}

/// Nanoseconds that the threads that are alive have run. Linux only.
fn cpu_so_far() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|told| told.split(' ').next()?.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time() {
        let watch = Stopwatch::start();
        let mut sum = 0_u64;
        for n in 0..3_000_000_u64 {
            sum = sum.wrapping_add(std::hint::black_box(n));
        }
        std::hint::black_box(sum);
        let rate = watch.stop(1);
        assert!(rate.per_second > 0.0 && rate.cpu_us >= 0.0);
    }
}
