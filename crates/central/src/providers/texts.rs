//! Texts among a provider's settings that no database of ours could store.

use domain::FieldError;
use serde_json::{Map, Value};

/// Each setting whose value, or whose name, has a NUL. Kinds look only at what they need; PostgreSQL looks at all of it.
pub(super) fn nul_problems(settings: &Map<String, Value>) -> Vec<FieldError> {
    let mut bad = vec![];
    look_into(settings, "settings", &mut bad);
    bad
}

fn look_into(map: &Map<String, Value>, place: &str, bad: &mut Vec<FieldError>) {
    for (name, value) in map {
        if name.contains('\0') {
            bad.push(FieldError::new(place, "has a name with a NUL character in it"));
        } else {
            look_at(value, &format!("{place}.{name}"), bad);
        }
    }
}

fn look_at(value: &Value, place: &str, bad: &mut Vec<FieldError>) {
    match value {
        Value::String(text) if text.contains('\0') => {
            bad.push(FieldError::new(place, "must not contain a NUL character"));
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                look_at(item, &format!("{place}[{i}]"), bad);
            }
        }
        Value::Object(map) => look_into(map, place, bad),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_nul_is_found_wherever_it_hides_in_the_settings() {
        let given = json!({
            "host": "mail.example", "port": 25, "username": "a\0b",
            "oauth": {"tokenUrl": "\0"}, "headers": {"X\0": "1"}, "to": ["a", "b\0"],
        });
        let mut named: Vec<_> = nul_problems(given.as_object().unwrap())
            .into_iter()
            .map(|p| p.field)
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [
                "settings.headers",
                "settings.oauth.tokenUrl",
                "settings.to[1]",
                "settings.username"
            ]
        );
    }
}
