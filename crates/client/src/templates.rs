//! Templates: texts that events fill.

use crate::{Client, Error, Result, http::NONE};
use domain::{Channel, EventId, NotificationId, Timestamp};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A template as somebody writes it: one variant, in one language and for one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateDraft {
    pub event_type: String,
    pub channel: Channel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    #[serde(default = "yes")]
    pub active: bool,
    /// When saving: `Conflict` unless this is still the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_as: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default)]
    pub body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_html: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_template: Option<ProviderTemplate>,
    /// What this client does not know, for central to judge.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn yes() -> bool {
    true
}

/// A template that the service has approved, and what fills it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTemplate {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default)]
    pub params: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dlt_id: Option<String>,
}

/// A template as central lists it, without what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRow {
    pub id: i64,
    pub event_type: String,
    pub channel: Channel,
    pub name: String,
    pub language: Option<String>,
    pub scope_type: Option<String>,
    pub scope_id: Option<String>,
    pub active: bool,
    pub version: i64,
    pub saved_at: Timestamp,
    pub saved_by: String,
    pub deleted_at: Option<Timestamp>,
}

/// A template as central shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pub id: i64,
    pub draft: TemplateDraft,
    pub warnings: Vec<String>,
}

/// What a message of a template would say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplatePreview {
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    pub type_data: Option<Value>,
    pub to: Option<String>,
    pub warnings: Vec<String>,
}

/// A test message that is on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestedTemplate {
    pub notification_id: NotificationId,
    pub warnings: Vec<String>,
}

impl Client {
    /// The templates that are there, of this event type and channel if one is asked for.
    pub async fn templates(
        &self,
        event_type: Option<&str>,
        channel: Option<Channel>,
    ) -> Result<Vec<TemplateRow>> {
        let mut query = vec![];
        query.extend(event_type.map(|text| ("eventType", text.to_owned())));
        query.extend(channel.map(|channel| ("channel", channel.to_string())));
        self.pages(&["api", "message-templates"], query, 1_000)
            .try_collect()
            .await
    }

    pub async fn template(&self, id: i64) -> Result<Template> {
        let shown: Value = self
            .get(&["api", "message-templates", &id.to_string()], NONE)
            .await?;
        read(shown)
    }

    /// `Conflict` when there is one of that event type, channel, name, language and scope.
    pub async fn create_template(&self, draft: &TemplateDraft) -> Result<Template> {
        read(self.post(&["api", "message-templates"], draft).await?)
    }

    /// A new version. `Conflict` unless the template still has the version that the draft names.
    pub async fn save_template(&self, id: i64, draft: &TemplateDraft) -> Result<Template> {
        read(
            self.put(&["api", "message-templates", &id.to_string()], draft)
                .await?,
        )
    }

    /// It serves nothing any more; its versions stay.
    pub async fn delete_template(&self, id: i64) -> Result<()> {
        self.delete(&["api", "message-templates", &id.to_string()], NONE)
            .await
    }

    /// Fills a saved template. `payload` is the text of a JSON object, whose numbers stay as they were written.
    pub async fn preview_template(&self, id: i64, payload: &str) -> Result<TemplatePreview> {
        let path = ["api", "message-templates", &id.to_string(), "preview"];
        self.post(&path, &json!({"payload": payload})).await
    }

    /// Fills a template that is not saved.
    pub async fn preview_draft(&self, draft: &TemplateDraft, payload: &str) -> Result<TemplatePreview> {
        let mut asked = serde_json::to_value(draft).unwrap_or_default();
        asked["payload"] = payload.into();
        self.post(&["api", "message-templates", "preview"], &asked).await
    }

    /// Fills a template with the values of an event that came.
    pub async fn preview_template_of_event(&self, id: i64, event: EventId) -> Result<TemplatePreview> {
        let path = ["api", "message-templates", &id.to_string(), "preview"];
        self.post(&path, &json!({"eventId": event})).await
    }

    /// Fills a template that is not saved with the values of an event that came.
    pub async fn preview_draft_of_event(
        &self,
        draft: &TemplateDraft,
        event: EventId,
    ) -> Result<TemplatePreview> {
        let mut asked = serde_json::to_value(draft).unwrap_or_default();
        asked["eventId"] = json!(event);
        self.post(&["api", "message-templates", "preview"], &asked).await
    }

    /// Sends one message of the template to this address.
    pub async fn test_template(&self, id: i64, to: Option<&str>, payload: &str) -> Result<TestedTemplate> {
        let path = ["api", "message-templates", &id.to_string(), "test"];
        self.post(&path, &json!({"to": to, "payload": payload})).await
    }
}

/// What central shows of a template, taken apart into what may be sent back and what may not.
fn read(mut shown: Value) -> Result<Template> {
    let mut take = |name: &str| shown.as_object_mut().and_then(|fields| fields.remove(name));
    let id = take("id").and_then(|id| id.as_i64());
    let warnings = take("warnings").and_then(|texts| serde_json::from_value(texts).ok());
    for only_shown in ["savedAt", "savedBy", "createdAt", "deletedAt"] {
        take(only_shown);
    }
    let draft = serde_json::from_value(shown).ok();
    match (id, draft) {
        (Some(id), Some(draft)) => Ok(Template {
            id,
            draft,
            warnings: warnings.unwrap_or_default(),
        }),
        _ => Err(Error::Server {
            status: 200,
            code: String::new(),
            detail: "a template this client does not understand".into(),
            retry_after: None,
        }),
    }
}
