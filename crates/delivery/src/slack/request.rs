//! What Slack is sent.

use super::Slack;
use crate::kit::{MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::Failure;
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

impl MessageData for SlackData {}

pub(super) fn compose(slack: &Slack, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: SlackData = sending.message.data()?;
    let subject = escaped(fit(&sending.message.content.subject, MAX_SUBJECT_CHARS, Unit::Chars).trim());
    let bold = match subject.is_empty() {
        true => String::new(),
        false => format!("*{}*\n", subject.replace('*', "")),
    };
    let mut room = MAX_TEXT_CHARS.saturating_sub(Unit::Chars.count(&bold));
    let body = escaped(&sending.message.content.body);
    let body = match Unit::Chars.count(&body) <= room {
        true => body,
        // Cut before escaping, or half an entity might be left at the end.
        false => {
            room /= LONGEST_ENTITY;
            escaped(&fit(&sending.message.content.body, room, Unit::Chars))
        }
    };
    let mut asked = json!({"text": bold + &body});
    if !data.blocks.is_empty() {
        asked["blocks"] = data.blocks.into();
    }
    slack.endpoint.post_json(&asked)
}

/// `&amp;`
const LONGEST_ENTITY: usize = 5;

/// The three characters that Slack's markup wants escaped; a text cannot mention `<!everyone>` then.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_mentioned_by_a_text_and_no_markup_comes_of_it() {
        assert_eq!(escaped("<!everyone> R&D"), "&lt;!everyone&gt; R&amp;D");
    }
}
