//! What MSG91 is sent: one recipient per request, so that one request id is one message.

use super::Msg91;
use crate::kit::{ContentProblems, MessageData, Params, Phone, Sending, TemplateData, shown};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Msg91Data {
    template: TemplateData,
}

impl MessageData for Msg91Data {
    fn problems(&self, _: &Content, bad: &mut ContentProblems) {
        if self.template.name.trim().is_empty() {
            bad.data(
                "template.name",
                "is required: the text of an SMS by MSG91 is that of an approved template",
            );
        }
    }
}

pub(super) fn compose(msg91: &Msg91, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let nobody = || Failure::permanent(Scope::Message, "VALIDATION", "there is nobody to send it to");
    let to = sending.target.ok_or_else(nobody)?;
    let data: Msg91Data = sending.message.data()?;
    let template = msg91.templates.find(&data.template.name)?;
    let mut recipient = Map::new();
    match &data.template.params {
        Params::Listed(values) => {
            let numbered = values.iter().enumerate();
            recipient.extend(numbered.map(|(i, value)| (format!("VAR{}", i + 1), shown(value).into())));
        }
        Params::Named(values) => {
            recipient.extend(
                values
                    .iter()
                    .map(|(name, value)| (name.clone(), shown(value).into())),
            );
        }
    }
    // After the parameters: none of them can send it elsewhere.
    recipient.insert("mobiles".into(), Phone::of(to).digits.into());
    let mut asked = json!({
        "template_id": template.id,
        "short_url": "0",
        "recipients": [Value::Object(recipient)],
    });
    if let Some(sender) = template.sender.as_ref().or(msg91.sender.as_ref()) {
        asked["sender"] = sender.as_str().into();
    }
    msg91.endpoint.post_json(&asked)
}
