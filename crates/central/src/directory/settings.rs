//! A setting by its dotted name.

use serde_json::{Map, Value};

/// Sets `a.b` inside the object under `a`.
pub fn put_setting(settings: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            settings.insert(name.into(), value);
        }
        Some((outer, inner)) => {
            let nested = settings.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(nested) = nested {
                put_setting(nested, inner, value);
            }
        }
    }
}

/// Finds `a.b` inside the object under `a`.
pub fn get_setting<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((outer, inner)) => get_setting(settings.get(outer)?.as_object()?, inner),
    }
}

/// Takes `a.b` out of the object under `a`.
pub fn take_setting(settings: &mut Map<String, Value>, name: &str) -> Option<Value> {
    match name.split_once('.') {
        None => settings.remove(name),
        Some((outer, inner)) => match settings.get_mut(outer) {
            Some(Value::Object(nested)) => take_setting(nested, inner),
            _ => None,
        },
    }
}
