//! What Telegram is sent.

use super::Telegram;
use crate::kit::{ContentProblems, Markup, MessageData, Sending, Unit, fit, rich, subject_and_body};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// In UTF-16 units, as entities are counted too.
const MAX_TEXT: usize = 4096;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TelegramData {
    /// The body is markup of this kind.
    parse_mode: Option<String>,
    message_thread_id: Option<i64>,
    disable_notification: bool,
    link_preview: bool,
}

const PARSE_MODES: [(&str, Markup); 3] = [
    ("HTML", Markup::Html),
    ("MarkdownV2", Markup::TelegramMarkdown),
    ("Markdown", Markup::TelegramOldMarkdown),
];

impl TelegramData {
    fn parse_mode(&self) -> Option<(&'static str, Markup)> {
        let given = self.parse_mode.as_deref()?;
        PARSE_MODES
            .into_iter()
            .find(|(mode, _)| mode.eq_ignore_ascii_case(given))
    }
}

impl MessageData for TelegramData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        match self.parse_mode {
            Some(_) => bad.blank_text(content),
            None => bad.blank_text_or_html(content),
        }
        if self.parse_mode.is_some() && self.parse_mode().is_none() {
            bad.data("parseMode", "must be HTML, MarkdownV2 or Markdown");
        }
    }
}

pub(super) fn compose(telegram: &Telegram, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: &str| Failure::permanent(Scope::Message, "VALIDATION", why);
    let data: TelegramData = sending.message.data()?;
    let chat = sending.target.or(telegram.chat.as_deref());
    let chat = chat.ok_or_else(|| unfit("neither the message nor the provider's settings name a chat"))?;
    let (subject, body) = (&sending.message.content.subject, &sending.message.content.body);
    let mut asked = json!({
        "chat_id": chat.parse::<i64>().map_or_else(|_| json!(chat), Value::from),
        "disable_notification": data.disable_notification,
        "link_preview_options": {"is_disabled": !data.link_preview},
    });
    if let Some(thread) = data.message_thread_id {
        asked["message_thread_id"] = thread.into();
    }
    match marked_up(&sending.message.content, &data) {
        Some((mode, text)) => {
            asked["parse_mode"] = mode.into();
            asked["text"] = text.into();
        }
        None => {
            let whole = subject_and_body(subject, body);
            asked["text"] = fit(&whole, MAX_TEXT, Unit::Utf16).into();
            // A blank subject is left out.
            let bold = match subject.trim().is_empty() {
                true => 0,
                false => Unit::Utf16.count(subject),
            };
            if bold > 0 && bold < MAX_TEXT / 2 {
                asked["entities"] = json!([{"type": "bold", "offset": 0, "length": bold}]);
            }
        }
    }
    telegram.endpoint.post_json(&asked)
}

/// The text as markup, with its title above it, and what it is to be read as.
fn marked_up(content: &Content, data: &TelegramData) -> Option<(&'static str, String)> {
    let whole = |markup: Markup, body: &str| subject_and_body(&markup.title(&content.subject), body);
    if let Some((mode, markup)) = data.parse_mode() {
        let text = whole(markup, &content.body);
        // What somebody else has marked up is never cut: half a tag would be refused. It goes out as the plain text that it is.
        return (Unit::Utf16.count(&text) <= MAX_TEXT).then_some((mode, text));
    }
    let html = content.body_html.as_deref()?;
    let title = Unit::Utf16.count(&Markup::Html.title(&content.subject));
    let room = MAX_TEXT
        .checked_sub(title + 1)
        .filter(|room| *room > MAX_TEXT / 2)?;
    let body = rich(html, room, Unit::Utf16, Markup::Html)?;
    Some(("HTML", whole(Markup::Html, &body)))
}
