//! Templates filled in, to look at or to send as a test.

use super::{
    names::{DateAsName, Id, StatusName, TypeName},
    template::ProviderTemplateRequest,
};
use central::templates::{Preview, TestedTemplate};
use domain::{NotificationId, Status};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What a saved template is filled with.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct PreviewRequest {
    /// An object, or the text of one: in a text, numbers stay as they were written. Empty if left out.
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Value>,
    /// Instead: with the values of an event that came, and what its lookup adds to them now.
    #[schema(value_type = Option<Id>)]
    pub event_id: Option<String>,
}

/// A template that is not saved, and what it is filled with.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct UnsavedPreviewRequest {
    #[schema(max_length = 255)]
    pub event_type: String,
    pub channel: TypeName,
    pub name: Option<String>,
    pub language: Option<String>,
    pub scope_type: Option<String>,
    pub scope_id: Option<String>,
    pub subject: Option<String>,
    pub body: Option<String>,
    pub body_html: Option<String>,
    pub to: Option<String>,
    pub provider_id: Option<String>,
    pub provider_template: Option<ProviderTemplateRequest>,
    pub date_format: Option<String>,
    pub date_as: Option<DateAsName>,
    pub zone: Option<String>,
    pub active: Option<bool>,
    /// As in a preview of a saved template.
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Value>,
    /// As in a preview of a saved template.
    #[schema(value_type = Option<Id>)]
    pub event_id: Option<String>,
}

/// Where a test message goes, and what it is filled with.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct TemplateTestRequest {
    /// An address; needed for types that have recipients.
    pub to: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Value>,
}

/// What a message would say.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewAnswer {
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    /// What the channel's kinds get besides: the service's own template with its values.
    #[schema(value_type = Option<Object>)]
    pub type_data: Option<Value>,
    /// The address, if the template says whose it is.
    pub to: Option<String>,
    pub warnings: Vec<String>,
}

/// A test message is on its way.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateTestAnswer {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    #[schema(value_type = StatusName)]
    pub status: Status,
    pub warnings: Vec<String>,
}

impl From<Preview> for PreviewAnswer {
    fn from(preview: Preview) -> Self {
        let rendered = preview.rendered;
        Self {
            subject: rendered.subject,
            body: rendered.body,
            body_html: rendered.body_html,
            type_data: rendered
                .type_data
                .and_then(|text| serde_json::from_str(&text).ok()),
            to: rendered.to,
            warnings: preview.warnings,
        }
    }
}

impl TemplateTestAnswer {
    pub fn new(id: NotificationId, tested: TestedTemplate) -> Self {
        Self {
            notification_id: id,
            status: Status::Pending,
            warnings: tested.warnings,
        }
    }
}
