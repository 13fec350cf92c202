//! Messages that are made of a template which the service has approved. The message names it in neutral words; the
//! provider's settings say what it is called over there.

use crate::settings::{Problems, Values};
use domain::{Failure, Scope};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// `data.template` of a message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct TemplateData {
    pub name: String,
    pub language: Option<String>,
    pub params: Params,
    pub header: Option<Header>,
    /// The changing part of each button, in order.
    pub buttons: Vec<String>,
}

/// What is filled in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Params {
    Listed(Vec<Value>),
    Named(BTreeMap<String, Value>),
}

impl Default for Params {
    fn default() -> Self {
        Self::Listed(vec![])
    }
}

/// What stands at the top: a text, or the address of something to show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Header {
    Text(String),
    Image(String),
    Video(String),
    Document(String),
}

impl Header {
    pub fn kind(&self) -> &'static str {
        match self {
            Header::Text(_) => "text",
            Header::Image(_) => "image",
            Header::Video(_) => "video",
            Header::Document(_) => "document",
        }
    }

    pub fn value(&self) -> &str {
        let (Header::Text(value) | Header::Image(value) | Header::Video(value) | Header::Document(value)) =
            self;
        value
    }
}

/// A value as a template shows it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A template as one service knows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Template {
    pub id: String,
    pub language: Option<String>,
    pub sender: Option<String>,
    /// `promotional`, `transactional`, …, where it matters to the service.
    pub category: Option<String>,
}

/// The setting `templates`: names of ours, and for each the service's own id or name, then `language=`, `sender=` and
/// `category=`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Templates(BTreeMap<String, Template>);

impl Templates {
    pub fn read(values: &Values, problems: &mut Problems) -> Self {
        let mut known = BTreeMap::new();
        for (name, text) in values.map("templates") {
            let mut words = text.split_whitespace();
            let mut template = Template {
                id: words.next().unwrap_or_default().to_owned(),
                ..Template::default()
            };
            for word in words {
                match word.split_once('=') {
                    Some(("language", value)) => template.language = Some(value.to_owned()),
                    Some(("sender", value)) => template.sender = Some(value.to_owned()),
                    Some(("category", value)) => template.category = Some(value.to_owned()),
                    _ => problems.add(
                        &format!("templates.{name}"),
                        "must be the service's own id, and then language=…, sender=… or category=…",
                    ),
                }
            }
            known.insert(name, template);
        }
        Self(known)
    }

    /// What the service calls a template. Without any settings its own name is meant.
    pub fn find(&self, name: &str) -> Result<Template, Failure> {
        if let Some(template) = self.0.get(name) {
            return Ok(template.clone());
        }
        if self.0.is_empty() && !name.is_empty() {
            return Ok(Template {
                id: name.to_owned(),
                ..Template::default()
            });
        }
        let why = format!("the provider's settings name no template {name:?}");
        Err(Failure::permanent(Scope::Message, "TEMPLATE", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Setting;
    use serde_json::json;

    #[test]
    fn a_template_is_called_what_the_settings_say() {
        let described = [Setting::map("templates", "")];
        let given = json!({"templates": {"hot": "64f0 sender=PLANTS language=en_US", "odd": "1 x"}});
        let mut problems = Problems::default();
        let values = Values::read(&described, given.as_object().unwrap(), &mut problems);
        let templates = Templates::read(&values, &mut problems);
        assert_eq!(problems.0.len(), 1, "{problems:?}");
        let hot = templates.find("hot").unwrap();
        assert_eq!(
            (hot.id.as_str(), hot.sender.as_deref(), hot.language.as_deref()),
            ("64f0", Some("PLANTS"), Some("en_US"))
        );
        assert_eq!(templates.find("cold").unwrap_err().code, "TEMPLATE");
        assert_eq!(Templates::default().find("cold").unwrap().id, "cold");
        assert_eq!(Templates::default().find("").unwrap_err().code, "TEMPLATE");
    }
}
