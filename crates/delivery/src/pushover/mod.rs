//! Push messages by Pushover: the kind `pushover`.

mod answers;
mod receipts;
mod request;

use crate::{
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, below, content_problems, described_timeout},
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptsBy},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;
use url::Url;

/// An application, and the user that messages go to which name nobody.
pub(crate) struct Pushover {
    endpoint: Endpoint,
    api: Url,
    token: String,
    user: Option<String>,
}

impl HttpService for Pushover {
    fn info() -> KindInfo {
        KindInfo {
            kind: "pushover",
            channel: Channel::Pushover,
            title: "Pushover",
            setup: "An application registered at pushover.net, for its token. The user key is on the dashboard.",
            settings: vec![
                Setting::text(
                    "token",
                    "The API token of an application registered at pushover.net.",
                )
                .required()
                .secret_sent_to(&["apiUrl"])
                .example("azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
                Setting::text(
                    "user",
                    "The user or group key that messages go to which name no recipient.",
                )
                .example("uQiRzpo4DXghDmr9QzzfQu27cmVRsG"),
                Setting::url("apiUrl", "Where the API is.").or("https://api.pushover.net"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            // The service's own rule: no more than two connections.
            limits: Limits {
                concurrency: 2,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let user = values.text("user").map(|user| user.trim().to_owned());
        if user
            .as_deref()
            .is_some_and(|u| domain::address::problem(Channel::Pushover, u).is_some())
        {
            problems.add("user", "must be a user or group key of 30 letters and digits");
        }
        let api = values.url("apiUrl", problems)?;
        let url = below(&api, "1/messages.json");
        Some(Self {
            endpoint: Endpoint::at(&url, "apiUrl", problems)?,
            api,
            token: values.text("token")?.trim().to_owned(),
            user,
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::PushoverData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(sending, answer)
    }

    const RECEIPTS: ReceiptsBy = ReceiptsBy::EachMessage;

    fn read_callback(&self, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        receipts::read(callback)
    }

    fn receipt_request(&self, unproven: &Receipt) -> Option<Request<Bytes>> {
        receipts::request(self, unproven)
    }

    fn understand_receipt(&self, unproven: &Receipt, answer: &Answer) -> Result<Option<Receipt>, Failure> {
        receipts::understand(unproven, answer)
    }
}
