//! Messages to a channel of Slack by its incoming webhook: the kind `slack`.

mod answers;
mod request;

use crate::{
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, content_problems, described_timeout},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;

/// An incoming webhook; it belongs to one channel.
pub(crate) struct Slack {
    endpoint: Endpoint,
}

impl HttpService for Slack {
    fn info() -> KindInfo {
        KindInfo {
            kind: "slack",
            channel: Channel::Slack,
            title: "Slack by incoming webhook",
            setup: "An app with Incoming Webhooks switched on and added to the channel. Copy the webhook's URL.",
            settings: vec![
                Setting::url("url", "The incoming webhook of an app. All of it is a secret.")
                    .called("Webhook address")
                    .required()
                    .secret()
                    .example("https://hooks.slack.com/services/T…/B…/…"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            // About one message a second; who goes on after a 429 risks being switched off.
            limits: Limits {
                concurrency: 2,
                per_second: Some(1.0),
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let url = values.url("url", problems)?;
        Endpoint::at(&url, "url", problems).map(|endpoint| Self { endpoint })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::SlackData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }
}
