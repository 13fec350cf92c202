//! One setting of a kind, described once: forms, prompts, checks and values are made of it.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// One setting of a kind. Nested ones are named with a dot: `oauth.tokenUrl`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    pub name: &'static str,
    /// In words, where the name itself says too little.
    #[serde(skip)]
    label: Option<&'static str>,
    #[serde(rename = "type")]
    pub kind: SettingType,
    pub required: bool,
    /// Write-only: sealed in the store, masked on the way out. Of a secret URL the scheme, host and port are shown.
    pub secret: bool,
    /// Of a secret: the settings that decide who gets to see it, or what was made with it. When one of them changes, the
    /// secret has to be given again.
    pub sent_to: &'static [&'static str],
    /// Of use only with this choice made elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    pub help: &'static str,
    /// How a value looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<&'static str>,
}

/// A choice that another setting depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct When {
    pub setting: &'static str,
    /// One of these.
    pub is: &'static [&'static str],
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingType {
    Text,
    /// An http:// or https:// address.
    Url,
    Number,
    Boolean,
    Duration,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Names and values.
    Map,
}

impl Setting {
    fn new(name: &'static str, kind: SettingType, help: &'static str) -> Self {
        Self {
            name,
            label: None,
            kind,
            required: false,
            secret: false,
            sent_to: &[],
            when: None,
            default: None,
            help,
            example: None,
        }
    }

    pub fn text(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Text, help)
    }

    pub fn url(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Url, help)
    }

    pub fn number(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Number, help)
    }

    pub fn boolean(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Boolean, help)
    }

    pub fn duration(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Duration, help)
    }

    pub fn choice(name: &'static str, words: &'static [&'static str], help: &'static str) -> Self {
        Self::new(name, SettingType::Choice(words), help)
    }

    pub fn map(name: &'static str, help: &'static str) -> Self {
        Self::new(name, SettingType::Map, help)
    }

    pub fn example(self, example: &'static str) -> Self {
        Self {
            example: Some(example),
            ..self
        }
    }

    /// What people call it, instead of its name in words.
    pub fn called(self, label: &'static str) -> Self {
        Self {
            label: Some(label),
            ..self
        }
    }

    pub fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    pub fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// A secret that goes where these settings say.
    pub fn secret_sent_to(self, settings: &'static [&'static str]) -> Self {
        Self {
            secret: true,
            sent_to: settings,
            ..self
        }
    }

    /// Of use only where another setting has been chosen to be one of these.
    pub fn only_when(self, setting: &'static str, is: &'static [&'static str]) -> Self {
        Self {
            when: Some(When { setting, is }),
            ..self
        }
    }

    /// The value where none is given.
    pub fn or(self, default: impl Into<Value>) -> Self {
        Self {
            default: Some(default.into()),
            ..self
        }
    }

    /// What people call it: `messagingServiceSid` is "Messaging service SID".
    pub fn label(&self) -> Cow<'static, str> {
        self.label
            .map_or_else(|| Cow::Owned(in_words(self.name)), Cow::Borrowed)
    }
}

fn in_words(name: &str) -> String {
    let mut words: Vec<String> = vec![];
    for part in name.split('.') {
        words.push(String::new());
        for c in part.chars() {
            if c.is_uppercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
    }
    let known = |word: String| match word.as_str() {
        "url" | "api" | "id" | "sid" | "tls" => word.to_uppercase(),
        "oauth" => "OAuth".into(),
        _ => word,
    };
    let text = words.into_iter().map(known).collect::<Vec<_>>().join(" ");
    let mut rest = text.chars();
    match rest.next() {
        Some(first) => first.to_uppercase().chain(rest).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_words_unless_somebody_has_found_better_ones() {
        for (name, label) in [
            ("host", "Host"),
            ("chatId", "Chat ID"),
            ("oauth.tokenUrl", "OAuth token URL"),
            ("messagingServiceSid", "Messaging service SID"),
        ] {
            assert_eq!(Setting::text(name, "").label(), label);
        }
        assert_eq!(
            Setting::text("caPem", "").called("Certificate authority").label(),
            "Certificate authority"
        );
    }
}
