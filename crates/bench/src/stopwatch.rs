//! How fast, and at what price: messages per second, and this process's processor time for each.

use crate::limits::per_second;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What a run of messages came to.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    /// Of all threads of this process, in microseconds a message; other load on the machine hardly changes it.
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
    cpu: Duration,
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
            cpu_us: cpu.as_secs_f64() * 1e6 / messages.max(1) as f64,
        }
    }
}

/// How long all threads of this process have run, also those that have ended.
fn cpu_so_far() -> Duration {
    let told = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(told).unwrap_or_default()
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
        assert!(rate.per_second > 0.0 && rate.cpu_us > 0.0);
    }

    #[test]
    fn work_of_a_thread_that_has_ended_counts() {
        let watch = Stopwatch::start();
        let work = || {
            let mut sum = 0_u64;
            for n in 0..30_000_000_u64 {
                sum = sum.wrapping_add(std::hint::black_box(n));
            }
            std::hint::black_box(sum)
        };
        std::thread::spawn(work).join().unwrap();
        assert!(watch.stop(1).cpu_us > 1_000.0);
    }
}
