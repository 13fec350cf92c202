//! Push messages by Pushbullet: the kind `pushbullet`.

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
use hyper::{Request, header::HeaderName};

const ACCESS_TOKEN: HeaderName = HeaderName::from_static("access-token");

/// An account. What names no recipient goes to all of its devices, unless the settings name one.
pub(crate) struct Pushbullet {
    endpoint: Endpoint,
    target: Option<String>,
}

impl HttpService for Pushbullet {
    fn info() -> KindInfo {
        KindInfo {
            kind: "pushbullet",
            channel: Channel::Pushbullet,
            title: "Pushbullet",
            setup: "An access token, on the account's settings page.",
            settings: vec![
                Setting::text("token", "An access token, from the account's settings page.")
                    .required()
                    .secret_sent_to(&["apiUrl"])
                    .example("o.…"),
                Setting::text(
                    "target",
                    "Where messages go that name no recipient: an e-mail address, a device's iden, or a #channel. Left out: all devices of the account.",
                ),
                Setting::url("apiUrl", "Where the API is.").or("https://api.pushbullet.com"),
                described_timeout("15s"),
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
        let url = below(&values.url("apiUrl", problems)?, "v2/pushes");
        let endpoint = Endpoint::at(&url, "apiUrl", problems)?;
        Some(Self {
            endpoint: endpoint.secret_header(ACCESS_TOKEN, values.text("token")?, "token", problems),
            target: values.text("target").map(|target| target.trim().to_owned()),
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::PushbulletData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(sending, answer)
    }
}
