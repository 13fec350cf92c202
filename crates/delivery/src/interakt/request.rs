//! What Interakt is sent: a template, or a text inside the day after the recipient's last message.

use super::Interakt;
use crate::kit::{
    ContentProblems, Header, MessageData, Params, Phone, Sending, TemplateData, Unit, fit, shown,
    subject_and_body,
};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const MAX_TEXT_CHARS: usize = 4096;
const DEFAULT_LANGUAGE: &str = "en";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InteraktData {
    template: Option<TemplateData>,
}

impl MessageData for InteraktData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        match &self.template {
            Some(template) if template.name.trim().is_empty() => {
                bad.data("template.name", "is required in a template");
            }
            Some(_) => {}
            None => bad.blank_text(content),
        }
    }
}

pub(super) fn compose(interakt: &Interakt, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let nobody = || Failure::permanent(Scope::Message, "VALIDATION", "there is nobody to send it to");
    let (country, national) = Phone::of(sending.target.ok_or_else(nobody)?).split();
    let data: InteraktData = sending.message.data()?;
    let mut asked = json!({
        "countryCode": format!("+{country}"),
        "phoneNumber": national,
        // Comes back with each receipt.
        "callbackData": sending.repeat_id(),
    });
    match data.template {
        Some(wanted) => {
            asked["type"] = "Template".into();
            asked["template"] = template(interakt, &wanted)?;
        }
        None => {
            let content = &sending.message.content;
            let text = subject_and_body(&content.subject, &content.body);
            asked["type"] = "Text".into();
            asked["data"] = json!({"message": fit(&text, MAX_TEXT_CHARS, Unit::Chars)});
        }
    }
    interakt.endpoint.post_json(&asked)
}

fn template(interakt: &Interakt, wanted: &TemplateData) -> Result<Value, Failure> {
    let template = interakt.templates.find(&wanted.name)?;
    let language = wanted.language.clone().or(template.language);
    // Its templates know places, not names: named values go in the order of their names.
    let values: Vec<String> = match &wanted.params {
        Params::Listed(values) => values.iter().map(shown).collect(),
        Params::Named(values) => values.values().map(shown).collect(),
    };
    let mut asked = json!({
        "name": template.id,
        "languageCode": language.unwrap_or_else(|| DEFAULT_LANGUAGE.into()),
        "bodyValues": values,
    });
    if let Some(header) = &wanted.header {
        asked["headerValues"] = json!([header.value()]);
        if let Header::Document { file_name, .. } = header {
            asked["fileName"] = file_name.as_str().into();
        }
    }
    if !wanted.buttons.is_empty() {
        let buttons = wanted.buttons.iter().enumerate();
        let buttons: Map<String, Value> = buttons
            .map(|(i, value)| (i.to_string(), json!([value])))
            .collect();
        asked["buttonValues"] = buttons.into();
    }
    Ok(asked)
}
