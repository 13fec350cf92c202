//! What a template is called, and for whom and in which language one of its variants is.

use crate::{Channel, FieldError, field_error::FieldChecks, submission::limit};
use serde::{Deserialize, Serialize};

/// Which template a text belongs to, and which variant of it the text is. It never changes; a text for somebody else is
/// another variant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TemplateIdentity {
    pub event_type: String,
    pub channel: Channel,
    /// Tells several templates of one event and channel apart.
    pub name: String,
    /// None: for every language that has no variant of its own.
    pub language: Option<String>,
    /// None: for everything that has no variant of its own.
    pub scope: Option<TemplateScope>,
}

/// What a variant is for: with type `listing` and id `10`, events whose `listing.id` (or `listingId`) is 10.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateScope {
    pub scope_type: String,
    pub scope_id: String,
}

impl TemplateIdentity {
    /// The name of a template that was given none.
    pub const DEFAULT_NAME: &str = "default";

    /// Every field that is wrong, in the API's names.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        name(&mut bad, "eventType", &self.event_type);
        name(&mut bad, "name", &self.name);
        if let Some(language) = &self.language
            && canonical_language(language).as_ref() != Some(language)
        {
            bad.push("language", "must be a language like en, en-IN or hi");
        }
        if let Some(scope) = &self.scope {
            name(&mut bad, "scopeType", &scope.scope_type);
            name(&mut bad, "scopeId", &scope.scope_id);
        }
        bad.0
    }
}

impl AsRef<TemplateIdentity> for TemplateIdentity {
    fn as_ref(&self) -> &TemplateIdentity {
        self
    }
}

/// A text that names something.
fn name(bad: &mut FieldChecks, field: &str, value: &str) {
    if value.trim().is_empty() {
        bad.push(field, "must not be blank");
    } else if value.trim() != value || value.contains(char::is_control) {
        bad.push(field, "must be printable, without space around it");
    }
    bad.text(field, Some(value), limit::NAME);
}

/// The language in the one spelling it is stored and compared in: `en_in` is `en-IN`. None for what is no language.
pub fn canonical_language(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.trim().split(['-', '_']).collect();
    let sound =
        |part: &&str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let first = parts.first()?;
    let is_language = (2..=8).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_alphabetic());
    if !is_language || parts.len() > 4 || !parts.iter().all(sound) {
        return None;
    }
    let spelt = parts.iter().enumerate().map(|(i, part)| {
        let lower = part.to_ascii_lowercase();
        match (i, part.len()) {
            (1.., 2) => part.to_ascii_uppercase(),
            (1.., 4) => lower[..1].to_ascii_uppercase() + &lower[1..],
            _ => lower,
        }
    });
    Some(spelt.collect::<Vec<_>>().join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_one_spelling() {
        for (given, spelt) in [
            ("EN", "en"),
            ("en_in", "en-IN"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("de-1996", "de-1996"),
        ] {
            assert_eq!(canonical_language(given).as_deref(), Some(spelt));
        }
        for bad in [
            "",
            "e",
            "e n",
            "english language",
            "en-",
            "1en",
            "en-{{x}}",
            "a-b-c-d-e",
        ] {
            assert_eq!(canonical_language(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_bad_part_of_a_name_is_told_at_once() {
        let bad = TemplateIdentity {
            event_type: " ".into(),
            channel: Channel::Email,
            name: "a\nb".into(),
            language: Some("EN".into()),
            scope: Some(TemplateScope {
                scope_type: "listing ".into(),
                scope_id: "x".repeat(256),
            }),
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["eventType", "name", "language", "scopeType", "scopeId"]);
    }
}
