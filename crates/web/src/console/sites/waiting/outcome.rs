//! What came of acting on several waiting messages, in one sentence.

use crate::console::{failure::Result, flash::Flash, show::counted, sites::one::in_words};
use central::sites::{RelayError, WaitingActed, WaitingStatus};
use std::collections::BTreeMap;

/// What came of acting on several.
#[derive(Default)]
pub struct Outcome {
    done: BTreeMap<WaitingStatus, u64>,
    gone: u64,
    not_done: u64,
    /// The first error or refusal, for a person to go on from.
    why: Option<String>,
}

impl Outcome {
    pub fn add(&mut self, acted: Result<WaitingActed, RelayError>) -> Result<()> {
        let why = match acted {
            Ok(WaitingActed::Done { status, error }) => {
                *self.done.entry(status).or_default() += 1;
                error
            }
            Err(RelayError::Store(error)) => return Err(error.into()),
            Ok(WaitingActed::NotFound) => {
                self.gone += 1;
                None
            }
            Ok(WaitingActed::WrongState(why)) => {
                self.not_done += 1;
                Some(why)
            }
            Err(error) => {
                self.not_done += 1;
                Some(in_words(&error))
            }
        };
        self.why = self.why.take().or(why);
        Ok(())
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
        let mut text = format!("At the site {}", parts.join(", "));
        match self.why {
            Some(why) => text.push_str(&format!(": {why}")),
            None => text.push('.'),
        }
        match self.done.is_empty() {
            false => Flash::good(text),
            true => Flash::bad(text),
        }
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
