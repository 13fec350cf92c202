//! Which notifications, and which audit rows.

use domain::{AuditKind, AuditStatus, Channel, NotificationId, Status, Timestamp};
use serde_json::{Map, Value};

/// Which notifications. What is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    pub status: Vec<Status>,
    pub channel: Option<Channel>,
    pub site: Option<String>,
    pub list: Option<String>,
    pub provider: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Only those that wait for too long.
    pub stuck: bool,
    /// In the subject.
    pub keyword: Option<String>,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub error_code: Option<String>,
    pub receipt: Option<String>,
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
        let text = |value: &Option<String>| value.clone();
        let all = [
            ("status", (!status.is_empty()).then(|| status.join(","))),
            ("type", self.channel.map(|c| c.to_string())),
            ("site", text(&self.site)),
            ("list", text(&self.list)),
            ("provider", text(&self.provider)),
            ("from", self.from.map(|t| t.to_string())),
            ("to", self.to.map(|t| t.to_string())),
            ("stuck", self.stuck.then(|| "true".into())),
            ("q", text(&self.keyword)),
            ("entityType", text(&self.entity_type)),
            ("entityId", text(&self.entity_id)),
            ("errorCode", text(&self.error_code)),
            ("receipt", text(&self.receipt)),
        ];
        all.into_iter()
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
            ("correlation", self.correlation.map(|id| id.to_string())),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
