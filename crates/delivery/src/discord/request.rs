//! What Discord is sent.

use super::Discord;
use crate::kit::{MessageData, Sending, Unit, fit, subject_and_body};
use bytes::Bytes;
use domain::Failure;
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Counted in UTF-16 units to be on the safe side: no other count is higher.
const MAX_CONTENT: usize = 2000;
const MAX_SUBJECT: usize = 256;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiscordData {
    embeds: Vec<Value>,
}

impl MessageData for DiscordData {}

pub(super) fn compose(discord: &Discord, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: DiscordData = sending.message.data()?;
    let subject = fit(sending.message.content.subject.trim(), MAX_SUBJECT, Unit::Utf16);
    let bold = match subject.is_empty() {
        true => String::new(),
        false => format!("**{}**", subject.replace('*', "")),
    };
    let content = subject_and_body(&bold, &sending.message.content.body);
    let mut asked = json!({
        "content": fit(&content, MAX_CONTENT, Unit::Utf16),
        // Otherwise a text that contains @everyone would call everyone.
        "allowed_mentions": {"parse": []},
    });
    if !data.embeds.is_empty() {
        asked["embeds"] = data.embeds.into();
    }
    if let Some(username) = &discord.username {
        asked["username"] = username.as_str().into();
    }
    discord.endpoint.post_json(&asked)
}
