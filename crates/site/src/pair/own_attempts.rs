//! From which place on rows are this machine's alone, and the attempts on such rows that are under way without needing the lease.
//!
//! Always true: no row is shown to the other machine while an attempt on it is under way that no lease covers. Such an attempt is let
//! end first, because the far end may have got what is cut off in the middle, and it would be made again.

use std::collections::BTreeSet;
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct OwnAttempts(watch::Sender<Places>);

#[derive(Debug)]
struct Places {
    /// Rows from here on have never been shown: attempts on them begin without the lease.
    own_from: i64,
    /// Attempts on rows from here on may go on without it.
    go_on_from: i64,
    under_way: BTreeSet<i64>,
    /// The other machine is handing rows in: which places they get is known when they are there.
    handing_in: usize,
}

impl Places {
    fn own_from(&self) -> i64 {
        match self.handing_in {
            0 => self.own_from,
            _ => i64::MAX,
        }
    }

    fn is_quiet(&self) -> bool {
        self.under_way.first().is_none_or(|first| *first >= self.own_from)
    }
}

/// An attempt on a row of this machine alone, as long as it is on the network.
#[derive(Debug)]
pub(crate) struct OwnAttempt<'a> {
    of: &'a OwnAttempts,
    seq: i64,
}

impl Drop for OwnAttempt<'_> {
    fn drop(&mut self) {
        self.of.0.send_modify(|places| {
            places.under_way.remove(&self.seq);
        });
    }
}

/// Nothing is this machine's alone until the rows are in.
pub(super) struct HandingIn<'a>(&'a OwnAttempts);

impl Drop for HandingIn<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|places| places.handing_in -= 1);
    }
}

impl OwnAttempts {
    pub fn from(place: i64) -> Self {
        Self(watch::Sender::new(Places {
            own_from: place,
            go_on_from: place,
            under_way: BTreeSet::new(),
            handing_in: 0,
        }))
    }

    /// The first row that is this machine's alone.
    pub fn first(&self) -> i64 {
        self.0.borrow().own_from()
    }

    /// Begins an attempt on this row, if it is one of this machine's alone.
    pub fn begin(&self, seq: i64) -> Option<OwnAttempt<'_>> {
        let own = self.0.send_if_modified(|places| {
            let own = seq >= places.own_from();
            if own {
                places.under_way.insert(seq);
            }
            own
        });
        own.then_some(OwnAttempt { of: self, seq })
    }

    /// Whether an attempt that is under way may go on without the lease.
    pub fn goes_on(&self, seq: i64) -> bool {
        seq >= self.0.borrow().go_on_from
    }

    /// Rows up to here are about to be shown: nothing on them begins any more.
    pub fn show(&self, seq: i64) {
        let next = seq.saturating_add(1);
        self.0.send_if_modified(|places| {
            let more = next > places.own_from;
            places.own_from = places.own_from.max(next);
            more
        });
    }

    /// Completes when no attempt is under way on what is about to be shown.
    pub async fn ended(&self) {
        let _ = self.0.subscribe().wait_for(Places::is_quiet).await;
    }

    /// What is about to be shown needs the lease from here on, also where it is under way.
    pub fn cut(&self) {
        self.0.send_if_modified(|places| {
            let more = places.own_from > places.go_on_from;
            places.go_on_from = places.own_from;
            more
        });
    }

    /// Rows of the other machine are about to be taken in.
    pub fn hand_in(&self) -> HandingIn<'_> {
        self.0.send_modify(|places| places.handing_in += 1);
        HandingIn(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_row_is_shown_when_its_attempt_has_ended() {
        let own = OwnAttempts::from(5);
        let attempt = own.begin(7).unwrap();
        own.show(8);
        assert!(own.ended().now_or_never().is_none());
        assert!(own.goes_on(7), "it is let end");
        drop(attempt);
        assert!(own.ended().now_or_never().is_some());
    }

    #[test]
    fn nothing_begins_on_a_row_that_is_about_to_be_shown_and_what_comes_after_holds_nothing_up() {
        let own = OwnAttempts::from(5);
        own.show(8);
        assert!(own.begin(8).is_none());
        let _later = own.begin(9).unwrap();
        assert!(own.ended().now_or_never().is_some());
    }

    #[test]
    fn an_attempt_that_was_waited_for_in_vain_must_end_and_later_ones_need_not() {
        let own = OwnAttempts::from(5);
        let attempt = own.begin(7).unwrap();
        own.show(8);
        own.cut();
        assert!(!own.goes_on(7) && own.goes_on(9));
        assert!(own.ended().now_or_never().is_none(), "until it has ended");
        drop(attempt);
        assert!(own.ended().now_or_never().is_some());
    }

    #[test]
    fn what_the_other_machine_hands_in_is_never_this_ones_alone() {
        let own = OwnAttempts::from(5);
        let handing_in = own.hand_in();
        assert!(own.begin(5).is_none());
        own.show(5);
        drop(handing_in);
        assert!(own.begin(5).is_none());
        assert!(own.begin(6).is_some());
    }
}
