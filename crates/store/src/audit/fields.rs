//! Which fields of a definition a change changed, before and after; and what is changed, in words.

use super::difference::{ChangeText, cut, shown};
use domain::template::TemplateIdentity;
use domain::{Channel, EventType, TemplateId};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every field that is another one, by its path.
pub(crate) fn of_fields<T: Serialize>(word: &str, before: &T, after: &T) -> String {
    let (before, after) = (flat(before), flat(after));
    let mut names: Vec<_> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut told = ChangeText::default();
    for name in names {
        let (was, is) = (shown(before.get(name)), shown(after.get(name)));
        if was != is {
            told.add(format!("{name}: {} → {}", cut(&was), cut(&is)));
        }
    }
    told.after(word)
}

pub(crate) fn of_event_type(before: Option<&EventType>, after: &EventType) -> String {
    match before {
        Some(before) => of_fields("changed", before, after),
        None => "created".to_owned(),
    }
}

/// Over what and about what nobody writes to an address any more, or does again.
pub(crate) fn of_suppression(word: &str, channel: Option<Channel>, topic: Option<&str>) -> String {
    let over = channel.map_or_else(|| "every channel".to_owned(), |channel| channel.to_string());
    format!("{word}: {over}, about {}", topic.unwrap_or("everything"))
}

/// A template as people know it; its number last.
pub(crate) fn template_named(identity: &TemplateIdentity, id: TemplateId) -> String {
    let mut name = format!("{}, {}", identity.event_type, identity.channel);
    if identity.name != "default" {
        name.push_str(&format!(", {}", identity.name));
    }
    if let Some(language) = &identity.language {
        name.push_str(&format!(", {language}"));
    }
    if let Some(scope) = &identity.scope {
        name.push_str(&format!(", {} {}", scope.scope_type, scope.scope_id));
    }
    format!("{name} (template {id})")
}

fn flat<T: Serialize>(value: &T) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    collect(
        String::new(),
        serde_json::to_value(value).unwrap_or_default(),
        &mut all,
    );
    all
}

fn collect(path: String, value: Value, all: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = match path.is_empty() {
                    true => name,
                    false => format!("{path}.{name}"),
                };
                collect(path, value, all);
            }
        }
        Value::Null => {}
        value => {
            all.insert(path, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_that_changed_are_told_before_and_after_and_no_others() {
        let before =
            json!({"dedupe": "entity", "addresses": {"Email": "guest.mail"}, "required": ["guest.name"]});
        let after = json!({"dedupe": "event", "addresses": {"Email": "guest.mail", "Sms": "guest.phone"}, "required": []});
        assert_eq!(
            of_fields("changed", &before, &after),
            "changed: addresses.Sms: nothing → guest.phone; dedupe: entity → event; required: [\"guest.name\"] → []"
        );
        assert_eq!(of_fields("changed", &before, &before), "changed");
    }

    #[test]
    fn a_template_is_named_by_what_it_is_for() {
        let mut identity = TemplateIdentity {
            event_type: "booking.confirmed".into(),
            channel: Channel::Email,
            name: "default".into(),
            language: None,
            scope: None,
        };
        assert_eq!(
            template_named(&identity, TemplateId(2)),
            "booking.confirmed, Email (template 2)"
        );
        identity.language = Some("de".into());
        identity.name = "reminder".into();
        assert_eq!(
            template_named(&identity, TemplateId(2)),
            "booking.confirmed, Email, reminder, de (template 2)"
        );
    }
}
