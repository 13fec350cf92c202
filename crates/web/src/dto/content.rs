//! What senders write, as it is handed in and as it is shown again: the same fields, described once.
//!
//! Reading them from a request is `domain`'s ([`domain::Content::read`]), like every rule about them.

use super::names::Time;
use crate::fields::Fields;
use domain::{Content, ExecutionId, Timestamp, submission::Provenance};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Whom it is for, what it is about, and when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heading {
    /// Who gets it: the members of this list at the time of delivery.
    #[schema(max_length = 200)]
    pub list_name: Option<String>,
    /// Who gets it, by address; each up to 512 characters.
    #[schema(max_items = 1000)]
    pub to: Option<Vec<String>>,
    /// The provider the sender asked for.
    #[schema(max_length = 255)]
    pub provider_id: Option<String>,
    /// In a request also `title`.
    #[schema(max_length = 1000)]
    pub subject: Option<String>,
    #[schema(max_length = 255)]
    pub entity_type: Option<String>,
    #[schema(max_length = 255)]
    pub entity_id: Option<String>,
    #[schema(max_length = 255)]
    pub rule_name: Option<String>,
    #[schema(max_length = 255)]
    pub rule_id: Option<String>,
    #[schema(max_length = 255)]
    pub run_id: Option<String>,
    /// A waiting notification with the same key is discarded in favour of this one.
    #[schema(max_length = 255)]
    pub supersedes_key: Option<String>,
    /// Not before.
    #[schema(value_type = Option<Time>)]
    pub send_at: Option<Timestamp>,
    /// Not after: still undelivered then, it is parked as `EXPIRED`.
    #[schema(value_type = Option<Time>)]
    pub expires_at: Option<Timestamp>,
}

/// What it says.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// Plain text, up to 1 MiB. In a request also `message`.
    pub body: String,
    /// Up to 1 MiB.
    pub body_html: Option<String>,
    /// Fields that only some types know, up to 256 KiB. In a request also `data`.
    pub type_data: Option<Value>,
}

/// Where it came from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    #[schema(max_length = 255)]
    pub source_site_id: Option<String>,
    #[schema(max_length = 255)]
    pub source_instance_id: Option<String>,
    #[schema(max_length = 255)]
    pub source_script: Option<String>,
    #[schema(max_length = 255)]
    pub origin_execution_id: Option<String>,
    #[schema(max_length = 255)]
    pub origin_parent_execution_id: Option<String>,
}

impl Heading {
    /// Takes out of the content what it shows; [`Text`] is left.
    pub fn take(content: &mut Content) -> Self {
        let (list_name, to) = std::mem::take(&mut content.target).split();
        Self {
            list_name,
            to,
            provider_id: content.provider.as_ref().map(ToString::to_string),
            subject: Some(std::mem::take(&mut content.subject)),
            entity_type: content.entity_type.take(),
            entity_id: content.entity_id.take(),
            rule_name: content.rule_name.take(),
            rule_id: content.rule_id.take(),
            run_id: content.run_id.take(),
            supersedes_key: content.supersedes_key.take(),
            send_at: content.send_at,
            expires_at: content.expires_at,
        }
    }
}

impl From<Content> for Text {
    fn from(content: Content) -> Self {
        // Kept as text; what does not parse is shown as it is rather than hidden.
        let shown = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        Self {
            body: content.body,
            body_html: content.body_html,
            type_data: content.type_data.map(shown),
        }
    }
}

impl Source {
    pub fn read(fields: &mut Fields) -> Provenance {
        Provenance {
            site: fields.text("sourceSiteId"),
            instance: fields.text("sourceInstanceId"),
            script: fields.text("sourceScript"),
            execution: fields.text("originExecutionId").map(ExecutionId::new),
            parent_execution: fields.text("originParentExecutionId").map(ExecutionId::new),
        }
    }
}

impl From<Provenance> for Source {
    fn from(from: Provenance) -> Self {
        Self {
            source_site_id: from.site,
            source_instance_id: from.instance,
            source_script: from.script,
            origin_execution_id: from.execution.as_ref().map(ToString::to_string),
            origin_parent_execution_id: from.parent_execution.as_ref().map(ToString::to_string),
        }
    }
}
