//! Fills a variant with the values of an event.

use super::{
    DateAs, DateStyle, Payload, TemplateContent, TemplateIdentity,
    date::{self, RAW},
    placeholder::{Piece, Placeholder, pieces},
};
use crate::{Content, Target, submission::limit};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeSet, str::FromStr};

/// What stands where a value is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingPlaceholder {
    #[default]
    Empty,
    /// The placeholder itself.
    Keep,
}

impl FromStr for MissingPlaceholder {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "empty" => Ok(Self::Empty),
            "keep" => Ok(Self::Keep),
            _ => Err("must be empty or keep"),
        }
    }
}

/// What configuration and tenant say about rendering; a template's own words come first.
#[derive(Debug, Clone, Default)]
pub struct RenderStyle {
    pub missing: MissingPlaceholder,
    pub date: DateStyle,
}

/// A variant with its values put in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    pub subject: String,
    pub body: String,
    pub body_html: Option<String>,
    /// What the channel's kinds know as `data`: the service's own template with its values.
    pub type_data: Option<String>,
    /// The address, if the variant says whose it is and there is a value.
    pub to: Option<String>,
    /// A sentence for each value that was missing, and for a zone that there is not.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error("filled in, {field} is longer than {limit} bytes")]
    TooLong { field: &'static str, limit: usize },
}

/// What a value must not do where it is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// One line: a subject, a parameter.
    Line,
    Html,
}

impl TemplateContent {
    /// Fills it in. A value is never looked at for placeholders; in HTML it is text, whatever it contains.
    pub fn render(&self, values: &Payload, style: &RenderStyle) -> Result<Rendered, RenderError> {
        let mut filler = Filler {
            values,
            missing: style.missing,
            date: style.date.clone(),
            lacking: BTreeSet::new(),
        };
        let bad_zone = filler.take_date_style(self);
        let mut subject = filler.fill("subject", self.subject.as_deref().unwrap_or(""), Escape::Line)?;
        if let Some((end, _)) = subject.char_indices().nth(limit::SUBJECT) {
            subject.truncate(end);
        }
        let body = filler.fill("body", &self.body, Escape::None)?;
        let html = self.body_html.as_deref();
        let body_html = html
            .map(|html| filler.fill("bodyHtml", html, Escape::Html))
            .transpose()?;
        let to = match &self.to {
            Some(to) => Some(filler.named("to", to)?).filter(|to| !to.is_empty()),
            None => None,
        };
        let type_data = self.type_data(&mut filler)?;
        let lacking = filler
            .lacking
            .iter()
            .map(|name| format!("{{{{{name}}}}} has no value"));
        Ok(Rendered {
            subject,
            body,
            body_html,
            type_data,
            to,
            warnings: lacking.chain(bad_zone).collect(),
        })
    }

    /// `data.template` as the WhatsApp and SMS kinds take it.
    fn type_data(&self, filler: &mut Filler<'_>) -> Result<Option<String>, RenderError> {
        let Some(template) = &self.provider_template else {
            return Ok(None);
        };
        let params: Result<Vec<_>, _> = template
            .params
            .iter()
            .map(|param| filler.named("params", param))
            .collect();
        let mut data = json!({"name": template.name, "params": params?});
        if let Some(language) = &template.language {
            data["language"] = language.as_str().into();
        }
        if let Some(id) = &template.dlt_id {
            data["dltId"] = id.as_str().into();
        }
        let data = json!({"template": data}).to_string();
        bounded("params", data, limit::TYPE_DATA).map(Some)
    }
}

impl Rendered {
    /// The content of a notification of this variant to these addresses; about what, and when, is the caller's.
    pub fn into_content(self, identity: &TemplateIdentity, of: &TemplateContent, to: Vec<String>) -> Content {
        let target = match identity.channel.takes_recipients() && !to.is_empty() {
            true => Target::Recipients(to),
            false => Target::Provider,
        };
        Content {
            channel: Some(identity.channel),
            provider: of.provider_id.clone(),
            target,
            subject: self.subject,
            body: self.body,
            body_html: self.body_html,
            type_data: self.type_data,
            ..Content::default()
        }
    }
}

struct Filler<'a> {
    values: &'a Payload,
    missing: MissingPlaceholder,
    date: DateStyle,
    lacking: BTreeSet<String>,
}

impl Filler<'_> {
    /// A template's own words about dates. Answers with a sentence about a zone that there is not.
    fn take_date_style(&mut self, content: &TemplateContent) -> Option<String> {
        if let Some(format) = &content.date_format {
            self.date.format.clone_from(format);
        }
        self.date.meaning = content.date_as.unwrap_or(self.date.meaning);
        let named = content.zone.as_deref()?;
        let name = self.fill("zone", named, Escape::Line).ok()?;
        match date::zone(name.trim()) {
            Some(zone) => self.date.zone = zone,
            None if self.date.meaning == DateAs::Instant => {
                return Some(format!("there is no zone {name:?}"));
            }
            None => {}
        }
        None
    }

    /// The value of this name, or the text with its placeholders filled in: on one line, because neither an address nor a
    /// parameter may have more.
    fn named(&mut self, field: &'static str, text: &str) -> Result<String, RenderError> {
        let filled = match text.contains("{{") {
            true => self.fill(field, text, Escape::Line)?,
            false => {
                let whole = format!("{{{{{text}}}}}");
                self.fill(field, &whole, Escape::Line)?
            }
        };
        Ok(filled.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn fill(&mut self, field: &'static str, text: &str, escape: Escape) -> Result<String, RenderError> {
        let mut filled = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder(found) => self.put(&mut filled, found, escape),
            }
            if filled.len() > limit::BODY {
                return bounded(field, filled, limit::BODY);
            }
        }
        Ok(filled)
    }

    fn put(&mut self, filled: &mut String, found: Placeholder<'_>, escape: Escape) {
        let Some(value) = self.values.get(found.name) else {
            self.lacking.insert(found.name.to_owned());
            if self.missing == MissingPlaceholder::Keep {
                filled.push_str(found.whole);
            }
            return;
        };
        let date = match found.format {
            Some(RAW) => None,
            format => self.date.shown(value, format),
        };
        let value = date.as_deref().unwrap_or(value);
        match escape {
            Escape::None => filled.push_str(value),
            Escape::Line => filled.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c })),
            Escape::Html => push_html(filled, value),
        }
    }
}

fn bounded(field: &'static str, text: String, limit: usize) -> Result<String, RenderError> {
    match text.len() > limit {
        true => Err(RenderError::TooLong { field, limit }),
        false => Ok(text),
    }
}

/// The value as text in an element or in a quoted attribute.
fn push_html(filled: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '&' => filled.push_str("&amp;"),
            '<' => filled.push_str("&lt;"),
            '>' => filled.push_str("&gt;"),
            '"' => filled.push_str("&quot;"),
            '\'' => filled.push_str("&#39;"),
            c => filled.push(c),
        }
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
