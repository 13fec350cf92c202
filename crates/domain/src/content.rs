//! What a notification says, to whom and when: written once by its sender, carried from script to far end.
//!
//! Leaves to others: who sent it and from where ([`crate::submission`]), columns (`store`), bytes on the wire (`link`).
//! Always true: a field of the content stands in this struct and in no other; who carries content carries this.

use crate::{
    Channel, EventOrigin, FieldError, ProviderId, Timestamp, field_error::FieldChecks, submission::limit,
};
use sha2::{Digest, Sha256};

/// The part of a notification that its sender writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Content {
    /// None until somebody says so: the sender, or at ingest the provider that was asked for.
    pub channel: Option<Channel>,
    /// Whom the sender asked for by name; otherwise the tenant's first provider of the channel takes it.
    pub provider: Option<ProviderId>,
    pub target: Target,
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    /// Fields that only some channels know, as JSON text.
    pub type_data: Option<String>,
    /// What it is about: a booking, an order.
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    /// The rule that asked for it, and the run of that rule.
    pub rule_name: Option<String>,
    pub rule_id: Option<String>,
    pub run_id: Option<String>,
    /// A waiting notification of the same tenant with this supersede key is replaced by this one.
    pub supersedes_key: Option<String>,
    /// Not before.
    pub send_at: Option<Timestamp>,
    /// Not after: still undelivered then, it is parked as `EXPIRED`.
    pub expires_at: Option<Timestamp>,
    /// The event and the template it was made from; never said by a sender.
    pub event: Option<Box<EventOrigin>>,
}

/// Calls `carry! { [names of the short texts' fields] }`, for those who carry each of them along as it is and need to know
/// no more about it. New ones go to the end: a site tells a resend from another message by the order it has written.
#[macro_export]
macro_rules! short_texts {
    ($carry:ident) => {
        $carry! { [entity_type entity_id rule_name rule_id run_id supersedes_key] }
    };
}

/// Where it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Target {
    /// The list's members at the time of delivery.
    List(String),
    Recipients(Vec<String>),
    /// The provider's settings say where.
    #[default]
    Provider,
}

impl Target {
    /// From its two columns, fields or members, of which at most one is there.
    pub fn of(list: Option<String>, recipients: Option<Vec<String>>) -> Self {
        match (list, recipients) {
            (Some(name), _) => Self::List(name),
            (None, Some(to)) => Self::Recipients(to),
            (None, None) => Self::Provider,
        }
    }

    /// Back into the two.
    pub fn split(self) -> (Option<String>, Option<Vec<String>>) {
        match self {
            Self::List(name) => (Some(name), None),
            Self::Recipients(to) => (None, Some(to)),
            Self::Provider => (None, None),
        }
    }
}

/// A short text that is kept with a notification and shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortText {
    /// In the API.
    pub name: &'static str,
    /// For people; none where something else is shown that says it.
    pub label: Option<&'static str>,
    /// In characters.
    pub longest: usize,
}

const fn short(name: &'static str, label: Option<&'static str>, longest: usize) -> ShortText {
    ShortText { name, label, longest }
}

/// Something content is read from, field by field, by the names of the API: the JSON of a request. It tells by itself
/// what is wrong with a field's form; [`Content::problems`] tells the rest.
pub trait ContentSource {
    fn text(&mut self, name: &'static str) -> Option<String>;
    /// A text that must be there.
    fn needed_text(&mut self, name: &'static str) -> String;
    fn time(&mut self, name: &'static str) -> Option<Timestamp>;
    /// Any JSON, as text.
    fn json(&mut self, name: &'static str) -> Option<String>;
}

impl Content {
    /// Everything but the channel and the target, which each edge asks for in its own way.
    pub fn read(from: &mut impl ContentSource, channel: Option<Channel>, target: Target) -> Self {
        Self {
            channel,
            target,
            provider: from.text("providerId").map(ProviderId::new),
            subject: from.text("subject").unwrap_or_default(),
            body: from.needed_text("body"),
            body_html: from.text("bodyHtml"),
            type_data: from.json("typeData"),
            entity_type: from.text("entityType"),
            entity_id: from.text("entityId"),
            rule_name: from.text("ruleName"),
            rule_id: from.text("ruleId"),
            run_id: from.text("runId"),
            supersedes_key: from.text("supersedesKey"),
            send_at: from.time("sendAt"),
            expires_at: from.time("expiresAt"),
            event: None,
        }
    }

    /// E-mail, unless somebody has said otherwise.
    pub fn channel(&self) -> Channel {
        self.channel.unwrap_or(Channel::Email)
    }

    /// The short texts and what each of them says here.
    pub fn short_texts(&self) -> [(ShortText, Option<&str>); 6] {
        [
            (
                short("entityType", None, limit::NAME),
                self.entity_type.as_deref(),
            ),
            (short("entityId", None, limit::NAME), self.entity_id.as_deref()),
            (
                short("ruleName", Some("Rule"), limit::NAME),
                self.rule_name.as_deref(),
            ),
            (
                short("ruleId", Some("Rule's id"), limit::NAME),
                self.rule_id.as_deref(),
            ),
            (short("runId", Some("Run"), limit::NAME), self.run_id.as_deref()),
            (
                short("supersedesKey", Some("Supersedes by"), limit::KEY),
                self.supersedes_key.as_deref(),
            ),
        ]
    }

    /// Every field that is wrong, in the API's names. Empty means it can be stored.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        bad.text("subject", Some(&self.subject), limit::SUBJECT);
        bad.bytes("body", Some(&self.body), limit::BODY);
        bad.bytes("bodyHtml", self.body_html.as_deref(), limit::BODY);
        bad.bytes("typeData", self.type_data.as_deref(), limit::TYPE_DATA);
        for (text, value) in self.short_texts() {
            bad.text(text.name, value, text.longest);
        }
        bad.0.extend(self.provider_problem());
        match &self.target {
            Target::List(name) => {
                bad.text("listName", Some(name), limit::LIST_NAME);
                if name.trim().is_empty() {
                    bad.push("listName", "must not be blank");
                }
            }
            Target::Recipients(to) => recipients(&mut bad, to),
            Target::Provider if self.channel().needs_recipients() => {
                bad.push(
                    "listName",
                    "a list name or recipients in `to` are needed for this type",
                );
            }
            Target::Provider => {}
        }
        if let (Some(send), Some(expire)) = (self.send_at, self.expires_at)
            && expire <= send
        {
            bad.push("expiresAt", "must be after sendAt");
        }
        bad.0
    }

    /// What is wrong with the id of the provider, which is looked up before the rest can be judged.
    pub fn provider_problem(&self) -> Option<FieldError> {
        let mut bad = FieldChecks::default();
        let id = self.provider.as_ref().map(ProviderId::as_str);
        bad.text("providerId", id, limit::NAME);
        bad.0.pop()
    }

    /// Same content, same hash: tells a harmless resend from an id used twice for different things.
    ///
    /// It is stored with every row. What goes into it never changes, or an old row and its resend would differ: a field
    /// that is added later stays out.
    pub fn content_hash(&self) -> i64 {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(self.channel().as_str());
        part(self.provider.as_ref().map_or("", |p| p.as_str()));
        match &self.target {
            Target::List(name) => part(name),
            Target::Recipients(to) => to.iter().for_each(|address| part(address)),
            Target::Provider => part(""),
        }
        part(&self.subject);
        part(&self.body);
        part(self.type_data.as_deref().unwrap_or(""));
        let mut first = [0u8; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        i64::from_be_bytes(first)
    }

    /// About how many bytes it holds, whom it goes to apart.
    pub fn weight(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let short: usize = self
            .short_texts()
            .iter()
            .map(|(_, text)| text.map_or(0, str::len))
            .sum();
        self.subject.len() + self.body.len() + optional(&self.type_data) + optional(&self.body_html) + short
    }
}

fn recipients(bad: &mut FieldChecks, to: &[String]) {
    if to.is_empty() {
        bad.push("to", "must name at least one recipient");
    }
    if to.len() > limit::RECIPIENTS {
        bad.push(
            "to",
            format!("must name at most {} recipients", limit::RECIPIENTS),
        );
    }
    for (i, address) in to.iter().enumerate().take(limit::RECIPIENTS) {
        let field = format!("to[{i}]");
        if address.trim().is_empty() {
            bad.push(&field, "must not be blank");
        }
        bad.text(&field, Some(address), limit::ADDRESS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> Content {
        Content {
            target: Target::List("ops".into()),
            subject: "s".into(),
            body: "b".into(),
            ..Content::default()
        }
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let bad = Content {
            subject: "x".repeat(limit::SUBJECT + 1),
            body: "nul\0".into(),
            run_id: Some("x".repeat(limit::NAME + 1)),
            target: Target::Recipients(vec!["ok@example.com".into(), " ".into()]),
            ..content()
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["subject", "body", "runId", "to[1]"]);
        assert!(content().problems().is_empty());
    }

    #[test]
    fn email_without_anybody_to_go_to_is_refused() {
        let bad = Content {
            target: Target::Provider,
            ..content()
        };
        assert_eq!(bad.problems()[0].field, "listName");
        let fine = Content {
            channel: Some(Channel::Webhook),
            ..bad
        };
        assert!(fine.problems().is_empty());
    }

    #[test]
    fn the_content_hash_of_a_row_stored_by_any_version_stays_what_it_was() {
        let full = Content {
            channel: Some(Channel::Sms),
            provider: Some(ProviderId::new("modem")),
            target: Target::Recipients(vec!["+491511234567".into(), "+491511234568".into()]),
            type_data: Some(r#"{"a":1}"#.into()),
            ..content()
        };
        let by_settings = Content {
            channel: Some(Channel::Webhook),
            target: Target::Provider,
            ..content()
        };
        let hashes = [content(), full, by_settings].map(|c| c.content_hash());
        assert_eq!(
            hashes,
            [
                1_498_992_484_266_635_858,
                -4_172_199_054_123_006_400,
                8_421_887_223_784_160_182
            ]
        );
    }

    #[test]
    fn the_content_hash_tells_content_apart_and_leaves_out_what_came_later() {
        let other = Content {
            body: "c".into(),
            ..content()
        };
        assert_ne!(content().content_hash(), other.content_hash());
        let later = Content {
            channel: Some(Channel::Email),
            body_html: Some("<p>b</p>".into()),
            entity_id: Some("4711".into()),
            expires_at: Some(Timestamp::from_millis(1)),
            ..content()
        };
        assert_eq!(content().content_hash(), later.content_hash());
    }
}
