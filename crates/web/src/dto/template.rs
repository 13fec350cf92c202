//! Templates, in and out.

use super::names::{DateAsName, Time, TypeName};
use crate::fields::{Fields, kind};
use domain::{
    Channel, FieldError, ProviderId, Timestamp,
    template::{DateAs, ProviderTemplate, TemplateContent, TemplateIdentity, TemplateScope, identity},
};
use serde::Serialize;
use serde_json::Value;
use store::templates::{Template, TemplateRow, TemplateSettings, TemplateVersion};
use utoipa::ToSchema;

/// A template: one variant, in one language and for one scope.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateView {
    #[serde(flatten)]
    pub row: TemplateRowView,
    pub subject: Option<String>,
    pub body: String,
    pub body_html: Option<String>,
    /// Whose value is the address, instead of the one the event type names.
    pub to: Option<String>,
    pub provider_id: Option<String>,
    pub provider_template: Option<ProviderTemplateView>,
    pub date_format: Option<String>,
    #[schema(value_type = Option<DateAsName>)]
    pub date_as: Option<DateAs>,
    pub zone: Option<String>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    /// What is odd about it, such as a placeholder that no event has.
    pub warnings: Vec<String>,
}

/// A template without what it says.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRowView {
    pub id: i64,
    pub event_type: String,
    #[schema(value_type = TypeName)]
    pub channel: Channel,
    pub name: String,
    pub language: Option<String>,
    pub scope_type: Option<String>,
    pub scope_id: Option<String>,
    pub active: bool,
    pub version: i64,
    /// When and by whom this version was saved.
    #[schema(value_type = Time)]
    pub saved_at: Timestamp,
    pub saved_by: String,
    #[schema(value_type = Option<Time>)]
    pub deleted_at: Option<Timestamp>,
}

/// A template that the service has approved, and what fills it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTemplateView {
    pub name: String,
    pub language: Option<String>,
    /// In the service's order: names of values, or texts with placeholders.
    pub params: Vec<String>,
    pub dlt_id: Option<String>,
}

/// A template to be made, or a new version of one. What `PUT` shows of a template may be sent back as it is.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct TemplateRequest {
    /// Needed on POST; never changes.
    #[schema(max_length = 255)]
    pub event_type: Option<String>,
    /// Needed on POST; never changes.
    pub channel: Option<TypeName>,
    /// `default` if left out; never changes.
    #[schema(max_length = 255)]
    pub name: Option<String>,
    /// For every language if left out; never changes.
    pub language: Option<String>,
    /// With `scopeId`: only for events whose `{scopeType}.id` is that; never changes.
    pub scope_type: Option<String>,
    pub scope_id: Option<String>,
    #[schema(max_length = 1000)]
    pub subject: Option<String>,
    /// May be blank only with a `providerTemplate`.
    pub body: Option<String>,
    /// For e-mail.
    pub body_html: Option<String>,
    /// The name of a value, or a text with placeholders.
    pub to: Option<String>,
    pub provider_id: Option<String>,
    pub provider_template: Option<ProviderTemplateRequest>,
    /// Like `%d-%b-%Y`.
    pub date_format: Option<String>,
    /// `date` (the date as it was written) if left out; `instant` shows a moment in `zone`.
    pub date_as: Option<DateAsName>,
    /// Like `Asia/Kolkata`, or a placeholder.
    pub zone: Option<String>,
    /// True if left out.
    pub active: Option<bool>,
    /// Needed on PUT: the version that the change is based on; refused with `conflict` unless it still is the version.
    pub version: Option<i64>,
}

/// A template that the service has approved.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ProviderTemplateRequest {
    pub name: String,
    pub language: Option<String>,
    pub params: Option<Vec<String>>,
    pub dlt_id: Option<String>,
}

/// One version of a template.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateVersionView {
    pub version: i64,
    #[schema(value_type = Time)]
    pub saved_at: Timestamp,
    pub saved_by: String,
}

/// How templates show dates where they do not say it themselves.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSettingsView {
    /// Like `%d-%b-%Y`, which it is if left out.
    pub date_format: Option<String>,
    /// Like `Asia/Kolkata`; UTC if left out.
    pub zone: Option<String>,
}

/// What a template is read as.
#[derive(Debug)]
pub struct TemplateDraft {
    pub identity: TemplateIdentity,
    pub content: TemplateContent,
    /// The version that it is based on.
    pub version: Option<i64>,
}

/// Reads a template. With `current` it is a change: what names the template may be left out and must not differ.
pub fn read_template(
    mut fields: Fields,
    current: Option<&Template>,
) -> Result<TemplateDraft, Vec<FieldError>> {
    let draft = draft_of(&mut fields, current);
    let problems = fields.finish();
    match (problems.is_empty(), draft) {
        (true, Some(draft)) => Ok(draft),
        _ => Err(problems),
    }
}

/// Takes the fields of a template out; others may be left, for whoever asks more.
pub fn draft_of(fields: &mut Fields, current: Option<&Template>) -> Option<TemplateDraft> {
    let identity = match current {
        None => identity_of(fields),
        Some(template) => {
            unchanged(fields, &template.identity);
            Some(template.identity.clone())
        }
    };
    // What an answer shows besides.
    for shown in ["id", "savedAt", "savedBy", "createdAt", "deletedAt", "warnings"] {
        fields.any(shown);
    }
    let version = fields.integer::<i64>("version");
    let content = content_of(fields);
    Some(TemplateDraft {
        identity: identity?,
        content,
        version,
    })
}

fn identity_of(fields: &mut Fields) -> Option<TemplateIdentity> {
    let event_type = fields.text("eventType");
    let event_type = fields.require("eventType", event_type);
    let channel = fields.parsed::<Channel>("channel");
    let channel = fields.require("channel", channel);
    let name = fields.text("name").filter(|name| !name.is_empty());
    let language = fields.text("language").filter(|language| !language.is_empty());
    let (scope_type, scope_id) = (fields.text("scopeType"), fields.text("scopeId"));
    let scope = match (scope_type.unwrap_or_default(), scope_id.unwrap_or_default()) {
        (scope_type, scope_id) if scope_type.is_empty() && scope_id.is_empty() => None,
        (scope_type, scope_id) => Some(TemplateScope { scope_type, scope_id }),
    };
    Some(TemplateIdentity {
        event_type: event_type?,
        channel: channel?,
        name: name.unwrap_or_else(|| TemplateIdentity::DEFAULT_NAME.into()),
        language: language.map(|text| identity::canonical_language(&text).unwrap_or(text)),
        scope,
    })
}

/// What names a template stays.
fn unchanged(fields: &mut Fields, identity: &TemplateIdentity) {
    let scope = identity.scope.as_ref();
    let is = [
        ("eventType", Some(identity.event_type.as_str())),
        ("channel", Some(identity.channel.as_str())),
        ("name", Some(identity.name.as_str())),
        ("language", identity.language.as_deref()),
        ("scopeType", scope.map(|scope| scope.scope_type.as_str())),
        ("scopeId", scope.map(|scope| scope.scope_id.as_str())),
    ];
    for (field, is) in is {
        if let Some(given) = fields.text(field)
            && Some(given.as_str()) != is
        {
            fields.problem(field, "never changes; make another template");
        }
    }
}

fn content_of(fields: &mut Fields) -> TemplateContent {
    let short = |text: Option<String>| text.filter(|text| !text.is_empty());
    TemplateContent {
        subject: short(fields.text("subject")),
        body: fields.text("body").unwrap_or_default(),
        body_html: short(fields.text("bodyHtml")),
        to: short(fields.text("to")),
        provider_id: short(fields.text("providerId")).map(ProviderId::new),
        provider_template: fields.object("providerTemplate").map(|map| {
            let mut nested = Fields::nested(map, "providerTemplate.");
            let name = nested.text("name");
            let template = ProviderTemplate {
                name: nested.require("name", name).unwrap_or_default(),
                language: short(nested.text("language")),
                params: nested.texts("params").unwrap_or_default(),
                dlt_id: short(nested.text("dltId")),
            };
            fields.add_all(nested.finish());
            template
        }),
        date_format: short(fields.text("dateFormat")),
        date_as: fields.parsed("dateAs"),
        zone: short(fields.text("zone")),
        active: fields.boolean("active").unwrap_or(true),
    }
}

/// The values to fill a template with: an object, or the text of one, whose numbers stay as they were written.
pub fn payload_of(fields: &mut Fields) -> Option<String> {
    match fields.any("payload")? {
        Value::String(text) => Some(text),
        object @ Value::Object(_) => Some(object.to_string()),
        other => {
            fields.problem("payload", format!("must be an object, not {}", kind(&other)));
            None
        }
    }
}

pub fn read_settings(mut fields: Fields) -> Result<TemplateSettings, Vec<FieldError>> {
    let settings = TemplateSettings {
        date_format: fields.text("dateFormat").filter(|text| !text.is_empty()),
        zone: fields.text("zone").filter(|text| !text.is_empty()),
    };
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(settings),
        false => Err(problems),
    }
}

impl TemplateView {
    pub fn new(template: Template, warnings: Vec<String>) -> Self {
        let content = template.content;
        Self {
            row: TemplateRowView::from(TemplateRow {
                id: template.id,
                identity: template.identity,
                version: template.version,
                active: content.active,
                saved_at: template.saved_at,
                saved_by: template.saved_by,
                deleted_at: template.deleted_at,
            }),
            subject: content.subject,
            body: content.body,
            body_html: content.body_html,
            to: content.to,
            provider_id: content.provider_id.map(|id| id.to_string()),
            provider_template: content.provider_template.map(|of| ProviderTemplateView {
                name: of.name,
                language: of.language,
                params: of.params,
                dlt_id: of.dlt_id,
            }),
            date_format: content.date_format,
            date_as: content.date_as,
            zone: content.zone,
            created_at: template.created_at,
            warnings,
        }
    }
}

impl From<TemplateRow> for TemplateRowView {
    fn from(row: TemplateRow) -> Self {
        let (scope_type, scope_id) = row.identity.scope.map(|s| (s.scope_type, s.scope_id)).unzip();
        Self {
            id: row.id.0,
            event_type: row.identity.event_type,
            channel: row.identity.channel,
            name: row.identity.name,
            language: row.identity.language,
            scope_type,
            scope_id,
            active: row.active,
            version: row.version,
            saved_at: row.saved_at,
            saved_by: row.saved_by.to_string(),
            deleted_at: row.deleted_at,
        }
    }
}

impl From<TemplateVersion> for TemplateVersionView {
    fn from(version: TemplateVersion) -> Self {
        Self {
            version: version.version,
            saved_at: version.saved_at,
            saved_by: version.saved_by.to_string(),
        }
    }
}

impl From<TemplateSettings> for TemplateSettingsView {
    fn from(settings: TemplateSettings) -> Self {
        Self {
            date_format: settings.date_format,
            zone: settings.zone,
        }
    }
}
