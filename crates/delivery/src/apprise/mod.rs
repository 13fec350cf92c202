//! Whatever Apprise can reach, by an Apprise API server: the kind `apprise`.

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

/// A server, and the one target it is to notify: results are told for all targets of a request together.
pub(crate) struct Apprise {
    endpoint: Endpoint,
    target: Option<String>,
    tag: Option<String>,
}

impl HttpService for Apprise {
    fn info() -> KindInfo {
        KindInfo {
            kind: "apprise",
            channel: Channel::Apprise,
            title: "Apprise API",
            setup: "A running Apprise API server, and an Apprise URL or a configuration that it keeps.",
            settings: vec![
                Setting::url("server", "Where the Apprise API server is.")
                    .required()
                    .example("http://apprise.local:8000"),
                Setting::text("target", "The Apprise URL to notify. All of it is a secret.")
                    .secret_sent_to(SERVER)
                    .example("tgram://…"),
                Setting::text(
                    "key",
                    "Instead of a target: the key of a configuration that the server keeps.",
                )
                .secret_sent_to(SERVER),
                Setting::text(
                    "tag",
                    "With a key: only targets of the configuration with this tag.",
                ),
                described_timeout("30s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 4,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let (target, key) = (values.text("target"), values.text("key"));
        let server = values.url("server", problems)?;
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let path = match (target, key) {
            (Some(_), None) => "notify/".to_owned(),
            (None, Some(key)) if key.len() <= 128 && key.chars().all(sound) => format!("notify/{key}"),
            (None, Some(_)) => {
                problems.add("key", "must be letters, digits, '-' and '_'");
                return None;
            }
            (Some(_), Some(_)) => {
                problems.add("key", "cannot be given together with a target");
                return None;
            }
            (None, None) => {
                problems.add("target", "is required, or a key");
                return None;
            }
        };
        Some(Self {
            endpoint: Endpoint::at(&below(&server, &path), "server", problems)?,
            target: target.map(str::to_owned),
            tag: values.text("tag").map(str::to_owned),
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::AppriseData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }
}
