//! One request and what came back of it: the step that all HTTP adapters share.

use super::{Client, Meaning, Response, retry_after};
use crate::{
    adapter::Deadline,
    redact::{MASK, Redactor, cut},
    transcript::{MAX_RAW_BYTES, Recorder},
};
use bytes::Bytes;
use domain::{Accepted, Failure, Timestamp};
use http_body_util::BodyExt;
use hyper::{HeaderMap, Request, StatusCode};
use serde::de::DeserializeOwned;
use std::{borrow::Cow, sync::Arc, time::Duration};
use tokio::time::timeout_at;

/// The most that is read of an answer where nobody asked for more, in bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The most that is kept of a far end's id of a message.
const MAX_ID_BYTES: usize = 200;

/// No service's quota takes longer to come back than a month.
const MAX_WAIT_SECONDS: u64 = 31 * 86_400;

/// What a far end answered. The body has a bound; the status has decided even where the body breaks off.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// False: there was more, or it broke off.
    pub whole: bool,
    /// How long the far end asks us to wait.
    pub retry_after: Option<Duration>,
}

impl Answer {
    pub fn text(&self) -> Cow<'_, str> {
        readable(&self.body)
    }

    /// The body, where it is JSON of this shape.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// `404 Not Found: no such hook`, for people.
    pub fn words(&self) -> String {
        let text = self.text();
        let reason = self.status.canonical_reason().unwrap_or("");
        let said = text.trim();
        let parts = [
            self.status.as_str(),
            if reason.is_empty() { "" } else { " " },
            reason,
            if said.is_empty() { "" } else { ": " },
            said,
        ];
        parts.concat()
    }

    /// Seconds until the moment that a header names in seconds since 1970; a minute where it names none.
    pub fn seconds_until(&self, header: &str, now: Timestamp) -> u64 {
        let moment: Option<u64> = self.header(header).and_then(|value| value.trim().parse().ok());
        let Some(moment) = moment else { return 60 };
        let now = u64::try_from(now.as_millis() / 1000).unwrap_or_default();
        moment.saturating_sub(now).clamp(1, MAX_WAIT_SECONDS)
    }

    /// It was taken, by a service that gives no ids.
    pub fn taken(&self) -> Accepted {
        Accepted {
            provider_message_id: None,
            detail: Some(self.words()),
        }
    }

    /// It was taken, under this id. Where the answer should have had an id and has none, the far end is not what it should
    /// be, or the answer broke off: then nobody knows whether it was taken.
    pub fn accepted(&self, id: Option<String>) -> Result<Accepted, Failure> {
        match id {
            Some(id) => Ok(Accepted {
                provider_message_id: Some(cut(&id, MAX_ID_BYTES).to_owned()),
                detail: None,
            }),
            None => Err(self.failure(Meaning::unknown(), None)),
        }
    }

    async fn read(response: Response, deadline: Deadline, now: Timestamp, longest: usize) -> Self {
        let (parts, mut coming) = response.into_parts();
        let mut body = vec![];
        let reading = async {
            while let Some(frame) = coming.frame().await {
                let Ok(frame) = frame else { return false };
                let Some(chunk) = frame.data_ref() else { continue };
                let room = longest.saturating_sub(body.len());
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return false;
                }
            }
            true
        };
        let whole = timeout_at(deadline.0, reading).await.unwrap_or(false);
        Self {
            status: parts.status,
            retry_after: retry_after(&parts.headers, now),
            headers: parts.headers,
            body,
            whole,
        }
    }
}

/// How a request is made, and who writes it down.
#[derive(Clone, Copy)]
pub(crate) struct Exchange<'a> {
    pub client: &'a Client,
    pub deadline: Deadline,
    pub recorder: &'a Recorder,
    /// For answers that name a date.
    pub now: Timestamp,
    pub redactor: &'a Redactor,
    /// The answer holds a secret that no redactor knows yet: a transcript gets its status only.
    pub answer_is_secret: bool,
}

impl<'a> Exchange<'a> {
    /// Sends and reads the start of the answer. Whether the far end may have got it is in the failure.
    pub fn send(
        self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Arc<Answer>, Failure>> + use<'a> {
        self.send_reading(request, MAX_ANSWER_BYTES)
    }

    /// The same, for an answer that somebody wants to have.
    pub async fn send_reading(self, request: Request<Bytes>, longest: usize) -> Result<Arc<Answer>, Failure> {
        let recorder = self.recorder;
        if recorder.is_on() {
            // Written out at once: a text is less to keep than a copy of every header.
            let (head, body) = (request_head(&request), request.body().clone());
            recorder.sent(self.redactor, move || with_body(head.clone(), &body));
        }
        let response = match self.client.send(request, self.deadline).await {
            Ok(response) => response,
            Err(failure) => {
                if recorder.is_on() {
                    let why = failure.detail.clone();
                    recorder.received(self.redactor, move || format!("(no answer: {why})"));
                }
                return Err(failure);
            }
        };
        let answer = Arc::new(Answer::read(response, self.deadline, self.now, longest).await);
        if recorder.is_on() {
            let (answer, is_secret) = (answer.clone(), self.answer_is_secret);
            recorder.received(self.redactor, move || match is_secret {
                true => format!("{}\n\n{MASK}", answer.status),
                false => {
                    let body = &answer.body[..answer.body.len().min(MAX_RAW_BYTES)];
                    with_body(head(answer.status.to_string(), &answer.headers), body)
                }
            });
        }
        Ok(answer)
    }
}

/// What stands above the body of the request as it is sent.
fn request_head(request: &Request<Bytes>) -> String {
    let uri = request.uri();
    let mut line = String::with_capacity(HEAD_BYTES);
    line.push_str(request.method().as_str());
    line.push(' ');
    line.push_str(uri.path_and_query().map_or("/", |path| path.as_str()));
    line.push_str("\nhost: ");
    line.push_str(uri.authority().map_or("", |authority| authority.as_str()));
    head(line, request.headers())
}

/// About what a head has.
const HEAD_BYTES: usize = 512;

/// With sensitive headers masked.
fn head(first_line: String, headers: &HeaderMap) -> String {
    let mut text = first_line;
    for (name, value) in headers {
        text.push('\n');
        text.push_str(name.as_str());
        text.push_str(": ");
        match value.is_sensitive() {
            true => text.push_str(MASK),
            false => text.push_str(&readable(value.as_bytes())),
        }
    }
    text
}

fn with_body(head: String, body: &[u8]) -> String {
    head + "\n\n" + &readable(body)
}

/// As `from_utf8_lossy` has it, without its looking at each character where all are good.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
impl Answer {
    /// For tables of answers.
    pub fn of(status: u16, body: &str) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
            whole: true,
            retry_after: None,
        }
    }
}
