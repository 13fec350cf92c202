//! Who one attempt is for, and what became of each of them so far.

use super::{address::Mailbox, transaction::TransactionResult};
use crate::{adapter::Message, kit::conclude};
use domain::{Accepted, Failure, Outcome, RecipientReport, Scope, code};

/// The recipients of one attempt and what became of them so far.
pub(super) struct Recipients {
    recipients: Vec<Target>,
}

struct Target {
    /// As the message names it; reports use the same.
    address: String,
    mailbox: Option<Mailbox>,
    result: Option<Result<Accepted, Failure>>,
}

impl Recipients {
    pub fn new(message: &Message) -> Self {
        let target = |address: &String| {
            let mailbox = Mailbox::parse(address).filter(|m| m.name.is_none());
            let not_an_address = || {
                Failure::permanent(Scope::Recipient, code::RECIPIENT, "not an e-mail address")
                    .with_own_code("BAD_ADDRESS")
                    .of_our_making()
            };
            Target {
                address: address.clone(),
                result: mailbox.is_none().then(|| Err(not_an_address())),
                mailbox,
            }
        };
        Self {
            recipients: message.targets.iter().map(target).collect(),
        }
    }

    pub fn has_open(&self) -> bool {
        self.recipients.iter().any(|t| t.result.is_none())
    }

    /// Places of the recipients without a result.
    pub fn open(&self) -> Vec<usize> {
        let places = self.recipients.iter().enumerate();
        places
            .filter(|(_, t)| t.result.is_none())
            .map(|(i, _)| i)
            .collect()
    }

    pub fn mailboxes(&self, places: &[usize]) -> Vec<&Mailbox> {
        places
            .iter()
            .filter_map(|i| self.recipients[*i].mailbox.as_ref())
            .collect()
    }

    pub fn refuse_utf8_unless(&mut self, offered: bool) {
        let open = self.recipients.iter_mut().filter(|t| t.result.is_none());
        for target in open.filter(|t| !offered && t.mailbox.as_ref().is_some_and(Mailbox::needs_utf8)) {
            let words = "the server takes no addresses beyond ASCII";
            let refused = Failure::permanent(Scope::Recipient, code::RECIPIENT, words);
            target.result = Some(Err(refused.with_own_code("SMTPUTF8_NOT_OFFERED")));
        }
    }

    pub fn take(&mut self, places: &[usize], transacted: TransactionResult) {
        for (place, result) in places.iter().zip(transacted.results) {
            self.recipients[*place].result = result;
        }
    }

    pub fn fail_open(&mut self, failure: &Failure) {
        for target in self.recipients.iter_mut().filter(|t| t.result.is_none()) {
            target.result = Some(Err(failure.clone()));
        }
    }

    pub fn conclude(self) -> Outcome {
        let unanswered = || {
            Failure::transient(Scope::Lane, code::NETWORK, "the conversation ended early")
                .with_own_code("CONNECTION_LOST")
        };
        let reports: Vec<_> = self
            .recipients
            .into_iter()
            .map(|t| RecipientReport {
                address: t.address,
                result: t.result.unwrap_or_else(|| Err(unanswered())),
            })
            .collect();
        conclude(reports)
    }
}
