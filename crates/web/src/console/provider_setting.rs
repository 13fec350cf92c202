//! A field of a provider's form, made from what its kind says of one setting.

use super::provider_fields::{Drawn, FormField, Keeping, Needed};
use delivery::{KindInfo, Setting, SettingType};
use serde_json::{Map, Value};

/// Empty rows for names and values, where no script can add some.
const BLANK_ROWS: usize = 2;

/// `stored` are the settings as they may be shown.
pub fn field(info: &KindInfo, setting: &Setting, stored: Option<&Map<String, Value>>) -> FormField {
    let found = stored.and_then(|settings| find(settings, setting.name));
    let default = setting.default.as_ref().map(text).unwrap_or_default();
    let drawn = drawn(setting);
    let value = match (drawn, found) {
        _ if setting.secret => String::new(),
        (_, Some(value)) => text(value),
        // A choice shows its default as chosen, a line as what it would be.
        (Drawn::Choice | Drawn::Tick, None) => default.clone(),
        (_, None) => String::new(),
    };
    let kept = found.filter(|_| setting.secret);
    let choices = match setting.kind {
        SettingType::Choice(words) => words,
        _ => &[],
    };
    let needed = setting.when.map(|when| Needed {
        field: format!("settings.{}", when.setting),
        label: label_of(info, when.setting),
        is: when.is,
    });
    let name = format!("settings.{}", setting.name);
    FormField {
        key: Some(setting.name),
        choices: choices.to_vec(),
        required: setting.required,
        secret: setting.secret,
        kept: kept.map(|shown| Keeping::of(shown.as_str())),
        placeholder: default,
        rows: blank_rows(match (found, setting.secret) {
            (Some(Value::Object(map)), false) => map.iter().map(|(n, v)| (n.clone(), text(v))).collect(),
            _ => vec![],
        }),
        needed,
        ..FormField::new(&name, &setting.label(), &help(setting), drawn, value)
    }
}

/// A few more than there are.
pub fn blank_rows(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    rows.extend(std::iter::repeat_n(Default::default(), BLANK_ROWS));
    rows
}

fn drawn(setting: &Setting) -> Drawn {
    match setting.kind {
        SettingType::Map => Drawn::Pairs,
        // Nobody types an address blindly.
        SettingType::Url => Drawn::Line,
        _ if setting.secret => Drawn::Password,
        SettingType::Text if setting.name.ends_with("Pem") => Drawn::Text,
        SettingType::Text | SettingType::Duration => Drawn::Line,
        SettingType::Number => Drawn::Number,
        SettingType::Boolean => Drawn::Tick,
        SettingType::Choice(_) => Drawn::Choice,
    }
}

fn help(setting: &Setting) -> String {
    let mut help = setting.help.to_owned();
    if setting.secret && setting.kind != SettingType::Url {
        help.push_str(" Never shown again.");
    }
    if let Some(example) = setting.example {
        help.push_str(" Example: ");
        help.push_str(example);
    }
    help
}

fn label_of(info: &KindInfo, name: &str) -> String {
    let found = info.settings.iter().find(|setting| setting.name == name);
    found.map_or_else(|| name.to_owned(), |setting| setting.label().into_owned())
}

/// `oauth.tokenUrl` is `tokenUrl` inside `oauth`.
fn find<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((outer, inner)) => find(settings.get(outer)?.as_object()?, inner),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Object(_) => String::new(),
        other => other.to_string(),
    }
}
