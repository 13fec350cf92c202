//! What one variant of a template says, and what is wrong with it.

use super::{
    DateAs, Payload,
    date::{self, RAW},
    limit, payload,
    placeholder::{Placeholder, placeholders},
};
use crate::{Channel, FieldError, ProviderId, field_error::FieldChecks, submission};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Everything about a variant that a save can change; each save is a version of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateContent {
    pub subject: Option<String>,
    pub body: String,
    pub body_html: Option<String>,
    /// Whose value is the address, instead of the one the event type names.
    pub to: Option<String>,
    pub provider_id: Option<ProviderId>,
    pub provider_template: Option<ProviderTemplate>,
    /// Otherwise the tenant's.
    pub date_format: Option<String>,
    pub date_as: Option<DateAs>,
    /// The zone of moments: its name, or a placeholder for it.
    pub zone: Option<String>,
    /// An inactive variant takes part in nothing.
    pub active: bool,
}

/// A template that the service has approved, and what fills it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderTemplate {
    /// What the provider's settings call it.
    pub name: String,
    pub language: Option<String>,
    /// In the service's order: the name of a value, or a text with placeholders.
    pub params: Vec<String>,
    /// Under which the text is registered with India's operators.
    pub dlt_id: Option<String>,
}

impl TemplateContent {
    /// Every field that is wrong, in the API's names. Empty means it can be stored.
    pub fn problems(&self, channel: Channel) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        bad.text("subject", self.subject.as_deref(), submission::limit::SUBJECT);
        bad.bytes("body", Some(&self.body), limit::BODY);
        if self.body.trim().is_empty() && self.provider_template.is_none() {
            bad.push("body", "must not be blank");
        }
        bad.bytes("bodyHtml", self.body_html.as_deref(), limit::BODY);
        if self.body_html.is_some() && channel != Channel::Email {
            bad.push("bodyHtml", "is for e-mail only");
        }
        if let Some(to) = &self.to {
            bad.text("to", Some(to), limit::SHORT);
            if !channel.takes_recipients() {
                bad.push(
                    "to",
                    format!("{channel} messages go where the provider's settings say"),
                );
            } else if to.trim().is_empty() {
                bad.push("to", "must not be blank");
            }
        }
        let provider = self.provider_id.as_ref().map(ProviderId::as_str);
        bad.text("providerId", provider, submission::limit::NAME);
        if let Some(template) = &self.provider_template {
            template.check(&mut bad);
        }
        if let Some(problem) = self.date_format.as_deref().and_then(date::format_problem) {
            bad.push("dateFormat", problem);
        }
        if let Some(zone) = &self.zone {
            bad.text("zone", Some(zone), limit::SHORT);
            if !zone.contains("{{") && date::zone(zone).is_none() {
                bad.push(
                    "zone",
                    "must be a zone like Asia/Kolkata, or a placeholder for one",
                );
            }
        }
        for (field, found) in self.placeholders() {
            if let Some(format) = found.format.filter(|format| *format != RAW)
                && let Some(problem) = date::format_problem(format)
            {
                bad.push(&field, format!("{}: the format {problem}", found.whole));
            }
        }
        bad.0.truncate(limit::WARNINGS);
        bad.0
    }

    /// The names of all values it uses, each once, in the order of the alphabet.
    pub fn names(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self
            .placeholders()
            .map(|(_, found)| found.name.to_owned())
            .collect();
        let params = self.provider_template.iter().flat_map(|t| &t.params);
        let bare = params.chain(&self.to).filter(|text| !text.contains("{{"));
        names.extend(bare.cloned());
        names
    }

    /// A sentence for each name that is none of those that are known.
    pub fn unknown_placeholders(&self, known: &Payload) -> Vec<String> {
        let names = self.names().into_iter().filter(|name| !known.knows(name));
        names
            .take(limit::WARNINGS)
            .map(|name| match nearest(&name, known) {
                Some(near) => format!("{{{{{name}}}}} is not known; is {{{{{near}}}}} meant?"),
                None => format!("{{{{{name}}}}} is not known"),
            })
            .collect()
    }

    /// Every placeholder and the field it stands in.
    fn placeholders(&self) -> impl Iterator<Item = (String, Placeholder<'_>)> {
        let texts = [
            ("subject", self.subject.as_deref()),
            ("body", Some(self.body.as_str())),
            ("bodyHtml", self.body_html.as_deref()),
            ("to", self.to.as_deref()),
            ("zone", self.zone.as_deref()),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(field, text)| Some((field.to_owned(), text?)));
        let params = self
            .provider_template
            .iter()
            .flat_map(|t| t.params.iter().enumerate());
        let params = params.map(|(i, text)| (format!("providerTemplate.params[{i}]"), text.as_str()));
        texts
            .chain(params)
            .flat_map(|(field, text)| placeholders(text).map(move |found| (field.clone(), found)))
    }
}

impl ProviderTemplate {
    fn check(&self, bad: &mut FieldChecks) {
        if self.name.trim().is_empty() {
            bad.push("providerTemplate.name", "must not be blank");
        }
        let name = submission::limit::NAME;
        bad.text("providerTemplate.name", Some(&self.name), name);
        bad.text("providerTemplate.language", self.language.as_deref(), name);
        bad.text("providerTemplate.dltId", self.dlt_id.as_deref(), name);
        if self.params.len() > limit::PARAMS {
            bad.push(
                "providerTemplate.params",
                format!("must be at most {}", limit::PARAMS),
            );
        }
        for (i, param) in self.params.iter().enumerate().take(limit::PARAMS) {
            let field = format!("providerTemplate.params[{i}]");
            bad.text(&field, Some(param), limit::SHORT);
            if param.trim().is_empty() {
                bad.push(&field, "must not be blank");
            }
        }
    }
}

/// The known name that differs least from this one, if it differs little.
fn nearest<'a>(name: &str, known: &'a Payload) -> Option<&'a str> {
    let name = payload::normal(name);
    let names = known
        .names()
        .take(limit::PARAMS * 4)
        .map(|near| (distance(&name, &payload::normal(near)), near));
    names
        .filter(|(distance, _)| *distance <= 2 && *distance * 2 < name.chars().count())
        .min()
        .map(|(_, near)| near)
}

/// How many letters have to be changed, added or taken away.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 8 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> TemplateContent {
        TemplateContent {
            subject: Some("Booking {{bookingId}}".into()),
            body: "Dear {{guestName}}, see you on {{checkinDate | %d %B}}.".into(),
            active: true,
            ..TemplateContent::default()
        }
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let bad = TemplateContent {
            body: " ".into(),
            body_html: Some("<p>".into()),
            to: Some(String::new()),
            date_format: Some("dd-MM".into()),
            zone: Some("Mars/Olympus".into()),
            subject: Some("{{x | yyyy}}".into()),
            ..content()
        };
        let fields: Vec<_> = bad.problems(Channel::Sms).into_iter().map(|p| p.field).collect();
        assert_eq!(
            fields,
            ["body", "bodyHtml", "to", "dateFormat", "zone", "subject"]
        );
        let approved = TemplateContent {
            body: String::new(),
            provider_template: Some(ProviderTemplate {
                params: vec![" ".into()],
                ..ProviderTemplate::default()
            }),
            ..content()
        };
        let fields: Vec<_> = approved
            .problems(Channel::WhatsApp)
            .into_iter()
            .map(|p| p.field)
            .collect();
        assert_eq!(fields, ["providerTemplate.name", "providerTemplate.params[0]"]);
        assert!(content().problems(Channel::Email).is_empty());
    }

    #[test]
    fn an_unknown_placeholder_is_told_with_the_name_that_was_probably_meant() {
        let known = Payload::read(r#"{"bookingId": 1, "guest": {"name": "x"}, "checkInDate": 2}"#).unwrap();
        assert!(content().unknown_placeholders(&known).is_empty());
        let columns = Payload::read(r#"{"booking_id": 1, "guest_name": "x", "checkin_date": 2}"#).unwrap();
        assert!(content().unknown_placeholders(&columns).is_empty());
        let odd = TemplateContent {
            body: "{{guestNmae}} {{weather}} {{guestNmae}}".into(),
            to: Some("guestFax".into()),
            ..content()
        };
        assert_eq!(
            odd.unknown_placeholders(&known),
            [
                "{{guestFax}} is not known",
                "{{guestNmae}} is not known; is {{guest.name}} meant?",
                "{{weather}} is not known",
            ]
        );
    }
}
