//! What Pushover is sent.

use super::Pushover;
use crate::kit::{ContentProblems, Markup, MessageData, Sending, Unit, fit, rich};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
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
pub(super) struct PushoverData {
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

impl MessageData for PushoverData {
    fn problems(&self, content: &Content, bad: &mut ContentProblems) {
        if !(-2..=2).contains(&self.priority) {
            bad.data("priority", "must be from -2 to 2");
        }
        let emergency = self.priority == 2;
        if emergency && self.retry.is_some_and(|seconds| seconds < MIN_REPEAT_SECONDS) {
            bad.data("retry", format!("must be {MIN_REPEAT_SECONDS} seconds or more"));
        }
        if emergency && self.expire.is_some_and(|seconds| seconds > MAX_EXPIRE_SECONDS) {
            bad.data("expire", format!("must be {MAX_EXPIRE_SECONDS} seconds or less"));
        }
        match self.html {
            // The body itself is HTML then, and `bodyHtml` is not looked at.
            true => bad.blank_text(content),
            false => bad.blank_text_or_html(content),
        }
    }
}

pub(super) fn compose(pushover: &Pushover, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: &str| Failure::permanent(Scope::Message, "VALIDATION", why);
    let data: PushoverData = sending.message.data()?;
    let user = sending.target.or(pushover.user.as_deref());
    let user = user.ok_or_else(|| unfit("neither the message nor the provider's settings name a user"))?;
    let (subject, body) = (&sending.message.content.subject, &sending.message.content.body);
    // An empty message is refused.
    let text = if body.trim().is_empty() { subject } else { body };
    // Cut markup would be shown as text, so what is somebody else's goes out only where it fits.
    let marked_up = match (data.html, &sending.message.content.body_html) {
        (true, _) => Some(text.clone()).filter(|text| Unit::Chars.count(text) <= MAX_MESSAGE_CHARS),
        (false, Some(html)) => rich(html, MAX_MESSAGE_CHARS, Unit::Chars, Markup::Html),
        (false, None) => None,
    };
    let is_html = marked_up.is_some();
    let message = marked_up.unwrap_or_else(|| fit(text, MAX_MESSAGE_CHARS, Unit::Chars).into_owned());
    let mut fields = vec![
        ("token", pushover.token.clone()),
        ("user", user.to_owned()),
        ("message", message),
        ("title", fit(subject, MAX_TITLE_CHARS, Unit::Chars).into_owned()),
        ("priority", data.priority.to_string()),
    ];
    if data.priority == 2 {
        let (retry, expire) = (data.retry.unwrap_or(60), data.expire.unwrap_or(3600));
        // Nobody is to be called for what no longer matters.
        let expire = sending
            .seconds_left()
            .map_or(expire.into(), |left| left.min(expire.into()));
        fields.push(("retry", retry.to_string()));
        fields.push(("expire", expire.to_string()));
        // Only emergencies can be acknowledged.
        fields.extend(sending.own_callback_url().map(|url| ("callback", url)));
    }
    if is_html {
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
    // Taken off the devices again when its time is over; emergencies end by `expire`.
    if let Some(left) = sending.seconds_left().filter(|_| data.priority < 2) {
        fields.push(("ttl", left.to_string()));
    }
    fields.retain(|(_, value)| !value.is_empty());
    Ok(pushover.endpoint.post_form(fields))
}
