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
    null_where_empty(&mut retry, "maxAge", form.get("retry.maxAge"));
    let mut limits = stored.map_or_else(Map::new, |p| without(&p.limits, &LIMITS));
    for name in LIMITS {
        put_number(&mut limits, name, form.text(&format!("limits.{name}")));
    }
    null_where_empty(&mut limits, "perSecond", form.get("limits.perSecond"));
    let (mut settings, mut problems) = (Map::new(), vec![]);
    for setting in &info.settings {
        match setting_value(setting, form) {
            Ok(Some(value)) => put(&mut settings, setting.name, value),
            Ok(None) => {}
            Err(problem) => problems.push((format!("settings.{}", setting.name), problem)),
        }
    }
    for (name, part) in [("retry", retry), ("limits", limits), ("settings", settings)] {
        top.insert(name.into(), Value::Object(part));
    }
    let mut fields = Fields::new(top);
    for (field, problem) in problems {
        fields.problem(&field, problem);
    }
    fields
}

/// The field that says what becomes of a kept secret: `keep`, `replace` or `clear`.
pub fn secret_choice(field: &str) -> String {
    format!("secret.{field}")
}

/// The rows of a field of names and values in which something stands.
pub fn pairs(form: &Form, field: &str) -> Vec<(String, String)> {
    let (names, values) = (format!("{field}.name"), format!("{field}.value"));
    let rows = form.all(&names).zip(form.all(&values));
    rows.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .filter(|(name, value)| !name.is_empty() || !value.is_empty())
        .collect()
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

/// What was left empty has no limit, whatever the kind's own is.
fn null_where_empty(map: &mut Map<String, Value>, name: &str, shown: Option<&str>) {
    if shown.is_some_and(|text| text.trim().is_empty()) {
        map.insert(name.into(), Value::Null);
    }
}

/// As a number where it is one; otherwise as it is, to be refused by name.
fn put_number(map: &mut Map<String, Value>, name: &str, text: Option<String>) {
    let Some(text) = text else { return };
    let value = serde_json::from_str::<Value>(&text).ok().filter(Value::is_number);
    map.insert(name.into(), value.unwrap_or(Value::String(text)));
}

/// What a setting is to be; none leaves it as it is, or at its default.
fn setting_value(setting: &Setting, form: &Form) -> Result<Option<Value>, &'static str> {
    let name = format!("settings.{}", setting.name);
    let choice = form.get(&secret_choice(&name)).unwrap_or_default();
    if setting.secret && choice == "clear" {
        return Ok(Some(Value::Null));
    }
    let value = match setting.kind {
        SettingType::Boolean => Some(form.ticked(&name).into()),
        SettingType::Map => {
            let rows = pairs(form, &name);
            if rows.iter().any(|(name, _)| name.is_empty()) {
                return Err("has a value without a name");
            }
            let map: Map<_, _> = rows
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
        // Blanks may belong to a secret.
        _ if setting.secret => form.get(&name).filter(|text| !text.is_empty()).map(Value::from),
        _ => form.text(&name).map(Value::from),
    };
    match (choice, &value) {
        ("replace", None) => Err("is to be replaced, but nothing was given to replace it"),
        // Without script the field is in sight whatever is chosen: who typed a new one may only have forgotten to say so.
        ("keep", Some(_)) => {
            Err("is to be kept, but a new one was given: choose Replace, or leave the field empty")
        }
        _ => Ok(value),
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
