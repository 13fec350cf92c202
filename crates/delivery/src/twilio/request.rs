//! What Twilio is sent.

use super::{Sender, Twilio};
use crate::kit::{ContentProblems, MessageData, Sending, Unit, fit, subject_and_body};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;

const MAX_BODY_CHARS: usize = 1600;
/// Ten hours is also the longest that Twilio keeps a message in its queue.
const MAX_VALIDITY_SECONDS: u64 = 36_000;

/// Nothing in the data is for Twilio, but what cannot be read is told all the same.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TwilioData {}

impl MessageData for TwilioData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        bad.blank_text(content);
    }
}

pub(super) fn compose(twilio: &Twilio, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let nobody = || Failure::permanent(Scope::Message, "VALIDATION", "there is nobody to send it to");
    let to = sending.target.ok_or_else(nobody)?;
    let content = &sending.message.content;
    let text = subject_and_body(&content.subject, &content.body);
    let mut fields = vec![
        ("To", to.to_owned()),
        match &twilio.sender {
            Sender::Number(from) => ("From", from.clone()),
            Sender::Service(service) => ("MessagingServiceSid", service.clone()),
        },
        ("Body", fit(&text, MAX_BODY_CHARS, Unit::Chars).into_owned()),
    ];
    fields.extend(sending.own_callback_url().map(|url| ("StatusCallback", url)));
    if let Some(left) = sending.seconds_left() {
        fields.push(("ValidityPeriod", left.min(MAX_VALIDITY_SECONDS).to_string()));
    }
    Ok(twilio.endpoint.post_form(fields))
}
