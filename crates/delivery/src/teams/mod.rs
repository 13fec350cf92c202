//! Messages to Microsoft Teams by a Workflows webhook: the kind `teams`.

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

/// A flow that posts to one channel or chat.
pub(crate) struct Teams {
    endpoint: Endpoint,
    /// Where flows lived until November 2025. Other workflows of Azure still do, so it is not refused.
    has_old_address: bool,
}

impl HttpService for Teams {
    fn info() -> KindInfo {
        KindInfo {
            kind: "teams",
            channel: Channel::Teams,
            title: "Microsoft Teams by Workflows webhook",
            setup: "In the channel's Workflows: Post to a channel when a webhook request is received. Copy its URL.",
            settings: vec![
                Setting::url(
                    "url",
                    "The address of a flow that starts when a webhook request is received. All of it is a secret. Addresses on logic.azure.com ended in November 2025.",
                )
                .called("Address of the flow")
                .required()
                .secret()
                .example("https://….environment.api.powerplatform.com/powerautomate/automations/direct/workflows/…"),
                described_timeout("30s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 2,
                per_second: Some(1.0),
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let url = values.url("url", problems)?;
        let host = url.host_str().unwrap_or_default();
        if host.ends_with(".webhook.office.com") || host == "outlook.office.com" {
            problems.add(
                "url",
                "is an Office 365 connector, which Microsoft has ended; create a workflow that starts when a webhook request is received",
            );
        }
        Some(Self {
            endpoint: Endpoint::at(&url, "url", problems)?,
            has_old_address: host.ends_with(".logic.azure.com"),
        })
    }

    fn warnings(&self) -> Vec<String> {
        match self.has_old_address {
            true => vec![answers::OLD_ADDRESS.into()],
            false => vec![],
        }
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::TeamsData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer, self.has_old_address)
    }
}
