//! What a flow is sent: one Adaptive Card.

use super::Teams;
use crate::kit::{ContentProblems, Markup, MessageData, Sending, Unit, fit, fit_plain, rich};
use bytes::Bytes;
use domain::{Content, Failure};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Teams takes about 28 KB; practice has seen less.
const MAX_CARD_BYTES: usize = 25_000;
const MAX_TITLE_BYTES: usize = 1_000;
/// What buttons may take of that, as they are written into the card.
const MAX_ACTIONS_BYTES: usize = 10_000;
/// However little is left, some of the text is shown.
const MIN_TEXT_BYTES: usize = 200;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TeamsData {
    /// Buttons that open a page.
    actions: Vec<Action>,
    /// The body is a card's Markdown and not plain text.
    markdown: bool,
}

#[derive(Debug, Deserialize)]
struct Action {
    title: String,
    url: String,
}

impl MessageData for TeamsData {
    fn problems(&self, _: &Content, bad: &mut ContentProblems) {
        if json!(buttons(&self.actions)).to_string().len() > MAX_ACTIONS_BYTES {
            bad.data(
                "actions",
                format!(
                    "must not take more than {MAX_ACTIONS_BYTES} bytes: a card has {MAX_CARD_BYTES} in all"
                ),
            );
        }
    }
}

pub(super) fn compose(teams: &Teams, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: TeamsData = sending.message.data()?;
    let content = &sending.message.content;
    let title = fit(&content.subject, MAX_TITLE_BYTES, Unit::Bytes);
    let title = Markup::Teams.escaped(&title);
    let mut room = MAX_CARD_BYTES;
    loop {
        let card = card(&title, &body(content, data.markdown, room), &data.actions);
        let request = teams.endpoint.post_json(&card)?;
        // Escapes make a text longer, so what is cut is found by trying.
        if request.body().len() <= MAX_CARD_BYTES || room < MIN_TEXT_BYTES {
            return Ok(request);
        }
        room = room * 3 / 4;
    }
}

fn body(content: &Content, is_markdown: bool, room: usize) -> String {
    if is_markdown {
        return fit(&content.body, room, Unit::Bytes).into_owned();
    }
    let html = content.body_html.as_deref();
    let body = html.and_then(|html| rich(html, room, Unit::Bytes, Markup::Teams));
    body.unwrap_or_else(|| fit_plain(&content.body, room, Unit::Bytes, Markup::Teams))
}

fn buttons(actions: &[Action]) -> Vec<Value> {
    let open = |a: &Action| json!({"type": "Action.OpenUrl", "title": a.title, "url": a.url});
    actions.iter().map(open).collect()
}

fn card(title: &str, body: &str, actions: &[Action]) -> Value {
    let heading = json!({"type": "TextBlock", "text": title, "weight": "Bolder", "size": "Medium", "wrap": true, "style": "heading"});
    let text = json!({"type": "TextBlock", "text": body, "wrap": true});
    let blocks: Vec<Value> = [(title, heading), (body, text)]
        .into_iter()
        .filter(|(text, _)| !text.is_empty())
        .map(|(_, block)| block)
        .collect();
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": null,
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width": "Full"},
            "body": blocks,
            "actions": buttons(actions),
        },
    }]})
}
