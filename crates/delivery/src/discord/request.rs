//! What Discord is sent.

use super::Discord;
use crate::kit::{
    ContentProblems, Markup, MessageData, Sending, Unit, fit, fit_plain, rich, subject_and_body,
};
use bytes::Bytes;
use domain::{Content, Failure};
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
    /// The body is Discord's Markdown and not plain text.
    markdown: bool,
}

impl MessageData for DiscordData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        match (self.embeds.is_empty(), self.markdown) {
            (false, _) => {}
            // Markdown is in the body alone.
            (true, true) => bad.blank_text(content),
            (true, false) => bad.blank_text_or_html(content),
        }
    }
}

pub(super) fn compose(discord: &Discord, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: DiscordData = sending.message.data()?;
    let content = &sending.message.content;
    let subject = fit(content.subject.trim(), MAX_SUBJECT, Unit::Utf16);
    let title = Markup::Discord.title(&subject);
    let room = MAX_CONTENT.saturating_sub(Unit::Utf16.count(&title) + 1);
    let html = content.body_html.as_deref().filter(|_| !data.markdown);
    let body = match html.and_then(|html| rich(html, room, Unit::Utf16, Markup::Discord)) {
        Some(body) => body,
        None if data.markdown => fit(&content.body, room, Unit::Utf16).into_owned(),
        None => fit_plain(&content.body, room, Unit::Utf16, Markup::Discord),
    };
    let mut asked = json!({
        "content": subject_and_body(&title, &body),
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
