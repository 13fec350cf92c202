//! One figure of one round, its limit, and what it has to reach.

use super::stopwatch::Rate;

/// A measured figure.
#[derive(Debug, Clone)]
pub struct Reading {
    pub figure: String,
    pub unit: Unit,
    pub value: f64,
    pub limit: Option<Limit>,
    pub target: Target,
    pub note: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Limit {
    /// What was measured beside it.
    pub name: String,
    pub value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    PerSecond,
    Millis,
    MiB,
}

/// What a figure has to reach. Of the limit means: of the one measured in the same round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// At least this share of the limit.
    Share(f64),
    /// At least `times` the best peer, which on the machine of the comparison reached `peer` of the limit.
    Peers {
        times: f64,
        peer: f64,
    },
    /// At most so many times the limit (where less is better).
    Times(f64),
    /// At most this, whatever the limit.
    AtMost(f64),
    None,
}

impl Target {
    /// Whether a ratio to the limit, or the value itself, is good enough.
    pub fn met(self, value: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Target::Share(share) => ratio.map(|r| r >= share),
            Target::Peers { times, peer } => ratio.map(|r| r >= times * peer),
            Target::Times(times) => ratio.map(|r| r <= times),
            Target::AtMost(most) => Some(value <= most),
            Target::None => None,
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Share(share) => write!(f, "≥ {share:.2}"),
            Target::Peers { times, peer } => write!(f, "≥ {:.2} ({times:.0} × best peer)", times * peer),
            Target::Times(times) => write!(f, "≤ {times:.2}"),
            Target::AtMost(most) => write!(f, "≤ {most}"),
            Target::None => f.write_str(""),
        }
    }
}

impl Reading {
    pub fn rate(figure: impl Into<String>, value: f64) -> Self {
        Self::new(figure, Unit::PerSecond, value)
    }

    /// A rate with its price.
    pub fn of(figure: impl Into<String>, rate: Rate) -> Self {
        Self::rate(figure, rate.per_second).note(rate.note())
    }

    pub fn millis(figure: impl Into<String>, value: f64) -> Self {
        Self::new(figure, Unit::Millis, value)
    }

    pub fn new(figure: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self {
            figure: figure.into(),
            unit,
            value,
            limit: None,
            target: Target::None,
            note: None,
        }
    }

    pub fn beside(mut self, name: impl Into<String>, value: f64) -> Self {
        self.limit = Some(Limit {
            name: name.into(),
            value,
        });
        self
    }

    pub fn aiming(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub fn ratio(&self) -> Option<f64> {
        self.limit.as_ref().map(|limit| self.value / limit.value)
    }
}

impl Unit {
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::PerSecond => format!("{}/s", thousands(value)),
            Unit::Millis => format!("{value:.2} ms"),
            Unit::MiB => format!("{value:.0} MiB"),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Unit::PerSecond => "/s",
            Unit::Millis => "ms",
            Unit::MiB => "MiB",
        }
    }
}

/// `12,345`.
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_met_by_the_ratio_or_by_the_value() {
        assert_eq!(Target::Share(0.8).met(1.0, Some(0.8)), Some(true));
        assert_eq!(
            Target::Peers {
                times: 2.0,
                peer: 0.3
            }
            .met(1.0, Some(0.5)),
            Some(false)
        );
        assert_eq!(Target::Times(1.5).met(1.0, Some(1.6)), Some(false));
        assert_eq!(Target::AtMost(150.0).met(149.0, None), Some(true));
        assert_eq!(Target::Share(0.8).met(1.0, None), None);
    }

    #[test]
    fn rates_are_grouped_by_thousands() {
        assert_eq!(Unit::PerSecond.show(1_234_567.4), "1,234,567/s");
        assert_eq!(Unit::PerSecond.show(999.0), "999/s");
    }
}
