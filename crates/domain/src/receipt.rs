//! What a provider tells later about a message it took, and what follows from that for one recipient.
//!
//! Leaves to others: who may say so (`delivery`), which row it is about and writing it down (`store`).
//! Always true: better news is never taken back by worse, in whatever order they come; nothing is sent again because of a
//! receipt.

use crate::{HoldReason, NotificationId, RecipientResult, RecipientState, Status};
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, fmt, str::FromStr};

/// News of one message to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// What we gave the far end to repeat.
    pub correlation: Option<Correlation>,
    /// The far end's own id of the message.
    pub provider_message_id: Option<String>,
    /// Whom it went to, as the far end writes it. Only ever compared: nothing is found by it.
    pub recipient: Option<String>,
    pub state: ReceiptState,
    /// Of a failure: our code for it, the far end's own, and its words.
    pub code: Option<String>,
    pub provider_code: Option<String>,
    pub detail: Option<String>,
    /// The failure would meet every other message too.
    pub hold: Option<HoldReason>,
    /// Nobody signed it: the far end is asked before it is believed.
    pub unproven: bool,
}

impl Receipt {
    pub fn new(state: ReceiptState) -> Self {
        Self {
            correlation: None,
            provider_message_id: None,
            recipient: None,
            state,
            code: None,
            provider_code: None,
            detail: None,
            hold: None,
            unproven: false,
        }
    }
}

/// In this order: a later one is better news and is not taken back by an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptState {
    /// The provider has it.
    Accepted,
    /// The provider could not deliver it after all.
    Failed,
    /// It is on the recipient's device.
    Delivered,
    /// The recipient has looked at it, or acknowledged it.
    Read,
}

impl ReceiptState {
    pub const ALL: [ReceiptState; 4] = [
        ReceiptState::Accepted,
        ReceiptState::Failed,
        ReceiptState::Delivered,
        ReceiptState::Read,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ReceiptState::Accepted => "accepted",
            ReceiptState::Failed => "failed",
            ReceiptState::Delivered => "delivered",
            ReceiptState::Read => "read",
        }
    }
}

impl fmt::Display for ReceiptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReceiptState {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        known.ok_or_else(|| format!("unknown receipt {text:?}"))
    }
}

/// What a service is given to repeat with its receipts: `id.generation.recipient`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correlation {
    pub id: NotificationId,
    pub generation: i32,
    /// None where the settings alone say where it goes.
    pub recipient: Option<String>,
}

impl fmt::Display for Correlation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.id, self.generation)?;
        match &self.recipient {
            Some(recipient) => write!(f, ".{recipient}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of our references")]
pub struct NotOurs;

impl FromStr for Correlation {
    type Err = NotOurs;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '.');
        let (id, generation) = (parts.next().ok_or(NotOurs)?, parts.next().ok_or(NotOurs)?);
        let generation: i32 = generation.parse().map_err(|_| NotOurs)?;
        if generation < 0 {
            return Err(NotOurs);
        }
        Ok(Self {
            id: id.parse().map_err(|_| NotOurs)?,
            generation,
            recipient: parts.next().map(str::to_owned),
        })
    }
}

/// Where a notification stands when a receipt for it is worked on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing<'a> {
    pub place: Place,
    pub generation: i32,
    /// What is known of the recipient, where results are kept one by one.
    pub recipient: Option<&'a RecipientResult>,
    /// What is known of the notification as a whole.
    pub overall: Option<ReceiptState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `leased`: somebody is sending it just now.
    Waiting {
        leased: bool,
    },
    Ended(Status),
}

/// What a receipt comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that is not known already, or better known.
    Nothing,
    /// A line in the log and no more.
    Tell,
    /// The attempt that is under way is recorded first.
    Later,
    /// Kept and shown; the notification stays what it is.
    Note(ReceiptState),
    /// The recipient has it. `then_later`: the rest once the attempt that is under way is recorded.
    Has { state: ReceiptState, then_later: bool },
    /// The recipient does not have it after all.
    Failed,
}

impl Standing<'_> {
    /// What a receipt about a message of this generation comes to.
    pub fn effect(&self, generation: i32, state: ReceiptState) -> Effect {
        match (generation.cmp(&self.generation), state) {
            // Nothing was sent under a generation that has not begun.
            (Ordering::Greater, _) => Effect::Nothing,
            (Ordering::Less, ReceiptState::Failed) => Effect::Tell,
            (Ordering::Less, state) if self.has_it_since(generation) => self.proof(state),
            // Whoever sent it again knew that the service had taken it: better twice than never.
            (Ordering::Less, ReceiptState::Accepted) => Effect::Nothing,
            (Ordering::Less, _) => self.proof(ReceiptState::Accepted),
            (Ordering::Equal, ReceiptState::Failed) => self.failure(),
            (Ordering::Equal, state) => self.proof(state),
        }
    }

    /// Whether the recipient is one who took it in this earlier generation, and was not sent to again since.
    fn has_it_since(&self, generation: i32) -> bool {
        self.recipient
            .is_some_and(|r| r.generation == generation && has_it(r))
    }

    fn known(&self) -> Option<ReceiptState> {
        match self.recipient {
            Some(recipient) => recipient.receipt,
            None => self.overall,
        }
    }

    fn proof(&self, state: ReceiptState) -> Effect {
        let known = self.known();
        let better = known.is_none_or(|known| known < state);
        if !better && known == Some(ReceiptState::Failed) {
            return Effect::Nothing;
        }
        let has = |then_later| Effect::Has {
            state: known.map_or(state, |known| known.max(state)),
            then_later,
        };
        match self.place {
            Place::Ended(Status::Discarded) if better => Effect::Note(state),
            Place::Ended(Status::Discarded | Status::Delivered) if !better => Effect::Nothing,
            Place::Ended(_) => has(false),
            Place::Waiting { leased } => has(leased),
        }
    }

    fn failure(&self) -> Effect {
        if self.known().is_some_and(|known| known >= ReceiptState::Failed) {
            return Effect::Nothing;
        }
        match self.place {
            Place::Ended(Status::Discarded) => Effect::Note(ReceiptState::Failed),
            Place::Ended(_) => Effect::Failed,
            Place::Waiting { leased: true } => Effect::Later,
            Place::Waiting { leased: false } if self.recipient.is_some_and(has_it) => Effect::Failed,
            // It is tried again anyway.
            Place::Waiting { leased: false } => Effect::Tell,
        }
    }
}

fn has_it(recipient: &RecipientResult) -> bool {
    recipient.state == RecipientState::Accepted
}

/// What is said about a notification with several recipients: that one of them does not have it, or else the least that is
/// true of all who took it.
pub fn overall<'a>(recipients: impl IntoIterator<Item = &'a RecipientResult>) -> Option<ReceiptState> {
    let told: Vec<_> = recipients.into_iter().collect();
    if told.iter().any(|r| r.receipt == Some(ReceiptState::Failed)) {
        return Some(ReceiptState::Failed);
    }
    let of_those_who_took_it = told.iter().filter(|r| has_it(r));
    let least = of_those_who_took_it.map(|r| r.receipt.unwrap_or(ReceiptState::Accepted));
    let least = least.min();
    least.filter(|_| told.iter().any(|r| r.receipt.is_some()))
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
