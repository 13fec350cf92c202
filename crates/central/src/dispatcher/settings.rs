//! How the dispatcher is run.

use std::time::Duration;

/// How the dispatcher is run.
#[derive(Debug, Clone)]
pub struct DispatchSettings {
    /// How often to look for due rows nobody told about. A new row also wakes the dispatcher at once.
    pub interval: Duration,
    /// The most rows claimed from one lane at a time while other lanes wait for their turn.
    pub batch: usize,
    /// How long a claimed row is ours; sends that take longer are renewed.
    pub lease: Duration,
    /// Attempts that one tenant may have under way at once, over all its lanes, while it is alone. With several tenants
    /// a third more in all, of which nobody gets everything.
    pub permits: usize,
    /// The longest an attempt may take.
    pub attempt_timeout: Duration,
    /// How long a stop waits for sends to end by themselves.
    pub grace: Duration,
}

impl Default for DispatchSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            batch: 100,
            lease: Duration::from_secs(120),
            permits: 2048,
            attempt_timeout: Duration::from_secs(90),
            grace: Duration::from_secs(10),
        }
    }
}

/// A look at all lanes takes at most about a twentieth of the time: nothing is claimed meanwhile. It takes long when the
/// store is slow, or where somebody keeps many rows from being cleaned away.
pub(super) fn next_look(interval: Duration, took: Duration) -> Duration {
    interval.max(took.saturating_mul(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_takes_long_is_made_less_often() {
        let ten = Duration::from_secs(10);
        assert_eq!(next_look(ten, Duration::from_millis(3)), ten);
        assert_eq!(next_look(ten, Duration::from_secs(2)), Duration::from_secs(40));
    }
}
