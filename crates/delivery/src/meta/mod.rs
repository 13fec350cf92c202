//! WhatsApp by Meta's Cloud API: the kind `meta`.

mod answers;
mod receipts;
mod request;

pub(crate) use answers::{OPT_OUTS, by_code};

/// What a template may be for.
pub(crate) const CATEGORIES: &[&str] = &["marketing", "utility", "authentication"];

use crate::{
    adapter::TemplateUse,
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, Templates, below, content_problems, described_timeout},
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;

/// A phone number of a business account, and its templates.
pub(crate) struct Meta {
    endpoint: Endpoint,
    templates: Templates,
    app_secret: Option<String>,
    verify_token: Option<String>,
}

impl HttpService for Meta {
    fn info() -> KindInfo {
        KindInfo {
            kind: "meta",
            channel: Channel::WhatsApp,
            title: "WhatsApp by Meta Cloud API",
            setup: "A WhatsApp business account, the id of its number, a system user's token, and approved templates.",
            settings: vec![
                Setting::text(
                    "phoneNumberId",
                    "The id of the sending number; it is not the number itself.",
                )
                .required(),
                Setting::text("token", "A system user's token with whatsapp_business_messaging.")
                    .required()
                    .secret_sent_to(&["apiUrl"]),
                Setting::text(
                    "appSecret",
                    "For receipts: the app's secret, by which Meta signs them.",
                )
                .secret(),
                Setting::text(
                    "verifyToken",
                    "For receipts: any text; the same goes beside the callback URL at Meta.",
                )
                .secret(),
                Setting::map(
                    "templates",
                    "The name in data.template, and for each the approved template's name; then language=….",
                ),
                Setting::text("apiVersion", "The version of the Graph API.").or("v23.0"),
                Setting::url("apiUrl", "Where the Graph API is.").or("https://graph.facebook.com"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 16,
                per_second: Some(80.0),
            },
            // A message costs money.
            on_ambiguous: OnAmbiguous::Park,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let templates = Templates::read(values, CATEGORIES, problems);
        let (number, version) = (
            values.text("phoneNumberId")?.trim(),
            values.text("apiVersion")?.trim(),
        );
        if !number.bytes().all(|b| b.is_ascii_digit()) {
            problems.add("phoneNumberId", "must be the number's id: digits only");
        }
        if !version.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.') {
            problems.add("apiVersion", "must be like v23.0");
        }
        let url = below(
            &values.url("apiUrl", problems)?,
            &format!("{version}/{number}/messages"),
        );
        let endpoint = Endpoint::at(&url, "apiUrl", problems)?;
        let trimmed = |name| values.text(name).map(|text| text.trim().to_owned());
        Some(Self {
            app_secret: trimmed("appSecret"),
            verify_token: trimmed("verifyToken"),
            endpoint: endpoint.bearer(values.text("token")?, "token", problems),
            templates,
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::MetaData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn template_use(&self, name: &str) -> TemplateUse {
        TemplateUse::if_known(self.templates.find(name).is_ok())
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }

    const OPT_OUTS: &'static [OptOut] = answers::OPT_OUTS;

    const RECEIPTS: ReceiptsBy = ReceiptsBy::ItsSettings;

    fn read_callback(&self, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        receipts::read(self, callback)
    }
}
