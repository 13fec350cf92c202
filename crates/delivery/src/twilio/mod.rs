//! SMS by Twilio: the kind `twilio`.

mod answers;
mod receipts;
mod request;

use crate::{
    adapter::TemplateUse,
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, below, content_problems, described_timeout},
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;

/// An account, and who messages come from.
pub(crate) struct Twilio {
    endpoint: Endpoint,
    sender: Sender,
    /// What the account signs its callbacks with.
    signing_token: Option<String>,
}

enum Sender {
    Number(String),
    Service(String),
}

impl HttpService for Twilio {
    fn info() -> KindInfo {
        KindInfo {
            kind: "twilio",
            channel: Channel::Sms,
            title: "SMS by Twilio",
            setup: "An account with a number or a messaging service.",
            settings: vec![
                Setting::text("accountSid", "The account's SID, from the console.")
                    .required()
                    .example("AC…"),
                Setting::text(
                    "authToken",
                    "The account's auth token, or the secret of an API key.",
                )
                .required()
                .secret_sent_to(&["apiUrl"]),
                Setting::text(
                    "apiKeySid",
                    "The SID of an API key, where authToken is its secret.",
                )
                .example("SK…"),
                Setting::text(
                    "signingToken",
                    "For receipts, where authToken is an API key's secret: the account's own auth token.",
                )
                .secret(),
                Setting::text("from", "The number or name that messages come from.").example("+15017122661"),
                Setting::text(
                    "messagingServiceSid",
                    "Instead of from: a messaging service that chooses the sender.",
                )
                .example("MG…"),
                Setting::url("apiUrl", "Where the API is.").or("https://api.twilio.com"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 8,
                per_second: None,
            },
            // A message costs money.
            on_ambiguous: OnAmbiguous::Park,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let sender = match (values.text("from"), values.text("messagingServiceSid")) {
            (Some(from), None) => Some(Sender::Number(from.trim().to_owned())),
            (None, Some(service)) => Some(Sender::Service(service.trim().to_owned())),
            (Some(_), Some(_)) => {
                problems.add("messagingServiceSid", "cannot be given together with from");
                None
            }
            (None, None) => None,
        };
        let account = values.text("accountSid")?.trim();
        if account.len() > 64 || !account.bytes().all(|b| b.is_ascii_alphanumeric()) {
            problems.add("accountSid", "must be an SID like AC…");
        }
        let path = format!("2010-04-01/Accounts/{account}/Messages.json");
        let endpoint = Endpoint::at(
            &below(&values.url("apiUrl", problems)?, &path),
            "apiUrl",
            problems,
        )?;
        let key = values.text("apiKeySid");
        // Callbacks are signed with the account's own token, never with an API key's secret.
        let signing = values.text("signingToken");
        let signing = signing.or_else(|| values.text("authToken").filter(|_| key.is_none()));
        let signing_token = signing.map(|token| token.trim().to_owned());
        let user = key.unwrap_or(account);
        let endpoint = endpoint.basic(user.trim(), values.text("authToken")?.trim());
        if sender.is_none() {
            problems.add("from", "is required, or messagingServiceSid");
        }
        Some(Self {
            endpoint,
            sender: sender?,
            signing_token,
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::TwilioData>(content)
    }

    fn template_use(&self, _: &str) -> TemplateUse {
        TemplateUse::SendsText
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }

    const OPT_OUTS: &'static [OptOut] = answers::OPT_OUTS;

    const RECEIPTS: ReceiptsBy = ReceiptsBy::EachMessage;

    fn read_callback(&self, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        receipts::read(self, callback)
    }
}
