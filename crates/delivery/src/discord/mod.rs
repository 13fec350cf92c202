//! Messages to a channel of Discord by its webhook: the kind `discord`.

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
use url::Url;

/// A webhook; it belongs to one channel.
pub(crate) struct Discord {
    endpoint: Endpoint,
    username: Option<String>,
}

impl HttpService for Discord {
    fn info() -> KindInfo {
        KindInfo {
            kind: "discord",
            channel: Channel::Discord,
            title: "Discord by webhook",
            setup: "In the channel's settings, under Integrations, a webhook. Copy its URL.",
            settings: vec![
                Setting::url("url", "The webhook of a channel. All of it is a secret.")
                    .called("Webhook address")
                    .required()
                    .secret()
                    .example("https://discord.com/api/webhooks/…/…"),
                Setting::text(
                    "username",
                    "Who messages come from, instead of the webhook's own name.",
                ),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 2,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let url = versioned(values.url("url", problems)?);
        Some(Self {
            endpoint: Endpoint::at(&url, "url", problems)?,
            username: values.text("username").map(str::to_owned),
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::DiscordData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }
}

/// With the version of the API, because waits are in milliseconds without it, and asking for the message's id.
fn versioned(mut url: Url) -> Url {
    let path = url.path().replacen("/api/webhooks/", "/api/v10/webhooks/", 1);
    url.set_path(&path);
    if !url.query_pairs().any(|(name, _)| name == "wait") {
        url.query_pairs_mut().append_pair("wait", "true");
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gets_the_version_and_waits_for_the_id() {
        for (given, asked) in [
            (
                "https://discord.com/api/webhooks/1/t",
                "https://discord.com/api/v10/webhooks/1/t?wait=true",
            ),
            (
                "https://discord.com/api/v9/webhooks/1/t?thread_id=7",
                "https://discord.com/api/v9/webhooks/1/t?thread_id=7&wait=true",
            ),
        ] {
            assert_eq!(versioned(Url::parse(given).unwrap()).as_str(), asked);
        }
    }
}
