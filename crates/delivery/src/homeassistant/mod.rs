//! Messages by a Home Assistant: its notify services and entities, and notifications on its own screen. The kind
//! `homeassistant`.

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
use hyper::Request;
use request::Service;
use url::Url;

/// One installation, and the service that takes messages which name none.
pub(crate) struct HomeAssistant {
    base: Url,
    token: String,
    service: Service,
}

impl HttpService for HomeAssistant {
    fn info() -> KindInfo {
        KindInfo {
            kind: "homeassistant",
            channel: Channel::HomeAssistant,
            title: "Home Assistant",
            setup: "A long-lived access token, on the profile page of a user, and a notify service.",
            settings: vec![
                Setting::url("url", "Where Home Assistant is.")
                    .called("Address")
                    .required()
                    .example("http://homeassistant.local:8123"),
                Setting::text("token", "A long-lived access token, from the profile of a user.")
                    .required()
                    .secret_sent_to(&["url"]),
                Setting::text(
                    "service",
                    "The notify service for messages whose data names none.",
                )
                .or("notify.notify"),
                described_timeout("30s"),
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
        let base = values.url("url", problems);
        let service = Service::parse(values.text("service")?);
        if service.is_none() {
            problems.add(
                "service",
                "must be a service of notify or persistent_notification, like notify.mobile_app_phone",
            );
        }
        let base = base?;
        let token = values.text("token")?.trim().to_owned();
        Endpoint::at(&base, "url", problems)?.bearer(&token, "token", problems);
        Some(Self {
            base,
            token,
            service: service?,
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::HomeAssistantData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, _: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(answer)
    }
}

impl HomeAssistant {
    /// Where a service is called.
    fn endpoint(&self, service: &Service) -> Option<Endpoint> {
        let mut none = Problems::default();
        let url = below(
            &self.base,
            &format!("api/services/{}/{}", service.domain, service.name),
        );
        let endpoint = Endpoint::at(&url, "url", &mut none)?;
        Some(endpoint.bearer(&self.token, "token", &mut none))
    }
}
