//! Simulated time as the product's clock.

use domain::{Clock, Timestamp};
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct SimClock;

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        // 2026-01-01T00:00:00Z, and what has gone by in the simulation.
        Timestamp::from_millis(1_767_225_600_000) + turmoil::sim_elapsed().unwrap_or(Duration::ZERO)
    }
}
