//! Where the next look at an outbox begins.
//!
//! There is no high-water mark: a transaction commits minutes after it took its numbers, and what it wrote then stands before what
//! was seen meanwhile. A quick look begins behind the highest place that was seen, which is a hint and nothing more:
//!
//! - The first look of a sweep begins at the place of a second or two ago: ordinary commits out of order are milliseconds apart.
//! - The database tells which transactions were under way when it looked. Once one of them is over, a look begins where the
//!   outbox stood a little before that one was first seen: what it wrote is behind that.
//! - Whatever else is before the place (replayed, restored, written by somebody who knows no transactions) is found by looks
//!   from the start, which come by the clock.
//!
//! Always true: a look that finds more than it takes goes on behind its own last row, until it has come to the place. After a look
//! that failed comes a quick one: where that is answered, it was the other that took too long, which rests before it is tried again.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The place is remembered as it was so long ago, twice as long, and so on.
const STEP: Duration = Duration::from_millis(500);
/// What the first look of a sweep begins at was the place so many steps ago, and up to one more.
const QUICK: usize = 3;
/// A transaction is told of from when a later one is over, and may have taken numbers before: it began at most about so many steps
/// before it was first seen. Where it is more, so little was going on until then that looks from the start were cheap. Only where
/// that changes before the transaction is over, what it wrote may wait for such a look.
const BEFORE_SEEN: usize = 1;

/// From the start: with the pause between two polls it comes at least once a second. Beside a reader that stays it walks over all
/// that was taken since, so it gets a twentieth of the time, and however slow it is, it comes.
const FROM_START: Rest = Rest {
    share: 20,
    shortest: Duration::from_millis(750),
    longest: Duration::from_secs(30),
};

/// For transactions that are over: it walks over what was taken while they were under way. The longest rest is what is left of a
/// second, because somebody waits for what they wrote.
const FURTHER_BACK: Rest = Rest {
    share: 4,
    shortest: Duration::from_millis(100),
    longest: Duration::from_millis(750),
};

/// From the start, where that fails for its time while quick looks are answered: what is new has most of the time.
const TOO_SLOW: Rest = Rest {
    share: 20,
    shortest: Duration::from_millis(750),
    longest: Duration::from_secs(120),
};

/// How long a kind of look rests after one of its kind: so many times as long as that one took, within bounds.
#[derive(Debug)]
struct Rest {
    share: u32,
    shortest: Duration,
    longest: Duration,
}

impl Rest {
    /// When it ends, after a look that the database worked on for so long.
    fn ends(&self, took: Duration, now: Instant) -> Instant {
        let rest = took.saturating_mul(self.share);
        now + rest.clamp(self.shortest, self.longest)
    }
}

/// What is remembered of an outbox from one look to the next. Nothing depends on it but how soon something is seen.
#[derive(Debug)]
pub(super) struct Looks<P> {
    /// The highest place that was seen.
    place: Option<P>,
    /// What it was when this sweep began.
    place_before: Option<P>,
    /// Behind this one a look goes on that found more than it took, and is not yet at the place.
    goes_on: Option<P>,
    /// The place as it was within the last step, the one before that, and so on.
    past: [Option<P>; QUICK + 1],
    step_at: Option<Instant>,
    /// The transactions that were under way at the last look, and where the outbox stood when each was first seen.
    running: HashMap<i64, Option<P>>,
    /// Where a look has to begin that finds what was written by those that are over.
    ended: Option<Option<P>>,
    /// When the rest of each kind ends.
    further_back: Option<Instant>,
    from_start: Option<Instant>,
    failed: Option<Failed<P>>,
}

/// A look that failed, and none was answered since.
#[derive(Debug)]
enum Failed<P> {
    /// One that went back to behind this place, after so long.
    WentBack(Option<P>, Duration),
    /// A quick one: it is the database.
    Quick,
}

/// A look that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look<P> {
    /// Behind this place; none is the start.
    pub after: Option<P>,
    /// It goes over places where the last one was.
    pub goes_back: bool,
}

impl<P> Default for Looks<P> {
    fn default() -> Self {
        Self {
            place: None,
            place_before: None,
            goes_on: None,
            past: [const { None }; QUICK + 1],
            step_at: None,
            running: HashMap::new(),
            ended: None,
            further_back: None,
            from_start: None,
            failed: None,
        }
    }
}

impl<P: Copy + Ord> Looks<P> {
    /// `first` of a sweep: nothing that was found is still being worked on.
    pub fn next(&mut self, now: Instant, first: bool) -> Look<P> {
        if self.step_at.is_none_or(|at| now.duration_since(at) >= STEP) {
            self.step(now);
        }
        let goes_on = self.goes_on.or(self.place);
        let mut after = goes_on;
        if first {
            self.place_before = self.place;
            after = after.min(self.back_then(QUICK));
        }
        if self.failed.is_none() {
            after = after.min(self.goes_back_to(now));
        }
        Look {
            after,
            goes_back: after < goes_on,
        }
    }

    /// Where a look begins for which it is time now, besides the quick ones.
    fn goes_back_to(&self, now: Instant) -> Option<P> {
        // One that is on its way to the place gets there first: where it takes longer than the rest, none would ever.
        let may_begin = self.from_start.is_none() || self.goes_on.is_none();
        if may_begin && is_over(self.from_start, now) {
            return None;
        }
        let ended = self.ended.filter(|_| self.is_due_again(now));
        ended.unwrap_or(self.goes_on.or(self.place))
    }

    /// A transaction is over that was under way for longer than quick looks go back, so that another look is due at once.
    pub fn is_due_again(&self, now: Instant) -> bool {
        self.ended.is_some_and(|place| place < self.back_then(QUICK)) && is_over(self.further_back, now)
    }

    /// The database answered, after having worked on it for so long, while these transactions were under way.
    pub fn answered(&mut self, look: Look<P>, running: &[i64], took: Duration, now: Instant) {
        if let Some(Failed::WentBack(after, waited)) = self.failed.take() {
            self.was_too_slow(after, waited, now);
        }
        if look.after.is_none() {
            self.from_start = Some(FROM_START.ends(took, now));
        }
        if self.ended.is_some_and(|place| look.after <= place) {
            self.ended = None;
            self.further_back = Some(FURTHER_BACK.ends(took, now));
        }
        let first_seen = self.back_then(BEFORE_SEEN);
        let mut before = std::mem::take(&mut self.running);
        for transaction in running {
            let place = before.remove(transaction).unwrap_or(first_seen);
            self.running.insert(*transaction, place);
        }
        // What the others wrote is there for this look, if it began early enough.
        let missed = before.into_values().filter(|place| *place < look.after).min();
        self.ended = self.ended.into_iter().chain(missed).min();
    }

    /// There was no answer, for so long.
    pub fn failed(&mut self, look: Look<P>, waited: Duration) {
        let went_back = look.after < self.back_then(QUICK);
        self.failed = Some(match self.failed.is_none() && went_back {
            true => Failed::WentBack(look.after, waited),
            false => Failed::Quick,
        });
        self.goes_on = None;
    }

    fn was_too_slow(&mut self, after: Option<P>, waited: Duration, now: Instant) {
        let was_for_ended = self.ended == Some(after);
        if was_for_ended {
            // Left to looks from the start, so that what others write late is not kept waiting with it.
            self.ended = None;
            self.further_back = Some(FURTHER_BACK.ends(waited, now));
        }
        if after.is_none() || !was_for_ended {
            self.from_start = Some(TOO_SLOW.ends(waited, now));
        }
    }

    /// What an answer held is being worked on: the newest of what was new, the last of all, and whether there is more.
    pub fn found(&mut self, newest: Option<P>, last: Option<P>, more: bool) {
        self.place = self.place.max(newest);
        self.goes_on = last.filter(|last| more && Some(*last) < self.place);
    }

    /// The next look begins at the start: nobody knows what became of what was found before.
    pub fn start_over(&mut self) {
        self.from_start = None;
    }

    /// What this sweep found is as if it had not been seen: nobody knows what became of it. Quick looks find what was new of it, also
    /// where those from the start are too slow.
    pub fn take_back(&mut self) {
        self.start_over();
        self.goes_on = None;
        self.place = self.place_before;
        for place in &mut self.past {
            *place = (*place).min(self.place_before);
        }
    }

    /// As if seconds had passed.
    #[cfg(test)]
    pub fn pass_seconds(&mut self) {
        for _ in 0..=QUICK {
            self.step(Instant::now());
        }
        self.further_back = None;
    }

    /// No look begins at the start because it is time for one.
    #[cfg(test)]
    pub fn rest_from_start(&mut self) {
        self.from_start = Some(Instant::now() + Duration::from_secs(3600));
    }

    /// As it was so many steps ago. What was not known then is not looked for twice.
    fn back_then(&self, steps: usize) -> Option<P> {
        self.past[steps].or(self.place)
    }

    fn step(&mut self, now: Instant) {
        self.past.rotate_right(1);
        self.past[0] = self.place;
        self.step_at = Some(now);
    }
}

fn is_over(rest: Option<Instant>, now: Instant) -> bool {
    rest.is_none_or(|ends| now >= ends)
}

#[cfg(test)]
#[path = "looks_tests.rs"]
mod tests;
