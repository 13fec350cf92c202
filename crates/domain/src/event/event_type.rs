//! What a tenant says about events of one name: whom they concern, when they go out, what makes two of them one.

use super::limit;
use crate::{
    Channel, FieldError,
    duration::{LONGEST_DURATION, optional_seconds},
    field_error::FieldChecks,
    schedule::ScheduleRule,
    submission,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// The definition, as it is entered, stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventType {
    /// What the entity is called; the event type up to its first dot if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    /// For each channel the placeholder that holds the address.
    #[serde(default)]
    pub addresses: BTreeMap<Channel, String>,
    /// Without one, what comes is due at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleRule>,
    pub dedupe: Dedupe,
    /// Placeholders that must be there, or the event is Failed.
    #[serde(default)]
    pub required: Vec<String>,
    /// Event types whose pending schedules and waiting messages for the same entity this one ends.
    #[serde(default)]
    pub cancels: Vec<String>,
    /// How long after it was due a message may still go out.
    #[serde(default, with = "optional_seconds", skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Duration>,
    /// A query of the event source, by its name in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<String>,
    /// The placeholder that holds the recipient's language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Goes out even to who asked not to be written to.
    #[serde(default)]
    pub critical: bool,
}

/// What makes two events one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dedupe {
    /// The same event type for the same entity: a booking is confirmed once.
    Entity,
    /// Each event is its own: an alarm may go off again.
    Event,
}

impl EventType {
    /// What happens once for an entity, now, to nobody in particular.
    pub fn new(dedupe: Dedupe) -> Self {
        Self {
            entity_type: None,
            addresses: BTreeMap::new(),
            schedule: None,
            dedupe,
            required: vec![],
            cancels: vec![],
            expires_after: None,
            lookup: None,
            language: None,
            critical: false,
        }
    }

    /// What the entity of its events is called.
    pub fn entity_type<'a>(&'a self, name: &'a str) -> &'a str {
        self.entity_type
            .as_deref()
            .unwrap_or_else(|| super::entity_type(name))
    }

    /// Every field that is wrong, in the API's names.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        let name = submission::limit::NAME;
        bad.text("entityType", self.entity_type.as_deref(), limit::ENTITY);
        bad.text("lookup", self.lookup.as_deref(), name);
        bad.text("language", self.language.as_deref(), name);
        if self
            .entity_type
            .as_deref()
            .is_some_and(|text| text.trim().is_empty())
        {
            bad.push("entityType", "must not be blank");
        }
        for (channel, placeholder) in &self.addresses {
            let field = format!("addresses.{channel}");
            bad.text(&field, Some(placeholder), name);
            if placeholder.trim().is_empty() {
                bad.push(&field, "must be the name of a placeholder, like guest.email");
            }
        }
        for (field, listed) in [("required", &self.required), ("cancels", &self.cancels)] {
            if listed.len() > limit::LISTED {
                bad.push(field, format!("must name at most {}", limit::LISTED));
            }
            for (i, text) in listed.iter().enumerate().take(limit::LISTED) {
                let field = format!("{field}[{i}]");
                bad.text(&field, Some(text), name);
                if text.trim().is_empty() {
                    bad.push(&field, "must not be blank");
                }
            }
        }
        let second = Duration::from_secs(1);
        if self
            .expires_after
            .is_some_and(|t| !(second..=LONGEST_DURATION).contains(&t))
        {
            bad.push("expiresAfter", "must be a duration from 1s to 36600d");
        }
        if let Some(rule) = &self.schedule {
            bad.0.extend(rule.problems());
        }
        bad.0
    }
}

/// Why this cannot be the name of an event type; none if it can.
pub fn name_problem(name: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fine = (1..=limit::EVENT_TYPE).contains(&name.chars().count()) && name.chars().all(plain);
    let longest = limit::EVENT_TYPE;
    (!fine).then(|| format!("must have 1 to {longest} letters, digits, '.', '-' and '_'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_says_at_least_what_makes_two_events_one() {
        assert!(serde_json::from_str::<EventType>("{}").is_err());
        let read: EventType = serde_json::from_str(r#"{"dedupe":"entity"}"#).unwrap();
        assert_eq!(read, EventType::new(Dedupe::Entity));
        assert!(read.problems().is_empty());
        assert_eq!(read.entity_type("booking.confirmed"), "booking");
    }

    #[test]
    fn every_bad_field_of_a_definition_is_named() {
        let bad = EventType {
            entity_type: Some(" ".into()),
            addresses: BTreeMap::from([(Channel::Email, String::new())]),
            required: vec![String::new()],
            expires_after: Some(Duration::ZERO),
            ..EventType::new(Dedupe::Event)
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(
            fields,
            ["entityType", "addresses.Email", "required[0]", "expiresAfter"]
        );
    }

    #[test]
    fn a_name_is_plain() {
        assert_eq!(name_problem("booking.confirmed"), None);
        for bad in ["", "a b", "a/b", &"x".repeat(101)] {
            assert!(name_problem(bad).is_some(), "{bad}");
        }
    }
}
