//! Why the link is down, as far as that has been logged: with several addresses the reasons take turns, and each is said once
//! until the link was up again.

use std::collections::BTreeSet;

/// More are not kept, and not said: a far end may put anything into its words.
const KEPT: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeSet<String>);

impl Reasons {
    /// Whether it is to be said.
    pub(super) fn is_new(&mut self, why: &str) -> bool {
        self.0.len() < KEPT && self.0.insert(why.to_owned())
    }

    /// The link is up: whatever comes next is said.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_take_turns_are_said_once_each_until_the_link_was_up() {
        let mut reasons = Reasons::default();
        let said = |reasons: &mut Reasons| {
            let round = ["a: connection refused", "b: connection refused"];
            round.iter().filter(|why| reasons.is_new(why)).count()
        };
        assert_eq!([said(&mut reasons), said(&mut reasons)], [2, 0]);
        assert!(reasons.is_new("a: no answer in time"), "something else is said");
        reasons.forget();
        assert_eq!(said(&mut reasons), 2);
    }

    #[test]
    fn words_that_are_never_the_same_come_to_an_end() {
        let mut reasons = Reasons::default();
        let said = (0..1_000).filter(|n| reasons.is_new(&n.to_string())).count();
        assert_eq!(said, KEPT);
    }
}
