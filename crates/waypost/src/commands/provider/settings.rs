//! `name=value`, by itself or behind `--set`: settings of a provider as they are written on a command line.
//!
//! Always true: a secret is never taken from the command line itself, where other users and the shell's history see
//! it: `name=@FILE` reads it, `name=-` asks for it, `name=` removes it. Of URLs, which are secrets for what they may
//! hold, those are taken that visibly hold neither a password nor a query.

use crate::{exit::usage, output::ask};
use client::{ProviderKind, Setting};
use serde_json::{Map, Value};
use std::{io::IsTerminal, path::Path};

/// The settings that these pairs say, typed as the kind wants them.
pub fn read(kind: &ProviderKind, pairs: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut settings = Map::new();
    for pair in pairs {
        let Some((name, given)) = pair.split_once('=') else {
            return Err(usage(format!(
                "{pair:?} is not a setting; write it like host=mail.example.com"
            )));
        };
        let Some(setting) = find(kind, name) else {
            let known: Vec<_> = kind.settings.iter().map(|s| s.name.as_str()).collect();
            return Err(usage(format!(
                "{} has no setting {name:?}; it has {}",
                kind.kind,
                known.join(", ")
            )));
        };
        let value = if setting.secret {
            secret(setting, name, given)?
        } else {
            typed(setting, name, &plain(name, given)?)?
        };
        put(&mut settings, name, value);
    }
    Ok(settings)
}

/// `headers.X-Team` belongs to the map `headers`.
fn find<'a>(kind: &'a ProviderKind, name: &str) -> Option<&'a Setting> {
    let exact = kind.settings.iter().find(|s| s.name == name);
    exact.or_else(|| {
        let (outer, _) = name.split_once('.')?;
        kind.settings.iter().find(|s| s.name == outer && s.kind == "map")
    })
}

/// Asks for the secrets that are kept but would be sent elsewhere, if there is somebody to ask.
pub fn ask_again(
    kind: &ProviderKind,
    current: &Map<String, Value>,
    settings: &mut Map<String, Value>,
) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    for setting in kind.settings.iter().filter(|s| s.secret) {
        let kept = get(settings, &setting.name);
        let kept = kept.is_some() && kept == get(current, &setting.name);
        let moved = |name: &String| get(current, name) != get(settings, name);
        if kept && setting.sent_to.iter().any(moved) {
            let again = Value::String(ask::secret(&setting.name)?);
            put(settings, &setting.name, again);
        }
    }
    Ok(())
}

fn secret(setting: &Setting, name: &str, given: &str) -> anyhow::Result<Value> {
    match (given, given.strip_prefix('@')) {
        ("", _) => Ok(Value::Null),
        ("-", _) => ask::secret(name).map(Value::String),
        (_, Some(file)) => Ok(Value::String(read_file(file)?)),
        (url, None) if setting.kind == "url" && !url.contains(['@', '?']) => Ok(Value::from(url)),
        _ => Err(usage(format!(
            "{name} is a secret and does not belong on a command line: write {name}=@FILE, or {name}=- to be asked"
        ))),
    }
}

/// A certificate is as welcome from a file as a secret is.
fn plain(name: &str, given: &str) -> anyhow::Result<String> {
    match given.strip_prefix('@') {
        Some(file) => read_file(file).map_err(|e| e.context(format!("the setting {name}"))),
        None => Ok(given.to_owned()),
    }
}

fn read_file(file: &str) -> anyhow::Result<String> {
    let text =
        std::fs::read_to_string(Path::new(file)).map_err(|e| usage(format!("cannot read {file}: {e}")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

pub fn typed(setting: &Setting, name: &str, text: &str) -> anyhow::Result<Value> {
    let wrong = |takes: &str| usage(format!("{name} takes {takes}, not {text:?}"));
    match setting.kind.as_str() {
        "number" => {
            let whole = text.parse::<i64>().map(Value::from);
            whole
                .or_else(|_| text.parse::<f64>().map(Value::from))
                .map_err(|_| wrong("a number"))
        }
        "boolean" => text
            .parse::<bool>()
            .map(Value::from)
            .map_err(|_| wrong("true or false")),
        "choice" => match &setting.choices {
            Some(choices) if !choices.iter().any(|c| c == text) => Err(wrong(&choices.join(", "))),
            _ => Ok(Value::from(text)),
        },
        "map" if name == setting.name => serde_json::from_str::<Map<String, Value>>(text)
            .map(Value::from)
            .map_err(|_| wrong("a JSON object")),
        _ => Ok(Value::from(text)),
    }
}

pub fn put(settings: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            settings.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let nested = settings.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(nested) = nested {
                put(nested, inner, value);
            }
        }
    }
}

pub fn get<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((outer, inner)) => get(settings.get(outer)?.as_object()?, inner),
    }
}

/// Lays `changes` over what is there, object by object. Of names and values that are kept as one secret none can be
/// changed alone: what the others are is not shown, and they would be gone.
pub fn merge(into: &mut Map<String, Value>, changes: Map<String, Value>) -> anyhow::Result<()> {
    for (name, value) in changes {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new)?,
            (Some(Value::String(_)), Value::Object(_)) => {
                return Err(usage(format!(
                    "{name} is kept as one secret, so that one of them cannot be changed alone: \
                     give all of them as a JSON object, {name}=@FILE"
                )));
            }
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind() -> ProviderKind {
        let setting = |name: &str, kind: &str, secret: bool| json!({"name": name, "type": kind, "choices": null, "required": true, "secret": secret, "default": null, "help": ""});
        serde_json::from_value(json!({
            "kind": "smtp", "type": "Email", "title": "x",
            "settings": [
                setting("host", "text", false), setting("port", "number", false), setting("password", "text", true),
                setting("oauth.tokenUrl", "text", false), setting("headers", "map", false), setting("url", "url", true),
            ],
        }))
        .unwrap()
    }

    #[test]
    fn settings_are_typed_and_nested_as_their_names_say() {
        let pairs = [
            "host=127.0.0.1",
            "port=25",
            "oauth.tokenUrl=https://x",
            "headers.X-Team=ops",
        ]
        .map(String::from);
        let expected = json!({
            "host": "127.0.0.1", "port": 25, "oauth": {"tokenUrl": "https://x"}, "headers": {"X-Team": "ops"},
        });
        assert_eq!(Value::Object(read(&kind(), &pairs).unwrap()), expected);
    }

    #[test]
    fn a_secret_on_the_command_line_is_refused_without_repeating_it() {
        let error = read(&kind(), &["password=hunter2".into()])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("password=@FILE") && !error.contains("hunter2"),
            "{error}"
        );
    }

    #[test]
    fn a_url_is_taken_unless_it_visibly_holds_a_secret() {
        let read = |pair: &str| read(&kind(), &[pair.to_owned()]).map(Value::Object);
        let plain = read("url=https://example.com/hook").unwrap();
        assert_eq!(plain, json!({"url": "https://example.com/hook"}));
        for holding in [
            "url=https://u:hunter2@example.com/",
            "url=https://example.com/?key=hunter2",
        ] {
            let error = read(holding).unwrap_err().to_string();
            assert!(
                error.contains("url=@FILE") && !error.contains("hunter2"),
                "{error}"
            );
        }
    }

    #[test]
    fn nothing_after_the_equals_sign_removes_a_secret() {
        let removed = read(&kind(), &["password=".into()]).unwrap();
        assert_eq!(Value::Object(removed), json!({"password": null}));
    }

    #[test]
    fn one_of_several_that_are_kept_as_one_secret_is_not_changed_at_the_price_of_the_others() {
        let map = |value: Value| value.as_object().unwrap().clone();
        let one = || map(json!({"headers": {"X-Team": "ops"}}));
        let mut kept = map(json!({"url": "https://x/•••", "headers": "•••"}));
        let error = merge(&mut kept, one()).unwrap_err().to_string();
        assert!(error.contains("headers=@FILE"), "{error}");
        assert_eq!(kept["headers"], "•••");
        merge(&mut kept, map(json!({"headers": "{\"X-Team\": \"ops\"}"}))).unwrap();
        let mut none = Map::new();
        merge(&mut none, one()).unwrap();
        assert_eq!(none, one());
        let mut shown = map(json!({"headers": {"X-Shift": "late"}}));
        merge(&mut shown, one()).unwrap();
        assert_eq!(
            Value::Object(shown),
            json!({"headers": {"X-Shift": "late", "X-Team": "ops"}})
        );
    }

    #[test]
    fn a_setting_the_kind_does_not_have_is_named() {
        assert!(
            read(&kind(), &["hots=x".into()])
                .unwrap_err()
                .to_string()
                .contains("hots")
        );
        assert!(
            read(&kind(), &["port=many".into()])
                .unwrap_err()
                .to_string()
                .contains("a number")
        );
    }
}
