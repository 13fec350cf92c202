//! SMS in India by MSG91's flows: the kind `msg91`. The text is in the approved template; a message fills it in.

mod answers;
mod receipts;
mod request;

use crate::{
    adapter::{Message, TemplateUse},
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, Templates, below, content_problems, described_timeout},
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{
    Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy, Timestamp,
    hours::{Hours, UnreadableHours},
};
use hyper::{Request, header::HeaderName};

/// The category of templates that may go out at certain hours only.
const PROMOTIONAL: &str = "promotional";

/// What a template may be for, in the words of the register.
const CATEGORIES: &[&str] = &[PROMOTIONAL, "transactional", "service"];

const AUTHKEY: HeaderName = HeaderName::from_static("authkey");

/// An account, its templates, and who messages come from.
pub(crate) struct Msg91 {
    endpoint: Endpoint,
    templates: Templates,
    sender: Option<String>,
    promotional: Hours,
}

impl HttpService for Msg91 {
    fn info() -> KindInfo {
        KindInfo {
            kind: "msg91",
            channel: Channel::Sms,
            title: "SMS by MSG91 (India, DLT)",
            setup: "DLT registration, a flow for each template with its DLT id, and the account's auth key.",
            settings: vec![
                Setting::text("authkey", "The account's auth key.")
                    .called("Auth key")
                    .required()
                    .secret_sent_to(&["apiUrl"]),
                Setting::map(
                    "templates",
                    "The name in data.template, and for each the flow's id; then sender=… where it has its own, \
                     category=promotional where it is advertising (or transactional, service), and dlt=… and entity=…, its \
                     ids in the DLT register.",
                ),
                Setting::text("sender", "The DLT header of six letters.").example("PLANTS"),
                Setting::text(
                    "promotionalHours",
                    "When advertising may go out; the law has it by the hour.",
                )
                .or("10:00-21:00"),
                Setting::text("zone", "The time zone of those hours.").or("Asia/Kolkata"),
                Setting::url("apiUrl", "Where the API is.").or("https://control.msg91.com"),
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
        let templates = Templates::read(values, CATEGORIES, problems);
        let text = |name: &str| values.text(name).unwrap_or_default();
        let promotional = Hours::parse(text("promotionalHours"), text("zone"));
        let promotional = promotional.map_err(|problem| {
            let setting = match problem {
                UnreadableHours::Times => "promotionalHours",
                UnreadableHours::Zone => "zone",
            };
            problems.add(setting, problem.to_string());
        });
        let url = below(&values.url("apiUrl", problems)?, "api/v5/flow/");
        let endpoint = Endpoint::at(&url, "apiUrl", problems)?;
        Some(Self {
            endpoint: endpoint.secret_header(AUTHKEY, values.text("authkey")?, "authkey", problems),
            templates,
            sender: values.text("sender").map(str::to_owned),
            promotional: promotional.ok()?,
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::Msg91Data>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn not_before(&self, message: &Message, now: Timestamp) -> Option<Timestamp> {
        let template = self.templates.find(&message.template_name()?).ok()?;
        let is_promotional = template.category == Some(PROMOTIONAL);
        is_promotional
            .then(|| self.promotional.begin_after(now))
            .flatten()
    }

    fn template_use(&self, name: &str) -> TemplateUse {
        TemplateUse::if_known(self.templates.find(name).is_ok())
    }

    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(self, sending, answer)
    }

    const RECEIPTS: ReceiptsBy = ReceiptsBy::ItsSettings;

    const OPT_OUTS: &'static [OptOut] = receipts::OPT_OUTS;

    fn read_callback(&self, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        receipts::read(callback)
    }
}
