//! What came of acting on several waiting messages, in one sentence.

use crate::console::{flash::Flash, show::counted, sites::one::in_words};
use central::sites::{RelayError, WaitingActed, WaitingStatus};
use std::collections::BTreeMap;

/// What came of acting on several.
#[derive(Default)]
pub struct Outcome {
    done: BTreeMap<WaitingStatus, u64>,
    gone: u64,
    not_done: u64,
    /// Asked, and no answer came.
    unknown: u64,
    /// The first error or refusal, for a person to go on from.
    why: Option<String>,
}

impl Outcome {
    pub fn add(&mut self, acted: Result<WaitingActed, RelayError>) {
        let why = match acted {
            Ok(WaitingActed::Done { status, error }) => {
                *self.done.entry(status).or_default() += 1;
                error
            }
            Ok(WaitingActed::NotFound) => {
                self.gone += 1;
                None
            }
            Ok(WaitingActed::WrongState(why)) => {
                self.not_done += 1;
                Some(why)
            }
            Err(error @ RelayError::NoAnswer(_)) => {
                self.unknown += 1;
                Some(in_words(&error))
            }
            Err(error) => {
                self.not_done += 1;
                Some(in_words(&error))
            }
        };
        self.why = self.why.take().or(why);
    }

    pub fn in_words(self) -> Flash {
        let mut parts: Vec<_> = self.done.iter().map(|(status, n)| said(*status, *n)).collect();
        if self.gone > 0 {
            let gone = counted(self.gone, "message that is", "messages that are");
            parts.push(format!("nothing was done about {gone} not there any more"));
        }
        if self.not_done > 0 {
            let messages = counted(self.not_done, "message", "messages");
            parts.push(format!("nothing was done about {messages}"));
        }
        if self.unknown > 0 {
            let messages = counted(self.unknown, "message", "messages");
            parts.push(format!("of {messages} it is not known whether it was done"));
        }
        let mut text = format!("At the site {}", parts.join(", "));
        match self.why {
            Some(why) => text.push_str(&format!(": {why}")),
            None => text.push('.'),
        }
        match self.done.keys().any(|status| is_wanted(*status)) {
            true => Flash::good(text),
            false => Flash::bad(text),
        }
    }
}

/// Whether that is what somebody wanted who had it tried or given up.
fn is_wanted(status: WaitingStatus) -> bool {
    match status {
        WaitingStatus::Delivered
        | WaitingStatus::Forwarding
        | WaitingStatus::Trying
        | WaitingStatus::Discarded => true,
        WaitingStatus::Retrying | WaitingStatus::Parked => false,
    }
}

fn said(status: WaitingStatus, n: u64) -> String {
    let (one, many) = match status {
        WaitingStatus::Delivered => ("message was delivered", "messages were delivered"),
        WaitingStatus::Retrying => ("message waits again", "messages wait again"),
        WaitingStatus::Parked => ("message was parked", "messages were parked"),
        WaitingStatus::Forwarding => (
            "message goes with the next batch",
            "messages go with the next batch",
        ),
        WaitingStatus::Trying => ("message is still being tried", "messages are still being tried"),
        WaitingStatus::Discarded => ("message was discarded", "messages were discarded"),
    };
    counted(n, one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(all: Vec<Result<WaitingActed, RelayError>>) -> Flash {
        let mut outcome = Outcome::default();
        for acted in all {
            outcome.add(acted);
        }
        outcome.in_words()
    }

    fn done(status: WaitingStatus) -> Result<WaitingActed, RelayError> {
        let error = None;
        Ok(WaitingActed::Done { status, error })
    }

    #[test]
    fn what_is_not_known_is_not_said_to_be_undone_and_a_store_that_fails_hides_nothing() {
        let flash = told(vec![
            Err(RelayError::NoAnswer("it left".into())),
            done(WaitingStatus::Delivered),
            Err(RelayError::Store(store::Error::unavailable("no disk"))),
        ]);
        let text = "At the site 1 message was delivered, nothing was done about 1 message, \
             of 1 message it is not known whether it was done: \
             The site did not answer (it left). Try again in a moment.";
        assert_eq!(flash, Flash::good(text));
    }

    #[test]
    fn tries_that_all_failed_are_no_success() {
        assert!(!told(vec![done(WaitingStatus::Retrying), done(WaitingStatus::Parked)]).good);
        assert!(told(vec![done(WaitingStatus::Retrying), done(WaitingStatus::Trying)]).good);
        assert!(told(vec![done(WaitingStatus::Discarded)]).good);
    }
}
