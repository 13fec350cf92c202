//! WhatsApp by Interakt: the kind `interakt`.

mod answers;
mod receipts;
mod request;

use crate::{
    adapter::TemplateUse,
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, Templates, below, content_problems, described_timeout},
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
    settings::{Problems, Values},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::{Request, header::AUTHORIZATION};

/// An account, and its templates.
pub(crate) struct Interakt {
    endpoint: Endpoint,
    templates: Templates,
    webhook_secret: Option<String>,
}

impl HttpService for Interakt {
    fn info() -> KindInfo {
        KindInfo {
            kind: "interakt",
            channel: Channel::WhatsApp,
            title: "WhatsApp by Interakt",
            setup: "The API key, under Developer Settings, and approved templates.",
            settings: vec![
                Setting::text(
                    "apiKey",
                    "The key from Developer Settings, as it is shown there: it is base64 already.",
                )
                .required()
                .secret_sent_to(&["apiUrl"]),
                Setting::boolean(
                    "apiKeyIsRaw",
                    "The key is not base64 yet, as some accounts show it; it is then encoded here.",
                )
                .or(false),
                Setting::text(
                    "webhookSecret",
                    "For receipts: the webhook's secret key, by which Interakt signs them.",
                )
                .secret(),
                Setting::map(
                    "templates",
                    "The name in data.template, and for each the approved template's code name; then language=….",
                ),
                Setting::url("apiUrl", "Where the API is.").or("https://api.interakt.ai"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            // 300 requests a minute on the Growth plan.
            limits: Limits {
                concurrency: 4,
                per_second: Some(5.0),
            },
            // A message costs money.
            on_ambiguous: OnAmbiguous::Park,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let templates = Templates::read(values, crate::meta::CATEGORIES, problems);
        let url = below(&values.url("apiUrl", problems)?, "v1/public/message/");
        let endpoint = Endpoint::at(&url, "apiUrl", problems)?;
        let key = values.text("apiKey")?.trim();
        let key = key.strip_prefix("Basic ").unwrap_or(key).trim();
        let login = match values.flag("apiKeyIsRaw") {
            true => format!("Basic {}", STANDARD.encode(format!("{key}:"))),
            false => format!("Basic {key}"),
        };
        Some(Self {
            endpoint: endpoint.secret_header(AUTHORIZATION, &login, "apiKey", problems),
            templates,
            webhook_secret: values.text("webhookSecret").map(|text| text.trim().to_owned()),
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::InteraktData>(content)
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

    const OPT_OUTS: &'static [OptOut] = crate::meta::OPT_OUTS;

    const RECEIPTS: ReceiptsBy = ReceiptsBy::ItsSettings;

    fn read_callback(&self, callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        receipts::read(self, callback)
    }
}
