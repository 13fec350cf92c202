//! What Pushbullet is sent.

use super::Pushbullet;
use crate::kit::{MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::Failure;
use hyper::Request;
use serde::Deserialize;
use serde_json::json;

/// No limit is documented; longer texts have been seen to be refused.
const MAX_BODY_CHARS: usize = 4096;
const MAX_TITLE_CHARS: usize = 256;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PushbulletData {
    /// Makes it a link.
    url: Option<String>,
}

impl MessageData for PushbulletData {}

pub(super) fn compose(pushbullet: &Pushbullet, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: PushbulletData = sending.message.data()?;
    let mut push = json!({
        "type": "note",
        "title": fit(&sending.message.content.subject, MAX_TITLE_CHARS, Unit::Chars),
        "body": fit(&sending.message.content.body, MAX_BODY_CHARS, Unit::Chars),
        // A push with a guid that was taken before is not made again.
        "guid": sending.repeat_id(),
    });
    if let Some(url) = data.url {
        push["type"] = "link".into();
        push["url"] = url.into();
    }
    if let Some(target) = sending.target.or(pushbullet.target.as_deref()) {
        let (field, value) = match target.strip_prefix('#') {
            Some(tag) => ("channel_tag", tag),
            None if target.contains('@') => ("email", target),
            None => ("device_iden", target),
        };
        push[field] = value.into();
    }
    pushbullet.endpoint.post_json(&push)
}
