//! What Meta is sent: a template, or a text inside the day after the recipient's last message.

use super::Meta;
use crate::kit::{
    ContentProblems, Header, MessageData, Params, Phone, Sending, TemplateData, Unit, fit, shown,
    subject_and_body,
};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_TEXT_CHARS: usize = 4096;
const DEFAULT_LANGUAGE: &str = "en_US";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MetaData {
    template: Option<TemplateData>,
}

impl MessageData for MetaData {
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

pub(super) fn compose(meta: &Meta, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let nobody = || Failure::permanent(Scope::Message, "VALIDATION", "there is nobody to send it to");
    let to = Phone::of(sending.target.ok_or_else(nobody)?);
    let data: MetaData = sending.message.data()?;
    let mut asked = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": to.digits,
        // Comes back with each receipt.
        "biz_opaque_callback_data": sending.repeat_id(),
    });
    match data.template {
        Some(wanted) => {
            let template = meta.templates.find(&wanted.name)?;
            let language = wanted.language.clone().or(template.language);
            let language = language.unwrap_or_else(|| DEFAULT_LANGUAGE.into());
            asked["type"] = "template".into();
            asked["template"] = json!({
                "name": template.id, "language": {"code": language}, "components": components(&wanted),
            });
        }
        None => {
            let content = &sending.message.content;
            let text = subject_and_body(&content.subject, &content.body);
            asked["type"] = "text".into();
            asked["text"] = json!({"preview_url": false, "body": fit(&text, MAX_TEXT_CHARS, Unit::Chars)});
        }
    }
    meta.endpoint.post_json(&asked)
}

fn components(wanted: &TemplateData) -> Vec<Value> {
    let text = |value: &Value| json!({"type": "text", "text": shown(value)});
    let header = wanted.header.as_ref().map(|header| {
        let mut parameter = json!({"type": header.kind()});
        parameter[header.kind()] = match header {
            Header::Text(text) => json!(text),
            Header::Document { url, file_name } => json!({"link": url, "filename": file_name}),
            other => json!({"link": other.value()}),
        };
        json!({"type": "header", "parameters": [parameter]})
    });
    let parameters: Vec<Value> = match &wanted.params {
        Params::Listed(values) => values.iter().map(text).collect(),
        Params::Named(values) => values
            .iter()
            .map(|(name, value)| json!({"type": "text", "parameter_name": name, "text": shown(value)}))
            .collect(),
    };
    let body = (!parameters.is_empty()).then(|| json!({"type": "body", "parameters": parameters}));
    let buttons = wanted.buttons.iter().enumerate().map(|(i, value)| {
        json!({"type": "button", "sub_type": "url", "index": i.to_string(),
            "parameters": [{"type": "text", "text": value}]})
    });
    header.into_iter().chain(body).chain(buttons).collect()
}
