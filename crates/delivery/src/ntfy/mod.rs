//! Push messages by ntfy, the public server or one's own: the kind `ntfy`.

mod answers;
mod request;

use crate::{
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, below, content_problems, described_timeout},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;

const SERVER: &[&str] = &["server"];

/// A server, and the topic that messages go to which name none.
pub(crate) struct Ntfy {
    endpoint: Endpoint,
    topic: Option<String>,
}

impl HttpService for Ntfy {
    fn info() -> KindInfo {
        KindInfo {
            kind: "ntfy",
            channel: Channel::Ntfy,
            title: "ntfy",
            setup: "A topic that nobody guesses; on a server with access control also a token (ntfy token add USER).",
            settings: vec![
                Setting::url("server", "The ntfy server.").or("https://ntfy.sh"),
                Setting::text("topic", "Where messages go that name no topic as recipient.")
                    .example("plant-7-alarms"),
                Setting::text(
                    "token",
                    "An access token of the server, for topics that are not open to all.",
                )
                .secret_sent_to(SERVER)
                .example("tk_…"),
                Setting::text("username", "Instead of a token: a user of the server."),
                Setting::text("password", "Instead of a token: that user's password.").secret_sent_to(SERVER),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            // The public server grants a burst of 60 requests and then one in five seconds.
            limits: Limits {
                concurrency: 4,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        // JSON is taken at the root only: topics have paths of their own.
        let server = below(&values.url("server", problems)?, "");
        let mut endpoint = Endpoint::at(&server, "server", problems)?;
        if let Some(token) = values.text("token") {
            endpoint = endpoint.bearer(token, "token", problems);
        } else if let Some(username) = values.text("username") {
            endpoint = endpoint.basic(username, values.text("password").unwrap_or(""));
        }
        let topic = values.text("topic").map(str::to_owned);
        if topic
            .as_deref()
            .is_some_and(|t| domain::address::problem(Channel::Ntfy, t).is_some())
        {
            problems.add("topic", "must be 1 to 64 letters, digits, '-' and '_'");
        }
        Some(Self { endpoint, topic })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::NtfyData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(sending, answer)
    }
}
