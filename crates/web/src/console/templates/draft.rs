//! A template as the editor's form has it.

use crate::{
    console::form::Form,
    dto::template::{TemplateDraft, read_template},
    fields::Fields,
};
use domain::{
    Channel, FieldError,
    template::{DateAs, TemplateContent},
};
use serde_json::{Map, Value};
use store::templates::Template;

/// What was typed, or what is saved, field by field.
#[derive(Debug, Clone, Default)]
pub struct Typed {
    pub event_type: String,
    pub channel: String,
    pub name: String,
    pub language: String,
    pub scope_type: String,
    pub scope_id: String,
    pub subject: String,
    pub body: String,
    pub body_html: String,
    pub to: String,
    pub provider: String,
    pub approved: String,
    pub approved_language: String,
    /// One to a line.
    pub params: String,
    pub dlt_id: String,
    pub date_format: String,
    pub instant: bool,
    pub zone: String,
    pub active: bool,
    pub version: String,
    /// What the preview is filled with.
    pub payload: String,
    /// The id of an event whose payload takes its place.
    pub event: String,
}

impl Typed {
    pub fn read(form: &Form) -> Self {
        // A browser ends the lines of a text field by two characters; templates have one.
        let text = |name: &str| form.get(name).unwrap_or_default().replace("\r\n", "\n");
        let trimmed = |name: &str| text(name).trim().to_owned();
        Self {
            event_type: trimmed("eventType"),
            channel: trimmed("channel"),
            name: trimmed("name"),
            language: trimmed("language"),
            scope_type: trimmed("scopeType"),
            scope_id: trimmed("scopeId"),
            subject: trimmed("subject"),
            body: text("body"),
            body_html: text("bodyHtml"),
            to: trimmed("to"),
            provider: trimmed("providerId"),
            approved: trimmed("approved"),
            approved_language: trimmed("approvedLanguage"),
            params: text("params"),
            dlt_id: trimmed("dltId"),
            date_format: trimmed("dateFormat"),
            instant: form.get("dateAs") == Some("instant"),
            zone: trimmed("zone"),
            active: form.ticked("active"),
            version: trimmed("version"),
            payload: text("payload"),
            event: trimmed("event"),
        }
    }

    pub fn of(template: &Template) -> Self {
        let (identity, content) = (&template.identity, template.content.clone());
        let scope = identity.scope.clone();
        let (scope_type, scope_id) = scope.map(|s| (s.scope_type, s.scope_id)).unwrap_or_default();
        let approved = content.provider_template.clone().unwrap_or_default();
        Self {
            event_type: identity.event_type.clone(),
            channel: identity.channel.to_string(),
            name: identity.name.clone(),
            language: identity.language.clone().unwrap_or_default(),
            scope_type,
            scope_id,
            payload: sample(&content),
            subject: content.subject.unwrap_or_default(),
            body: content.body,
            body_html: content.body_html.unwrap_or_default(),
            to: content.to.unwrap_or_default(),
            provider: content.provider_id.map(|id| id.to_string()).unwrap_or_default(),
            approved: approved.name,
            approved_language: approved.language.unwrap_or_default(),
            params: approved.params.join("\n"),
            dlt_id: approved.dlt_id.unwrap_or_default(),
            date_format: content.date_format.unwrap_or_default(),
            instant: content.date_as == Some(DateAs::Instant),
            zone: content.zone.unwrap_or_default(),
            active: content.active,
            version: template.version.to_string(),
            event: String::new(),
        }
    }

    /// As the API would have it, and what is wrong with it.
    pub fn draft(&self, current: Option<&Template>) -> Result<TemplateDraft, Vec<FieldError>> {
        let mut map = Map::new();
        if current.is_none() {
            put(&mut map, "eventType", &self.event_type);
            put(&mut map, "channel", &self.channel);
            put(&mut map, "name", &self.name);
            put(&mut map, "language", &self.language);
            put(&mut map, "scopeType", &self.scope_type);
            put(&mut map, "scopeId", &self.scope_id);
        }
        put(&mut map, "subject", &self.subject);
        put(&mut map, "body", &self.body);
        put(&mut map, "bodyHtml", &self.body_html);
        put(&mut map, "to", &self.to);
        put(&mut map, "providerId", &self.provider);
        put(&mut map, "dateFormat", &self.date_format);
        put(&mut map, "zone", &self.zone);
        if self.instant {
            put(&mut map, "dateAs", DateAs::Instant.as_str());
        }
        map.insert("active".into(), self.active.into());
        if let Ok(version) = self.version.parse::<i64>() {
            map.insert("version".into(), version.into());
        }
        if !self.approved.is_empty() {
            let mut approved = Map::new();
            put(&mut approved, "name", &self.approved);
            put(&mut approved, "language", &self.approved_language);
            put(&mut approved, "dltId", &self.dlt_id);
            let params = self.params.lines().map(str::trim).filter(|line| !line.is_empty());
            approved.insert("params".into(), params.map(Value::from).collect());
            map.insert("providerTemplate".into(), approved.into());
        }
        read_template(Fields::new(map), current)
    }

    pub fn is_email(&self) -> bool {
        self.channel == Channel::Email.as_str()
    }

    /// Whether services of this channel have templates of their own.
    pub fn has_approved(&self) -> bool {
        [Channel::WhatsApp, Channel::Sms]
            .iter()
            .any(|c| c.as_str() == self.channel)
            || !self.approved.is_empty()
    }
}

fn put(map: &mut Map<String, Value>, name: &str, value: &str) {
    if !value.trim().is_empty() {
        map.insert(name.into(), value.into());
    }
}

/// A payload with everything the template names, to begin with.
pub fn sample(content: &TemplateContent) -> String {
    let names = content.names().into_iter();
    let example = |name: String| {
        let value = match name.to_lowercase() {
            lower if lower.ends_with("date") => "2026-03-15".to_owned(),
            lower if lower.ends_with("email") => "guest@example.com".to_owned(),
            lower if lower.ends_with("phone") => "+919876543210".to_owned(),
            _ => format!("a {name}"),
        };
        (name, Value::from(value))
    };
    let values: Map<String, Value> = names.map(example).collect();
    serde_json::to_string_pretty(&values).unwrap_or_default()
}

/// What a template says, as lines to compare.
pub fn in_lines(template: &Template) -> String {
    let typed = Typed::of(template);
    let short = [
        ("Active", if typed.active { "yes" } else { "no" }),
        ("To", &typed.to),
        ("Provider", &typed.provider),
        ("Service's template", &typed.approved),
        ("Its language", &typed.approved_language),
        ("DLT id", &typed.dlt_id),
        ("Date format", &typed.date_format),
        ("Dates are", if typed.instant { "moments" } else { "" }),
        ("Zone", &typed.zone),
        ("Subject", &typed.subject),
    ];
    let mut text = String::new();
    for (name, value) in short.into_iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{name}: {value}\n"));
    }
    for (name, value) in [
        ("Parameters", &typed.params),
        ("Text", &typed.body),
        ("HTML", &typed.body_html),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{name}:\n{value}\n"));
        }
    }
    text
}
