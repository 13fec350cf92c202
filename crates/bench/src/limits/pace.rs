//! A steady trickle of messages, and how long each took.

use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

/// How long things took, in no order.
#[derive(Debug, Clone, Default)]
pub struct Latencies(pub Vec<Duration>);

impl Latencies {
    /// In milliseconds.
    pub fn percentile(&self, share: f64) -> f64 {
        let mut millis: Vec<f64> = self.0.iter().map(|d| d.as_secs_f64() * 1e3).collect();
        percentile(&mut millis, share)
    }
}

/// The value below which this share of the values lies. NaN of nothing.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = (values.len() as f64 * share) as usize;
    values.get(at.min(last)).copied().unwrap_or(f64::NAN)
}

/// Twenty moments a second.
#[derive(Debug)]
pub(super) struct Pace(tokio::time::Interval);

impl Pace {
    pub fn new() -> Self {
        let mut every = tokio::time::interval(Duration::from_millis(50));
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(every)
    }

    pub async fn next(&mut self) -> Instant {
        self.0.tick().await;
        Instant::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_the_sorted_values() {
        let mut values = vec![5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(percentile(&mut values, 0.5), 3.0);
        assert_eq!(percentile(&mut values, 0.99), 5.0);
        assert!(percentile(&mut [], 0.5).is_nan());
    }
}
