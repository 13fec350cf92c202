//! What a standby does with a message that it was sent: it passes it on to the active one, and decides by what came of that.
//!
//! Always true: a call or write is never kept here while the active one may have taken it, because the far end may not know a repeat;
//! a notification is kept rather than lost, because central knows a repeat by its id.

/// How passing a message on went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassedOn {
    /// The active one said what became of it.
    Answered,
    /// It certainly has nothing of it.
    NotTaken,
    /// It may have taken it.
    Unknown,
}

/// What the standby does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThenStandby {
    /// Says what the active one said.
    Answers,
    /// Keeps it itself, as a row that the other has never been shown.
    KeepsIt,
    /// Says that it does not know, and under which id to ask or send again.
    SaysUnknown,
}

/// `repeatable`: whoever takes it in the end knows a repeat by its id.
pub fn after_passing_on(passed_on: PassedOn, repeatable: bool) -> ThenStandby {
    match (passed_on, repeatable) {
        (PassedOn::Answered, _) => ThenStandby::Answers,
        (PassedOn::NotTaken, _) | (PassedOn::Unknown, true) => ThenStandby::KeepsIt,
        (PassedOn::Unknown, false) => ThenStandby::SaysUnknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_active_one_may_have_taken_is_kept_only_where_a_repeat_is_known() {
        use {PassedOn::*, ThenStandby::*};
        for (passed_on, repeatable, then) in [
            (Answered, true, Answers),
            (Answered, false, Answers),
            (NotTaken, true, KeepsIt),
            (NotTaken, false, KeepsIt),
            (Unknown, true, KeepsIt),
            (Unknown, false, SaysUnknown),
        ] {
            assert_eq!(
                after_passing_on(passed_on, repeatable),
                then,
                "{passed_on:?} {repeatable}"
            );
        }
    }
}
