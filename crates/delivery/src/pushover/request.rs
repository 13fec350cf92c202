//! What Pushover is sent.

use super::Pushover;
use crate::kit::{Sending, Unit, fit};
use bytes::Bytes;
use domain::{Failure, Scope};
use hyper::Request;
use serde::Deserialize;

const MAX_MESSAGE_CHARS: usize = 1024;
const MAX_TITLE_CHARS: usize = 250;
/// Of emergencies: the service repeats them until somebody acknowledges, not sooner and not for longer than this.
const MIN_REPEAT_SECONDS: u32 = 30;
const MAX_EXPIRE_SECONDS: u32 = 10_800;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PushoverData {
    /// From -2 (silent) to 2 (until acknowledged).
    priority: i8,
    /// Of priority 2: seconds between repeats, and until they end.
    retry: Option<u32>,
    expire: Option<u32>,
    sound: Option<String>,
    device: Option<String>,
    url: Option<String>,
    url_title: Option<String>,
    html: bool,
}

pub(super) fn compose(pushover: &Pushover, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: &str| Failure::permanent(Scope::Message, "VALIDATION", why);
    let data: PushoverData = sending.message.data()?;
    if !(-2..=2).contains(&data.priority) {
        return Err(unfit("data.priority must be from -2 to 2"));
    }
    let user = sending.target.or(pushover.user.as_deref());
    let user = user.ok_or_else(|| unfit("neither the message nor the provider's settings name a user"))?;
    let (subject, body) = (&sending.message.content.subject, &sending.message.content.body);
    // An empty message is refused.
    let text = if body.trim().is_empty() { subject } else { body };
    let mut fields = vec![
        ("token", pushover.token.clone()),
        ("user", user.to_owned()),
        ("message", fit(text, MAX_MESSAGE_CHARS, Unit::Chars).into_owned()),
        ("title", fit(subject, MAX_TITLE_CHARS, Unit::Chars).into_owned()),
        ("priority", data.priority.to_string()),
    ];
    if data.priority == 2 {
        let (retry, expire) = (data.retry.unwrap_or(60), data.expire.unwrap_or(3600));
        if retry < MIN_REPEAT_SECONDS || expire > MAX_EXPIRE_SECONDS {
            return Err(unfit("data.retry must be 30 or more, data.expire 10800 or less"));
        }
        fields.push(("retry", retry.to_string()));
        fields.push(("expire", expire.to_string()));
    }
    // Cut markup would be shown as text, so it goes out only where it fits.
    if data.html && Unit::Chars.count(text) <= MAX_MESSAGE_CHARS {
        fields.push(("html", "1".into()));
    }
    for (name, value) in [
        ("sound", data.sound),
        ("device", data.device),
        ("url", data.url),
        ("url_title", data.url_title),
    ] {
        fields.extend(value.map(|value| (name, value)));
    }
    // Taken off the devices again when its time is over; emergencies end by their own time.
    if let Some(left) = sending.seconds_left().filter(|_| data.priority < 2) {
        fields.push(("ttl", left.to_string()));
    }
    fields.retain(|(_, value)| !value.is_empty());
    Ok(pushover.endpoint.post_form(fields))
}
