//! Who must not be written to: by whom, over which channel, about what.
//!
//! Leaves to others: where it is asked (`central::dispatcher`, once per claim), storing it (`store`).
//! Always true: an address is compared in one spelling, however it was entered or sent to.

use crate::{Actor, Channel, FieldError, Timestamp, field_error::FieldChecks, submission::limit};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The code of a notification, and of a recipient, that was not sent to because somebody asked for that.
pub const SUPPRESSED: &str = "SUPPRESSED";

/// Who put an entry on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SuppressionSource {
    /// Somebody with a key or at the console.
    Operator,
    /// The recipient, by the link in a message.
    Unsubscribe,
    /// A provider said that the recipient has blocked us or opted out.
    Receipt,
}

impl SuppressionSource {
    pub const ALL: [Self; 3] = [Self::Operator, Self::Unsubscribe, Self::Receipt];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "Operator",
            Self::Unsubscribe => "Unsubscribe",
            Self::Receipt => "Receipt",
        }
    }
}

impl fmt::Display for SuppressionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SuppressionSource {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|source| source.as_str() == text);
        found.ok_or_else(|| format!("unknown source {text:?}"))
    }
}

/// An entry to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSuppression {
    pub address: String,
    /// None: every channel.
    pub channel: Option<Channel>,
    /// None: whatever it is about. Otherwise an event's topic or its type.
    pub topic: Option<String>,
    pub reason: String,
    pub source: SuppressionSource,
}

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    pub id: i64,
    pub entry: NewSuppression,
    pub created_at: Timestamp,
    pub created_by: Actor,
}

impl NewSuppression {
    /// Every field that is wrong, in the API's names.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        if compared(&self.address).is_empty() {
            bad.push("address", "must not be blank");
        }
        bad.text("address", Some(&self.address), limit::ADDRESS);
        if self.topic.as_deref().is_some_and(|topic| topic.trim().is_empty()) {
            bad.push("topic", "must not be blank");
        }
        bad.text("topic", self.topic.as_deref(), limit::NAME);
        bad.text("reason", Some(&self.reason), limit::SUBJECT);
        bad.0
    }

    /// Whether it keeps a message of this channel about these topics from going out.
    pub fn covers(&self, channel: Channel, topics: &[&str]) -> bool {
        let by_channel = self.channel.is_none_or(|of| of == channel);
        let by_topic = self.topic.as_deref().is_none_or(|of| topics.contains(&of));
        by_channel && by_topic
    }

    /// Why, without what it is about.
    pub fn why(&self) -> &str {
        match (self.source, self.reason.trim()) {
            (SuppressionSource::Unsubscribe, "") => "unsubscribed",
            (SuppressionSource::Receipt, "") => "the provider says that the recipient does not want it",
            (SuppressionSource::Operator, "") => "on the list of who must not be written to",
            (_, reason) => reason,
        }
    }

    /// What is said of a recipient for it.
    pub fn in_words(&self) -> String {
        let why = self.why();
        match &self.topic {
            Some(topic) => format!("{why} ({topic})"),
            None => why.to_owned(),
        }
    }
}

/// The spelling that addresses are compared in: mail without regard to case, numbers without their dashes and spaces.
pub fn compared(address: &str) -> String {
    let address = address.trim();
    let is_number = address.starts_with(|c: char| c == '+' || c.is_ascii_digit()) && !address.contains('@');
    match is_number {
        true => {
            let kept = |c: &char| c.is_ascii_alphanumeric() || *c == '+';
            address.chars().filter(kept).collect::<String>().to_lowercase()
        }
        false => address.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(channel: Option<Channel>, topic: Option<&str>) -> NewSuppression {
        NewSuppression {
            address: "ann@example.com".into(),
            channel,
            topic: topic.map(str::to_owned),
            reason: String::new(),
            source: SuppressionSource::Operator,
        }
    }

    #[test]
    fn an_address_is_the_same_in_every_spelling() {
        assert_eq!(compared(" Ann@Example.COM "), compared("ann@example.com"));
        assert_eq!(compared("+91 98765-43210"), compared("+919876543210"));
        assert_ne!(compared("+919876543210"), compared("+919876543211"));
        assert_ne!(compared("ann-b@example.com"), compared("annb@example.com"));
    }

    #[test]
    fn an_entry_covers_what_it_names_and_without_a_name_everything() {
        let topics = ["booking.events", "booking.confirmed"];
        for (entry, covers) in [
            (entry(None, None), true),
            (entry(Some(Channel::Email), None), true),
            (entry(Some(Channel::Sms), None), false),
            (entry(None, Some("booking.confirmed")), true),
            (entry(None, Some("booking.events")), true),
            (entry(None, Some("marketing")), false),
            (entry(Some(Channel::Sms), Some("booking.events")), false),
        ] {
            assert_eq!(entry.covers(Channel::Email, &topics), covers, "{entry:?}");
        }
        assert!(!entry(None, Some("booking.events")).covers(Channel::Email, &[]));
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let bad = NewSuppression {
            address: " ".into(),
            topic: Some(String::new()),
            reason: "x".repeat(1001),
            ..entry(None, None)
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["address", "topic", "reason"]);
    }
}
