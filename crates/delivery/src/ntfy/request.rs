//! What ntfy is sent.

use super::Ntfy;
use crate::kit::{ContentProblems, MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longer ones become an attachment.
const MAX_MESSAGE_BYTES: usize = 4096;
const MAX_TITLE_BYTES: usize = 256;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct NtfyData {
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    click: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attach: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    markdown: bool,
}

#[derive(Serialize)]
struct Publish<'a> {
    topic: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    message: &'a str,
    /// Servers from 2.16 on replace a message by another of the same sequence; older ones ignore it.
    sequence_id: String,
    #[serde(flatten)]
    data: NtfyData,
}

impl MessageData for NtfyData {
    fn problems(&self, _: &Content, bad: &mut ContentProblems) {
        if self.priority.is_some_and(|p| !(1..=5).contains(&p)) {
            bad.data("priority", "must be from 1 to 5");
        }
    }
}

pub(super) fn compose(ntfy: &Ntfy, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: &str| Failure::permanent(Scope::Message, "VALIDATION", why);
    let data: NtfyData = sending.message.data()?;
    let topic = sending.target.or(ntfy.topic.as_deref());
    let topic = topic.ok_or_else(|| unfit("neither the message nor the provider's settings name a topic"))?;
    ntfy.endpoint.post_json(&Publish {
        topic,
        title: &fit(&sending.message.content.subject, MAX_TITLE_BYTES, Unit::Bytes),
        message: &fit(&sending.message.content.body, MAX_MESSAGE_BYTES, Unit::Bytes),
        sequence_id: sending.message.id.to_string(),
        data,
    })
}
