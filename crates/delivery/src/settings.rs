//! Reads a provider's settings by their descriptions: one description per setting makes the form, the checks and
//! the values.

use crate::{
    kind::{Setting, SettingType, Settings},
    redact::Redactor,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{FieldError, retry};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};
use url::Url;

/// What a `timeout` may be. The node's own limit of an attempt holds besides.
pub(crate) const SHORTEST_TIMEOUT: Duration = Duration::from_secs(1);
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);

/// Settings that fit their descriptions, defaults filled in.
#[derive(Default)]
pub(crate) struct Values(BTreeMap<&'static str, Value>);

/// Everything wrong with the settings, gathered before anything is refused.
#[derive(Debug, Default)]
pub(crate) struct Problems(pub Vec<FieldError>);

impl Problems {
    pub fn add(&mut self, name: &str, problem: impl Into<String>) {
        let field = format!("settings.{name}");
        if self.0.iter().all(|known| known.field != field) {
            self.0.push(FieldError::new(field, problem));
        }
    }

    pub fn or<T>(self, value: T) -> Result<T, Vec<FieldError>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}

impl Values {
    /// Takes what fits; what does not is named in `problems` and left out.
    pub fn read(described: &[Setting], given: &Settings, problems: &mut Problems) -> Self {
        let given = flatten(described, given);
        let mut values = Self::default();
        for (name, value) in &given {
            match described.iter().find(|s| s.name == name) {
                None => problems.add(name, "is not a setting of this kind of provider"),
                Some(setting) => match fit(&setting.kind, value) {
                    Ok(value) => drop(values.0.insert(setting.name, value)),
                    Err(problem) => problems.add(name, problem),
                },
            }
        }
        for setting in described {
            if given.contains_key(setting.name) {
                continue;
            }
            if let Some(default) = &setting.default {
                values.0.insert(setting.name, default.clone());
            } else if setting.required {
                problems.add(setting.name, "is required");
            }
        }
        values
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// Whether it is switched on.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub fn duration(&self, name: &str) -> Option<Duration> {
        self.text(name).and_then(|text| retry::parse_human(text).ok())
    }

    /// An http:// or https:// address with a host. One that is given and is something else is a problem.
    pub fn url(&self, name: &str, problems: &mut Problems) -> Option<Url> {
        let url = http_url(self.text(name)?);
        if url.is_none() {
            problems.add(name, "must be a URL like https://example.com/path");
        }
        url
    }

    pub fn map(&self, name: &str) -> BTreeMap<String, String> {
        self.0
            .get(name)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default()
    }
}

pub(crate) fn http_url(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Settings that name who logs in with a secret.
const USER_SETTINGS: [&str; 3] = ["username", "accountSid", "apiKeySid"];

/// Knows every secret among these settings, by their descriptions.
pub(crate) fn redactor(described: &[Setting], values: &Values) -> Redactor {
    let mut redactor = Redactor::default();
    for setting in described.iter().filter(|s| s.secret) {
        for (_, value) in values.map(setting.name) {
            redactor.hide_words(&value);
        }
        match (&setting.kind, values.text(setting.name)) {
            (_, None) => {}
            (SettingType::Url, Some(text)) => match Url::parse(text.trim()) {
                Ok(url) => redactor.hide_url(&url),
                Err(_) => redactor.hide(text),
            },
            (_, Some(text)) => {
                redactor.hide(text);
                // A key that logs in by itself.
                redactor.hide_exact(STANDARD.encode(format!("{}:", text.trim())));
                // As a login by Basic carries it.
                for user in USER_SETTINGS.iter().filter_map(|name| values.text(name)) {
                    redactor.hide_exact(STANDARD.encode(format!("{user}:{text}")));
                }
            }
        }
    }
    redactor
}

/// What one setting comes to, its default included.
pub(crate) fn value(described: &[Setting], given: &Settings, name: &str) -> Option<Value> {
    let setting = described.iter().find(|s| s.name == name)?;
    match flatten(described, given).get(name) {
        Some(value) => fit(&setting.kind, value).ok(),
        None => setting.default.clone(),
    }
}

/// Nested settings under their dotted names, blanks and nulls left out.
fn flatten(described: &[Setting], given: &Settings) -> BTreeMap<String, Value> {
    let mut flat = BTreeMap::new();
    for (name, value) in given {
        let prefix = format!("{name}.");
        match value {
            Value::Null => {}
            Value::String(text) if text.trim().is_empty() => {}
            Value::Object(inner) if described.iter().any(|s| s.name.starts_with(&prefix)) => {
                for (key, value) in flatten(&[], inner) {
                    flat.insert(format!("{prefix}{key}"), value);
                }
            }
            value => drop(flat.insert(name.clone(), value.clone())),
        }
    }
    flat
}

/// The value as its type has it: numbers also from text, durations as text, maps with text values only.
fn fit(kind: &SettingType, value: &Value) -> Result<Value, String> {
    match (kind, value) {
        (SettingType::Text | SettingType::Url, Value::String(_)) => Ok(value.clone()),
        (SettingType::Text, Value::Number(n)) => Ok(Value::String(n.to_string())),
        (SettingType::Text | SettingType::Url, _) => Err("must be text".into()),
        (SettingType::Number, Value::Number(n)) if n.is_u64() => Ok(value.clone()),
        (SettingType::Number, Value::String(text)) if text.trim().parse::<u64>().is_ok() => {
            Ok(text.trim().parse::<u64>().map(Value::from).unwrap_or_default())
        }
        (SettingType::Number, _) => Err("must be a whole number".into()),
        (SettingType::Boolean, Value::Bool(_)) => Ok(value.clone()),
        (SettingType::Boolean, Value::String(text)) if text == "true" || text == "false" => {
            Ok(Value::Bool(text == "true"))
        }
        (SettingType::Boolean, _) => Err("must be true or false".into()),
        (SettingType::Duration, Value::String(text)) => {
            retry::parse_human(text).map(|d| Value::String(retry::human(d)))
        }
        (SettingType::Duration, Value::Number(n)) => {
            retry::parse_human(&n.to_string()).map(|d| Value::String(retry::human(d)))
        }
        (SettingType::Duration, _) => Err("must be a duration like \"10s\" or \"5m\"".into()),
        (SettingType::Choice(words), Value::String(text)) if words.contains(&text.as_str()) => {
            Ok(value.clone())
        }
        (SettingType::Choice(words), _) => Err(format!("must be {}", either(words))),
        (SettingType::Map, Value::Object(map)) if map.values().all(Value::is_string) => Ok(value.clone()),
        (SettingType::Map, _) => Err("must be names with text values".into()),
    }
}

/// `a, b or c`
pub(crate) fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described() -> Vec<Setting> {
        vec![
            Setting::text("host", "").required(),
            Setting::number("port", ""),
            Setting::choice("tls", &["none", "starttls", "tls"], "").or("starttls"),
            Setting::duration("timeout", "").or("30s"),
            Setting::text("oauth.tokenUrl", ""),
            Setting::map("headers", ""),
        ]
    }

    fn read(given: Value) -> (Values, Vec<FieldError>) {
        let mut problems = Problems::default();
        let values = Values::read(&described(), given.as_object().unwrap(), &mut problems);
        (values, problems.0)
    }

    #[test]
    fn every_bad_setting_is_named_at_once() {
        let (_, bad) = read(
            json!({"port": -1, "tls": "ssl", "timeout": "soon", "oauth": {"tokenUrl": 7, "x": 1}, "headers": {"a": 1}, "prot": 1}),
        );
        let named: Vec<_> = bad.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(
            named,
            [
                "settings.headers",
                "settings.oauth.x",
                "settings.port",
                "settings.prot",
                "settings.timeout",
                "settings.tls",
                "settings.host"
            ]
        );
        let tls = bad.iter().find(|p| p.field == "settings.tls").unwrap();
        assert_eq!(tls.problem, "must be none, starttls or tls");
    }

    #[test]
    fn defaults_are_filled_in_and_blanks_count_as_absent() {
        let (values, bad) = read(
            json!({"host": "mail", "port": "25", "tls": "", "timeout": 5, "headers": {"a": "b"}, "oauth": {"tokenUrl": "u"}}),
        );
        assert_eq!(bad, []);
        assert_eq!(values.text("tls"), Some("starttls"));
        assert_eq!(values.number("port"), Some(25));
        assert_eq!(values.duration("timeout"), Some(Duration::from_secs(5)));
        assert_eq!(values.text("oauth.tokenUrl"), Some("u"));
        assert_eq!(values.map("headers")["a"], "b");
    }
}
