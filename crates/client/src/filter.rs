//! Which notifications, and which audit rows.

use domain::{AuditKind, AuditStatus, Channel, NotificationId, Status, TextFilters, Timestamp};
use serde_json::{Map, Value};

/// Which notifications. What is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    pub status: Vec<Status>,
    pub channel: Option<Channel>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Only those that wait for too long.
    pub stuck: bool,
    /// In the subject.
    pub keyword: Option<String>,
    /// Site, list, provider and others that ask for one text.
    pub by: TextFilters,
}

impl Filter {
    /// Everything that is parked.
    pub fn parked() -> Self {
        Self {
            status: vec![Status::Parked],
            ..Self::default()
        }
    }

    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let status: Vec<_> = self.status.iter().map(|s| s.as_str()).collect();
        let all = [
            ("status", (!status.is_empty()).then(|| status.join(","))),
            ("type", self.channel.map(|c| c.to_string())),
            ("from", self.from.map(|t| t.to_string())),
            ("to", self.to.map(|t| t.to_string())),
            ("stuck", self.stuck.then(|| "true".into())),
            ("q", self.keyword.clone()),
        ];
        let by = self
            .by
            .given()
            .map(|(one, text)| (one.name, Some(text.to_owned())));
        all.into_iter()
            .chain(by)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The same as the body of a bulk action. Central refuses by name what a bulk action cannot go by.
    pub(crate) fn body(&self) -> Map<String, Value> {
        self.pairs()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::String(value)))
            .collect()
    }
}

/// Which audit rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditFilter {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub kind: Option<AuditKind>,
    pub status: Option<AuditStatus>,
    pub actor: Option<String>,
    /// Only attempts that failed and whose notification is tried again, also those that cost no try.
    pub retried: bool,
    /// About this notification.
    pub correlation: Option<NotificationId>,
}

impl AuditFilter {
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("from", self.from.map(|t| t.to_string())),
            ("to", self.to.map(|t| t.to_string())),
            ("kind", self.kind.map(|k| k.to_string())),
            ("status", self.status.map(|s| s.to_string())),
            ("actor", self.actor.clone()),
            ("retried", self.retried.then(|| "true".into())),
            ("correlation", self.correlation.map(|id| id.to_string())),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
