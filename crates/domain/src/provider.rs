//! Settings that every provider has, whatever its kind.

use serde::{Deserialize, Serialize};

/// How hard a lane may be driven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Attempts under way at once, over one node.
    #[serde(default = "Limits::default_concurrency")]
    pub concurrency: u32,
    /// Attempts per second over all nodes; none means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
}

impl Limits {
    fn default_concurrency() -> u32 {
        32
    }

    /// What is wrong with the limits, as (key, what it takes).
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut bad = vec![];
        if self.concurrency < 1 {
            bad.push(("limits.concurrency", "must be at least 1"));
        }
        if self.per_second.is_some_and(|n| !n.is_finite() || n <= 0.0) {
            bad.push(("limits.perSecond", "must be above 0, or left out for no limit"));
        }
        bad
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: Self::default_concurrency(),
            per_second: None,
        }
    }
}

/// What to do when the far end may or may not have taken a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnAmbiguous {
    /// Send again: a duplicate is better than a loss.
    #[default]
    Resend,
    /// Park as `AMBIGUOUS` and let a person decide: a duplicate costs money.
    Park,
}
