//! Settings that every provider has, whatever its kind.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How hard a lane may be driven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Attempts under way at once: on each node, or below [`Limits::PER_NODE_FROM`] over all of them.
    #[serde(default = "Limits::default_concurrency")]
    pub concurrency: u32,
    /// Attempts per second over all nodes; none means no limit.
    #[serde(default)]
    pub per_second: Option<f64>,
}

impl Limits {
    /// The most attempts that one provider may have under way on a node.
    pub const CONCURRENCY_CEILING: u32 = 1024;
    /// More a second than any far end takes.
    const PER_SECOND_CEILING: f64 = 1e6;

    /// A concurrency from here on is what one node does; a smaller one is what the far end takes, whoever asks.
    pub const PER_NODE_FROM: u32 = 16;

    fn default_concurrency() -> u32 {
        32
    }

    /// Whether they hold over all nodes together: a rate does, and a small concurrency. Such a lane has one owner at a time.
    pub fn are_over_all_nodes(&self) -> bool {
        self.per_second.is_some() || self.concurrency < Self::PER_NODE_FROM
    }

    /// What is wrong with the limits, as (key, what it takes).
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut bad = vec![];
        if self.concurrency < 1 {
            bad.push(("limits.concurrency", "must be at least 1"));
        }
        if self.concurrency > Self::CONCURRENCY_CEILING {
            bad.push(("limits.concurrency", "must be at most 1024"));
        }
        let sound = |n: f64| n > 0.0 && n <= Self::PER_SECOND_CEILING;
        if self.per_second.is_some_and(|n| !sound(n)) {
            bad.push((
                "limits.perSecond",
                "must be above 0 and at most 1000000, or null for no limit",
            ));
        }
        bad
    }

    /// The nearest limits that can be followed, for a row that got past the checks where it was entered.
    pub fn clamped(&self) -> Self {
        Self {
            concurrency: self.concurrency.clamp(1, Self::CONCURRENCY_CEILING),
            per_second: self
                .per_second
                .filter(|n| *n > 0.0)
                .map(|n| n.min(Self::PER_SECOND_CEILING)),
        }
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

impl OnAmbiguous {
    pub fn as_str(self) -> &'static str {
        match self {
            OnAmbiguous::Resend => "resend",
            OnAmbiguous::Park => "park",
        }
    }
}

impl FromStr for OnAmbiguous {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [OnAmbiguous::Resend, OnAmbiguous::Park]
            .into_iter()
            .find(|on| on.as_str() == text)
            .ok_or_else(|| format!("unknown on_ambiguous {text:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_beyond_all_measure_are_named_and_not_followed() {
        for (concurrency, per_second, followed) in [
            (u32::MAX, Some(f64::INFINITY), (1024, Some(1e6))),
            (0, Some(-1.0), (1, None)),
            (1025, Some(f64::NAN), (1024, None)),
        ] {
            let limits = Limits {
                concurrency,
                per_second,
            };
            let keys: Vec<_> = limits.problems().into_iter().map(|(key, _)| key).collect();
            assert_eq!(keys, ["limits.concurrency", "limits.perSecond"]);
            let clamped = limits.clamped();
            assert_eq!((clamped.concurrency, clamped.per_second), followed);
            assert!(clamped.problems().is_empty());
        }
        assert!(Limits::default().problems().is_empty());
    }
}
