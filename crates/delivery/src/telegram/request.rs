//! What Telegram is sent.

use super::Telegram;
use crate::kit::{MessageData, Sending, Unit, fit, subject_and_body};
use bytes::Bytes;
use domain::{Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// In UTF-16 units, as entities are counted too.
const MAX_TEXT: usize = 4096;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TelegramData {
    /// The body is markup of this kind: `HTML`, `MarkdownV2`.
    parse_mode: Option<String>,
    message_thread_id: Option<i64>,
    disable_notification: bool,
    link_preview: bool,
}

impl MessageData for TelegramData {}

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
    match data.parse_mode {
        // Markup is never cut: half a tag would be refused. A longer one goes out as the plain text that it is.
        Some(mode) if Unit::Utf16.count(body) <= MAX_TEXT => {
            asked["parse_mode"] = mode.into();
            asked["text"] = body.as_str().into();
        }
        _ => {
            let whole = subject_and_body(subject, body);
            asked["text"] = fit(&whole, MAX_TEXT, Unit::Utf16).into();
            let bold = Unit::Utf16.count(subject);
            if bold > 0 && bold < MAX_TEXT / 2 {
                asked["entities"] = json!([{"type": "bold", "offset": 0, "length": bold}]);
            }
        }
    }
    telegram.endpoint.post_json(&asked)
}
