//! From the form of a provider back to what the API would have been sent.

use super::form::Form;
use crate::fields::Fields;
use delivery::{KindInfo, Setting, SettingType};
use serde::Serialize;
use serde_json::{Map, Value};
use store::directory::NewProvider;

/// The parts of `retry` and `limits` that the form asks for. What it does not ask for it does not change.
const RETRY_TEXTS: [&str; 4] = ["shape", "interval", "cap", "maxAge"];
const RETRY_NUMBERS: [&str; 3] = ["factor", "jitter", "maxAttempts"];
const LIMITS: [&str; 2] = ["concurrency", "perSecond"];

/// What was sent, as the API would have it. `stored` is the provider as it stands, when it exists.
pub fn to_fields(form: &Form, info: &KindInfo, stored: Option<&NewProvider>) -> Fields {
    let mut top = Map::new();
    top.insert("kind".into(), info.kind.into());
    for name in ["id", "name"] {
        if let Some(value) = form.text(name) {
            top.insert(name.into(), value.into());
        }
    }
    top.insert("enabled".into(), form.ticked("enabled").into());
    put_number(&mut top, "order", form.text("order"));
    if let Some(word) = form.text("onAmbiguous") {
        top.insert("onAmbiguous".into(), word.into());
    }
    let mut retry = stored.map_or_else(Map::new, |p| {
        without(&p.retry, &[&RETRY_TEXTS[..], &RETRY_NUMBERS].concat())
    });
    for name in RETRY_TEXTS {
        if let Some(value) = form.text(&format!("retry.{name}")) {
            retry.insert(name.into(), value.into());
        }
    }
    for name in RETRY_NUMBERS {
        put_number(&mut retry, name, form.text(&format!("retry.{name}")));
    }
    put_number(&mut retry, "unknownRetries", form.text("retry.unknownRetries"));
    let mut limits = stored.map_or_else(Map::new, |p| without(&p.limits, &LIMITS));
    for name in LIMITS {
        put_number(&mut limits, name, form.text(&format!("limits.{name}")));
    }
    let mut settings = Map::new();
    for setting in &info.settings {
        if let Some(value) = setting_value(setting, form) {
            put(&mut settings, setting.name, value);
        }
    }
    for (name, part) in [("retry", retry), ("limits", limits), ("settings", settings)] {
        top.insert(name.into(), Value::Object(part));
    }
    Fields::new(top)
}

/// The field that asks for a kept secret to be removed.
pub fn removal(field: &str) -> String {
    format!("remove.{field}")
}

/// What is stored, less what the form asks for.
fn without(stored: &impl Serialize, asked: &[&str]) -> Map<String, Value> {
    match serde_json::to_value(stored) {
        Ok(Value::Object(mut all)) => {
            all.retain(|name, value| !asked.contains(&name.as_str()) && !value.is_null());
            all
        }
        _ => Map::new(),
    }
}

/// As a number where it is one; otherwise as it is, to be refused by name.
fn put_number(map: &mut Map<String, Value>, name: &str, text: Option<String>) {
    let Some(text) = text else { return };
    let value = serde_json::from_str::<Value>(&text).ok().filter(Value::is_number);
    map.insert(name.into(), value.unwrap_or(Value::String(text)));
}

fn setting_value(setting: &Setting, form: &Form) -> Option<Value> {
    let name = format!("settings.{}", setting.name);
    if setting.secret && form.ticked(&removal(&name)) {
        return Some(Value::Null);
    }
    match setting.kind {
        SettingType::Boolean => Some(form.ticked(&name).into()),
        SettingType::Map => {
            let text = form.text(&name)?;
            let pairs = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
                let (key, value) = line.split_once(':').unwrap_or((line, ""));
                (key.trim().to_owned(), Value::String(value.trim().to_owned()))
            });
            Some(Value::Object(pairs.collect()))
        }
        // Blanks may belong to a secret.
        _ if setting.secret => form.get(&name).filter(|text| !text.is_empty()).map(Value::from),
        _ => form.text(&name).map(Value::from),
    }
}

fn put(settings: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            settings.insert(name.into(), value);
        }
        Some((outer, inner)) => {
            let nested = settings.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(nested) = nested {
                put(nested, inner, value);
            }
        }
    }
}
