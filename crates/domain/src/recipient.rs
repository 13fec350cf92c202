//! Who gets a notification, and how far each of them is.

use crate::{Channel, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recipient {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub address: String,
    /// Only messages of this channel go to this entry; none means e-mail.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

impl Recipient {
    pub fn takes(&self, channel: Channel) -> bool {
        self.enabled && self.channel.unwrap_or(Channel::Email) == channel
    }
}

/// How far one recipient of a notification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RecipientState {
    /// Still to be served.
    Open,
    /// Has accepted; is never sent to again.
    Accepted,
    /// Failed for good in its generation; a requeue opens it again.
    Failed,
    /// Asked not to be written to; looked at again with every attempt.
    Suppressed,
    /// Was asked for and nobody knows whether it was taken, where a duplicate costs money; a requeue opens it again.
    Ambiguous,
}

impl RecipientState {
    pub const ALL: [RecipientState; 5] = [
        RecipientState::Open,
        RecipientState::Accepted,
        RecipientState::Failed,
        RecipientState::Suppressed,
        RecipientState::Ambiguous,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            RecipientState::Open => "Open",
            RecipientState::Accepted => "Accepted",
            RecipientState::Failed => "Failed",
            RecipientState::Suppressed => "Suppressed",
            RecipientState::Ambiguous => "Ambiguous",
        }
    }
}

impl FromStr for RecipientState {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| format!("unknown state {text:?}"))
    }
}

/// What is known about one recipient of one notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecipientResult {
    pub address: String,
    pub state: RecipientState,
    pub generation: i32,
    pub provider_message_id: Option<String>,
    pub code: Option<String>,
    /// The far end's own code.
    #[serde(default)]
    pub provider_code: Option<String>,
    pub error: Option<String>,
    pub at: Timestamp,
    /// What the provider told later about the message to this recipient.
    #[serde(default)]
    pub receipt: Option<ReceiptState>,
    /// Who was asked.
    #[serde(default)]
    pub provider: Option<String>,
    /// Tries in its generation.
    #[serde(default)]
    pub tries: u32,
    /// While it is open: not asked for before this.
    #[serde(default)]
    pub not_before: Option<Timestamp>,
}

impl RecipientResult {
    /// Nothing more is done for it: it has it, or it failed for good (or perhaps not at all) in this generation.
    fn is_settled(&self, generation: i32) -> bool {
        match self.state {
            // Who is suppressed is looked at again with every attempt.
            RecipientState::Open | RecipientState::Suppressed => false,
            RecipientState::Accepted => true,
            RecipientState::Failed | RecipientState::Ambiguous => self.generation == generation,
        }
    }
}

/// The targets of the next attempt: the list as it is now, less those who accepted at any time and those who
/// failed for good in this generation. Each address once, in the list's order.
pub fn open_targets(list: Vec<String>, known: &[RecipientResult], generation: i32) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    list.into_iter()
        .filter(|address| {
            !known
                .iter()
                .any(|r| r.address == *address && r.is_settled(generation))
        })
        .filter(|address| seen.insert(address.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(address: &str, state: RecipientState, generation: i32) -> RecipientResult {
        RecipientResult {
            address: address.into(),
            state,
            generation,
            provider_message_id: None,
            code: None,
            provider_code: None,
            error: None,
            at: Timestamp::EPOCH,
            receipt: None,
            provider: None,
            tries: 0,
            not_before: None,
        }
    }

    #[test]
    fn who_accepted_is_never_a_target_again_and_who_failed_only_after_a_requeue() {
        let list = || ["a", "b", "c", "d", "a"].map(String::from).to_vec();
        let known = [
            result("a", RecipientState::Accepted, 0),
            result("b", RecipientState::Failed, 0),
            result("c", RecipientState::Open, 0),
            result("d", RecipientState::Ambiguous, 0),
        ];
        assert_eq!(open_targets(list(), &known, 0), ["c"]);
        assert_eq!(open_targets(list(), &known, 1), ["b", "c", "d"]);
        assert_eq!(open_targets(list(), &[], 0), ["a", "b", "c", "d"]);
    }
}
