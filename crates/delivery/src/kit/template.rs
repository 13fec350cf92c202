//! Messages that are made of a template which the service has approved. The message names it in neutral words; the
//! provider's settings say what it is called over there.

use crate::settings::{Problems, Values, either};
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
#[serde(try_from = "HeaderFields")]
pub(crate) enum Header {
    Text(String),
    Image(String),
    Video(String),
    /// Shown under its name.
    Document {
        url: String,
        file_name: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HeaderFields {
    text: Option<String>,
    image: Option<String>,
    video: Option<String>,
    document: Option<String>,
    file_name: Option<String>,
}

impl TryFrom<HeaderFields> for Header {
    type Error = &'static str;

    fn try_from(fields: HeaderFields) -> Result<Self, Self::Error> {
        let HeaderFields {
            text,
            image,
            video,
            document,
            file_name,
        } = fields;
        Ok(match (text, image, video, document, file_name) {
            (Some(text), None, None, None, None) => Self::Text(text),
            (None, Some(image), None, None, None) => Self::Image(image),
            (None, None, Some(video), None, None) => Self::Video(video),
            (None, None, None, Some(url), name) => Self::Document {
                file_name: name.unwrap_or_else(|| last_part(&url)),
                url,
            },
            _ => {
                return Err("a header is one of text, image, video and document; fileName is for a document");
            }
        })
    }
}

/// What a document is called whose sender gave it no name: the end of its address.
fn last_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').find(|part| !part.is_empty());
    last.unwrap_or("document").to_owned()
}

impl Header {
    pub fn kind(&self) -> &'static str {
        match self {
            Header::Text(_) => "text",
            Header::Image(_) => "image",
            Header::Video(_) => "video",
            Header::Document { .. } => "document",
        }
    }

    pub fn value(&self) -> &str {
        match self {
            Header::Text(value) | Header::Image(value) | Header::Video(value) => value,
            Header::Document { url, .. } => url,
        }
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
    pub category: Option<&'static str>,
    /// The ids of the text and of its owner in the register that Indian law asks for.
    pub dlt: Option<String>,
    pub entity: Option<String>,
}

impl Template {
    fn take(&mut self, word: &str, categories: &[&'static str]) -> Result<(), String> {
        match word.split_once('=') {
            Some(("language", value)) => self.language = Some(value.to_owned()),
            Some(("sender", value)) => self.sender = Some(value.to_owned()),
            Some(("category", value)) => {
                let known = categories.iter().find(|known| known.eq_ignore_ascii_case(value));
                let unknown = || {
                    format!(
                        "has an unknown category {value:?}: it must be {}",
                        either(categories)
                    )
                };
                self.category = Some(known.ok_or_else(unknown)?);
            }
            Some(("dlt", value)) => self.dlt = Some(registered("dlt", value)?),
            Some(("entity", value)) => self.entity = Some(registered("entity", value)?),
            _ => {
                return Err(
                    "must be the service's own id, and then language=…, sender=…, category=…, dlt=… or entity=…"
                        .into(),
                );
            }
        }
        Ok(())
    }
}

/// Ids of the register are numbers, of 19 digits mostly.
fn registered(name: &str, id: &str) -> Result<String, String> {
    let sound = (1..=MAX_REGISTERED_DIGITS).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit());
    match sound {
        true => Ok(id.to_owned()),
        false => Err(format!("has a {name} id that is no number of the register")),
    }
}

const MAX_REGISTERED_DIGITS: usize = 30;

/// The setting `templates`: names of ours, and for each the service's own id or name, then `language=`, `sender=`,
/// `category=`, `dlt=` and `entity=`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Templates(BTreeMap<String, Template>);

impl Templates {
    /// `categories` are those that the service knows: a word it does not know would be taken for one that does not matter.
    pub fn read(values: &Values, categories: &[&'static str], problems: &mut Problems) -> Self {
        let mut known = BTreeMap::new();
        for (name, text) in values.map("templates") {
            let mut words = text.split_whitespace();
            let mut template = Template {
                id: words.next().unwrap_or_default().to_owned(),
                ..Template::default()
            };
            for word in words {
                if let Err(problem) = template.take(word, categories) {
                    problems.add(&format!("templates.{name}"), problem);
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
        let templates = Templates::read(&values, &[], &mut problems);
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

    #[test]
    fn a_category_that_no_rule_knows_is_refused_with_the_words_that_are_known() {
        let read = |text: &str| {
            let mut template = Template::default();
            let result = template.take(text, &["promotional", "service"]);
            result.map(|()| template.category)
        };
        assert_eq!(read("category=Promotional"), Ok(Some("promotional")));
        let refused = read("category=promo").unwrap_err();
        assert!(refused.contains("promotional or service"), "{refused}");
    }

    #[test]
    fn ids_of_the_register_are_numbers() {
        let mut template = Template::default();
        template.take("dlt=1107161234567890123", &[]).unwrap();
        template.take("entity=1101234567890123456", &[]).unwrap();
        assert_eq!(template.dlt.as_deref(), Some("1107161234567890123"));
        for bad in ["dlt=", "dlt=abc", "entity=1a"] {
            assert!(template.take(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_header_is_one_thing_and_a_document_has_a_name() {
        let read = |value: Value| serde_json::from_value::<Header>(value).map_err(|e| e.to_string());
        let named = |url: &str, name: &str| Header::Document {
            url: url.into(),
            file_name: name.into(),
        };
        assert_eq!(read(json!({"text": "Hi"})), Ok(Header::Text("Hi".into())));
        assert_eq!(
            read(json!({"document": "https://a.example/1", "fileName": "bill.pdf"})),
            Ok(named("https://a.example/1", "bill.pdf"))
        );
        assert_eq!(
            read(json!({"document": "https://a.example/b/bill.pdf?x=1"})),
            Ok(named("https://a.example/b/bill.pdf?x=1", "bill.pdf"))
        );
        for bad in [
            json!({}),
            json!({"text": "a", "image": "b"}),
            json!({"image": "b", "fileName": "c"}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
