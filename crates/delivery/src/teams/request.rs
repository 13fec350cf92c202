//! What a flow is sent: one Adaptive Card.

use super::Teams;
use crate::kit::{MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::Failure;
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Teams takes about 28 KB; practice has seen less.
const MAX_CARD_BYTES: usize = 25_000;
const MAX_TITLE_BYTES: usize = 1_000;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TeamsData {
    /// Buttons that open a page.
    actions: Vec<Action>,
}

#[derive(Debug, Deserialize)]
struct Action {
    title: String,
    url: String,
}

impl MessageData for TeamsData {}

pub(super) fn compose(teams: &Teams, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: TeamsData = sending.message.data()?;
    let content = &sending.message.content;
    let title = fit(&content.subject, MAX_TITLE_BYTES, Unit::Bytes);
    let mut room = MAX_CARD_BYTES;
    loop {
        let request = teams.endpoint.post_json(&card(
            &title,
            &fit(&content.body, room, Unit::Bytes),
            &data.actions,
        ))?;
        // Escapes make a text longer, so what is cut is found by trying.
        if request.body().len() <= MAX_CARD_BYTES || room < 1_000 {
            return Ok(request);
        }
        room = room * 3 / 4;
    }
}

fn card(title: &str, body: &str, actions: &[Action]) -> Value {
    let heading = json!({"type": "TextBlock", "text": title, "weight": "Bolder", "size": "Medium", "wrap": true, "style": "heading"});
    let text = json!({"type": "TextBlock", "text": body, "wrap": true});
    let blocks: Vec<Value> = [(title, heading), (body, text)]
        .into_iter()
        .filter(|(text, _)| !text.is_empty())
        .map(|(_, block)| block)
        .collect();
    let open = |a: &Action| json!({"type": "Action.OpenUrl", "title": a.title, "url": a.url});
    let actions: Vec<Value> = actions.iter().map(open).collect();
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": null,
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width": "Full"},
            "body": blocks,
            "actions": actions,
        },
    }]})
}
