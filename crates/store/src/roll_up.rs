//! What one call of [`crate::Stats::roll_up`] does: which counts it condenses, whether it samples the figures, and what
//! it lets go.

use crate::stats::{CHUNK, COMMIT_DELAY, DEPTH, OLDEST, RolledUp, STUCK};
use domain::{Timestamp, kpi::BUCKET};
use std::time::Duration;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
/// Seconds of each step, and how long they are kept.
const KEPT: [(i32, Duration); 3] = [
    (60, Duration::from_secs(2 * 86_400)),
    (900, Duration::from_secs(8 * 86_400)),
    (3600, Duration::from_secs(31 * 86_400)),
];

#[derive(Debug, Clone, Copy)]
pub(crate) struct RollUp {
    now: Timestamp,
    /// What is condensed: whole minutes at the start, whole buckets at the end.
    pub from: Timestamp,
    pub to: Timestamp,
    behind: bool,
    /// Whether this minute's figures are still to be written down.
    pub samples: bool,
}

impl RollUp {
    /// `mark`: up to where counts were condensed; `oldest`: the first count, where nothing was yet.
    pub fn plan(mark: Option<Timestamp>, oldest: Option<Timestamp>, now: Timestamp) -> Self {
        let longest = KEPT[2].1;
        let from = mark.map(|mark| mark - COMMIT_DELAY).or(oldest).unwrap_or(now);
        let from = from.max(now - longest).bucket(MINUTE);
        let to = now
            .bucket(BUCKET)
            .min((from + CHUNK + COMMIT_DELAY).bucket(MINUTE))
            .max(from);
        let behind = to < now.bucket(BUCKET);
        Self {
            now,
            from,
            to,
            behind,
            samples: !behind && mark.is_none_or(|mark| mark.bucket(MINUTE) < to.bucket(MINUTE)),
        }
    }

    /// The steps longer than a minute, each with the minutes it is made of: from, to, seconds.
    pub fn coarse(&self) -> impl Iterator<Item = (Timestamp, Timestamp, i32)> {
        let (from, to) = (self.from, self.to);
        KEPT.into_iter().skip(1).map(move |(step, _)| {
            let start = from.bucket(Duration::from_secs(step.unsigned_abs().into()));
            // Minutes after `to` are of figures that were just sampled.
            (start, to + MINUTE, step)
        })
    }

    /// What goes: seconds of the step, and before when. Nothing while catching up, because coarse steps are made of
    /// minutes that must still be there.
    pub fn outdated(&self) -> impl Iterator<Item = (i32, Timestamp)> {
        let (now, behind) = (self.now, self.behind);
        let before = move |(step, kept)| (step, now - kept);
        KEPT.into_iter().filter(move |_| !behind).map(before)
    }

    pub fn done(&self) -> RolledUp {
        RolledUp {
            up_to: self.to,
            behind: self.behind,
        }
    }
}

/// The mark as it is kept: zero before the first time.
pub(crate) fn mark(millis: i64) -> Option<Timestamp> {
    (millis > 0).then_some(Timestamp::from_millis(millis))
}

/// From when on a chart reads counts that are not condensed. A loop that stands still must not turn this into a walk.
pub(crate) fn uncondensed(mark: Option<Timestamp>, now: Timestamp) -> Timestamp {
    mark.unwrap_or(Timestamp::EPOCH).max(now - CHUNK)
}

/// A tenant's figures of what waits, as they are sampled.
pub(crate) fn sampled(depth: i64, stuck: i64, oldest: Timestamp, now: Timestamp) -> [(&'static str, i64); 3] {
    let age = now.since(oldest).as_secs().cast_signed();
    [(DEPTH, depth), (STUCK, stuck), (OLDEST, age)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn a_long_pause_is_caught_up_in_chunks_and_the_last_minutes_are_condensed_again() {
        let range = |mark, now| {
            let plan = RollUp::plan(mark, None, now);
            (plan.from, plan.to)
        };
        let now = at(1_000_000);
        assert_eq!(range(None, now), (at(999_960), at(1_000_000)));
        let (from, to) = range(Some(at(900_000)), now);
        assert_eq!(from, at(899_820));
        assert!(to > at(903_000) && to < at(904_000), "{to}");
        assert_eq!(
            range(Some(at(1_000_000)), at(1_000_009)),
            (at(999_780), at(1_000_000))
        );
    }

    #[test]
    fn while_catching_up_nothing_is_sampled_and_nothing_goes() {
        let behind = RollUp::plan(Some(at(900_000)), None, at(1_000_000));
        assert!(behind.done().behind && !behind.samples);
        assert_eq!(behind.outdated().count(), 0);
        let level = RollUp::plan(Some(at(999_900)), None, at(1_000_000));
        assert!(!level.done().behind && level.samples);
        assert_eq!(level.outdated().count(), 3);
        let same_minute = RollUp::plan(Some(at(1_000_000)), None, at(1_000_010));
        assert!(!same_minute.samples, "once a minute is enough");
    }
}
