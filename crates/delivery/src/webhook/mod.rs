//! Messages posted to a URL as Standard Webhooks has it: the kind `webhook`.

mod answers;
mod request;
mod settings;
mod sign;

use crate::{
    http::Answer,
    kind::KindInfo,
    kit::{HttpService, Sending},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::{HeaderMap, Request, Uri};
use sign::Signer;

/// A receiver of webhooks.
pub(crate) struct Webhook {
    uri: Uri,
    /// What is the same in each request.
    headers: HeaderMap,
    signer: Option<Signer>,
}

impl HttpService for Webhook {
    fn info() -> KindInfo {
        KindInfo {
            kind: "webhook",
            channel: Channel::Webhook,
            title: "Webhook",
            setup: "An address of yours that takes a POST. Give both sides the same signing secret.",
            settings: settings::described(),
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 32,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        Self::of(values, problems)
    }

    fn problems(_: &Content) -> Vec<FieldError> {
        // Any data goes: the receiver is one's own.
        vec![]
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }
}
