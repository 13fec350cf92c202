//! What Slack is sent.

use super::Slack;
use crate::kit::{
    ContentProblems, Markup, MessageData, Sending, Unit, fit, fit_plain, rich, subject_and_body,
};
use bytes::Bytes;
use domain::{Content, Failure};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Slack takes about 40,000; what escaping adds counts too.
const MAX_TEXT_CHARS: usize = 35_000;
const MAX_SUBJECT_CHARS: usize = 1_000;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SlackData {
    /// Block Kit, shown instead of the text.
    blocks: Vec<Value>,
}

impl MessageData for SlackData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        if self.blocks.is_empty() {
            bad.blank_text_or_html(content);
        }
    }
}

pub(super) fn compose(slack: &Slack, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: SlackData = sending.message.data()?;
    let content = &sending.message.content;
    let title = Markup::Slack.title(&fit(&content.subject, MAX_SUBJECT_CHARS, Unit::Chars));
    let room = MAX_TEXT_CHARS.saturating_sub(Unit::Chars.count(&title) + 1);
    let html = content.body_html.as_deref();
    let body = html.and_then(|html| rich(html, room, Unit::Chars, Markup::Slack));
    // A text cannot mention `<!everyone>` then.
    let body = body.unwrap_or_else(|| fit_plain(&content.body, room, Unit::Chars, Markup::Slack));
    let mut asked = json!({"text": subject_and_body(&title, &body)});
    if !data.blocks.is_empty() {
        asked["blocks"] = data.blocks.into();
    }
    slack.endpoint.post_json(&asked)
}
