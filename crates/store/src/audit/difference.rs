//! What a change changed, in words for the log: before and after. Of a secret only whether it is another one.

use crate::directory::NewProvider;
use domain::{Channel, Recipient};
use serde_json::Value;
use std::fmt::Write;

/// The longest text, in characters; the rest is told as how many more there are.
const MAX_TOLD: usize = 2_000;
/// The longest value that is told whole.
const MAX_VALUE: usize = 120;

/// Pieces that are told one after the other until there is no more room.
#[derive(Default)]
pub(super) struct ChangeText {
    text: String,
    left_out: usize,
}

impl ChangeText {
    pub(super) fn add(&mut self, piece: impl AsRef<str>) {
        let piece = piece.as_ref();
        if self.text.chars().count() + piece.chars().count() > MAX_TOLD {
            self.left_out += 1;
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("; ");
        }
        self.text.push_str(piece);
    }

    pub(super) fn after(self, word: &str) -> String {
        let mut all = match self.text.is_empty() {
            true => word.to_owned(),
            false => format!("{word}: {}", self.text),
        };
        if self.left_out > 0 {
            let _ = write!(all, "; and {} more", self.left_out);
        }
        all
    }
}

/// Who came, who went, who was switched on or off or renamed.
pub(crate) fn of_list(before: &[Recipient], after: &[Recipient]) -> String {
    let same =
        |one: &Recipient, other: &Recipient| one.address == other.address && channel(one) == channel(other);
    let mut told = ChangeText::default();
    for gone in before
        .iter()
        .filter(|one| !after.iter().any(|other| same(one, other)))
    {
        told.add(format!("{} taken off", name(gone)));
    }
    for one in after {
        let Some(was) = before.iter().find(|other| same(one, other)) else {
            told.add(format!("{} put on", name(one)));
            continue;
        };
        if was.enabled != one.enabled {
            let now = if one.enabled { "on" } else { "off" };
            told.add(format!("{} switched {now}", name(one)));
        }
        if was.name != one.name {
            let called = |one: &Recipient| one.name.clone().unwrap_or_else(|| "no name".into());
            told.add(format!(
                "{} renamed: {} → {}",
                one.address,
                called(was),
                called(one)
            ));
        }
    }
    told.after("changed")
}

fn channel(one: &Recipient) -> Channel {
    one.channel.unwrap_or(Channel::Email)
}

fn name(one: &Recipient) -> String {
    match channel(one) {
        Channel::Email => one.address.clone(),
        other => format!("{} ({other})", one.address),
    }
}

/// Each setting that is another one.
pub(crate) fn of_provider(before: Option<&NewProvider>, after: &NewProvider) -> String {
    let Some(before) = before else {
        return format!("created: {}", after.kind);
    };
    let mut told = ChangeText::default();
    let mut value = |what: &str, was: String, is: String| {
        if was != is {
            told.add(format!("{what}: {} → {}", cut(&was), cut(&is)));
        }
    };
    value("name", before.name.clone(), after.name.clone());
    value("kind", before.kind.clone(), after.kind.clone());
    value("enabled", before.enabled.to_string(), after.enabled.to_string());
    value("order", before.order.to_string(), after.order.to_string());
    value(
        "onAmbiguous",
        before.on_ambiguous.as_str().into(),
        after.on_ambiguous.as_str().into(),
    );
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    for (what, was, is) in [
        (
            "retry",
            json(serde_json::to_value(&before.retry)),
            json(serde_json::to_value(&after.retry)),
        ),
        (
            "limits",
            json(serde_json::to_value(&before.limits)),
            json(serde_json::to_value(&after.limits)),
        ),
        (
            "",
            Value::Object(before.settings.clone()),
            Value::Object(after.settings.clone()),
        ),
    ] {
        let (Value::Object(was), Value::Object(is)) = (was, is) else {
            continue;
        };
        let mut names: Vec<_> = was.keys().chain(is.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let what = if what.is_empty() {
                name.clone()
            } else {
                format!("{what}.{name}")
            };
            value(&what, shown(was.get(name)), shown(is.get(name)));
        }
    }
    let mut secrets: Vec<_> = before.secrets.keys().chain(after.secrets.keys()).collect();
    secrets.sort_unstable();
    secrets.dedup();
    for name in secrets {
        match (before.secrets.get(name), after.secrets.get(name)) {
            (None, Some(_)) => told.add(format!("{name} (secret) set")),
            (Some(_), None) => told.add(format!("{name} (secret) removed")),
            (was, is) if was != is => told.add(format!("{name} (secret) changed")),
            _ => told.add(format!("{name} (secret) unchanged")),
        }
    }
    told.after("changed")
}

pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".into(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_VALUE {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_VALUE - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(address: &str) -> Recipient {
        Recipient {
            name: None,
            address: address.into(),
            channel: None,
            enabled: true,
        }
    }

    #[test]
    fn who_came_and_went_and_was_switched_is_told() {
        let off = Recipient {
            enabled: false,
            ..one("carl@x.example")
        };
        let before = [one("ann@x.example"), one("carl@x.example")];
        let after = [off, one("bea@x.example")];
        assert_eq!(
            of_list(&before, &after),
            "changed: ann@x.example taken off; carl@x.example switched off; bea@x.example put on"
        );
        assert_eq!(of_list(&before, &before), "changed");
    }

    #[test]
    fn a_long_change_is_told_up_to_a_bound() {
        let many: Vec<_> = (0..1000)
            .map(|n| one(&format!("somebody-{n}@example.com")))
            .collect();
        let told = of_list(&[], &many);
        assert!(told.chars().count() < MAX_TOLD + 100, "{}", told.len());
        assert!(told.contains(" more"), "{told}");
    }
}
