//! What an Apprise API server is sent.

use super::Apprise;
use crate::kit::{ContentProblems, MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::{Content, Failure};
use hyper::Request;
use serde::Deserialize;
use serde_json::json;

/// Apprise cuts or splits for the service behind it; this only bounds what is carried there.
const MAX_BODY_CHARS: usize = 32_000;
const MAX_TITLE_CHARS: usize = 1_000;

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AppriseData {
    /// `info`, `success`, `warning`, `failure`.
    r#type: Option<String>,
    /// `text`, `markdown`, `html`.
    format: Option<String>,
}

impl MessageData for AppriseData {
    fn problems(&self, _: &Content, bad: &mut ContentProblems) {
        let unknown = |given: &Option<String>, known: &[&str]| {
            given.as_deref().is_some_and(|word| !known.contains(&word))
        };
        if unknown(&self.r#type, &["info", "success", "warning", "failure"]) {
            bad.data("type", "must be info, success, warning or failure");
        }
        if unknown(&self.format, &["text", "markdown", "html"]) {
            bad.data("format", "must be text, markdown or html");
        }
    }
}

pub(super) fn compose(apprise: &Apprise, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let data: AppriseData = sending.message.data()?;
    let kind = data.r#type.as_deref().unwrap_or("info");
    let content = &sending.message.content;
    // Apprise makes of HTML what the service behind it shows. Cut, it would end in half a tag.
    let html = content.body_html.as_deref().filter(|_| data.format.is_none());
    let html = html.filter(|html| Unit::Chars.count(html) <= MAX_BODY_CHARS);
    let (format, body) = match (html, data.format.as_deref()) {
        (Some(html), _) => ("html", html),
        (None, format) => (format.unwrap_or("text"), content.body.as_str()),
    };
    let mut asked = json!({
        "title": fit(&content.subject, MAX_TITLE_CHARS, Unit::Chars),
        "body": fit(body, MAX_BODY_CHARS, Unit::Chars),
        "type": kind,
        "format": format,
    });
    if let Some(target) = &apprise.target {
        asked["urls"] = target.as_str().into();
    }
    if let Some(tag) = &apprise.tag {
        asked["tag"] = tag.as_str().into();
    }
    apprise.endpoint.post_json(&asked)
}
