//! Messages posted to a URL as Standard Webhooks has it: the kind `webhook`.

mod classify;
mod compose;
mod settings;
mod sign;

use crate::{
    adapter::{Adapter, Deadline, Message},
    http::{self, Client, Response},
    kind::{Kind, KindInfo, Settings},
    outside::Outside,
};
use async_trait::async_trait;
use bytes::Bytes;
use classify::Answer;
use domain::{
    Accepted, Channel, Failure, FieldError, Grade, Limits, OnAmbiguous, Outcome, RetryPolicy, Scope,
};
use hyper::{
    HeaderMap, Method, Request, Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
};
use percent_encoding::percent_decode_str;
use settings::WebhookSettings;
use std::{fmt, sync::Arc};
use tokio::time::timeout_at;
use url::Url;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The kind `webhook`.
#[derive(Debug, Clone)]
pub struct WebhookKind {
    outside: Arc<Outside>,
}

impl WebhookKind {
    pub fn new(outside: Arc<Outside>) -> Self {
        Self { outside }
    }
}

impl Kind for WebhookKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "webhook",
            channel: Channel::Webhook,
            title: "Webhook",
            settings: settings::described(),
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 32,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn check(&self, settings: &Settings) -> Vec<FieldError> {
        WebhookSettings::read(settings).err().unwrap_or_default()
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        let settings = WebhookSettings::read(settings)?;
        let wrong = |field: &str, problem: String| vec![FieldError::new(field, problem)];
        let client = self
            .outside
            .http()
            .map_err(|problem| wrong("settings", problem))?;
        let uri = address(&settings.url).map_err(|problem| wrong("url", problem))?;
        Ok(Arc::new(WebhookAdapter {
            headers: headers(&settings),
            uri,
            settings,
            outside: self.outside.clone(),
            client,
        }))
    }
}

/// What is asked for: a URL without user and fragment, which are not sent.
fn address(url: &Url) -> Result<Uri, String> {
    let mut bare = url.clone();
    bare.set_fragment(None);
    // Only URLs without a host refuse these.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    Uri::try_from(bare.as_str()).map_err(|e| e.to_string())
}

/// What a URL says about who asks.
fn login(url: &Url) -> Option<HeaderValue> {
    let plain = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (user, password) = (plain(url.username()), plain(url.password().unwrap_or("")));
    match (user.as_str(), password.as_str()) {
        ("", "") => None,
        (user, password) => http::basic(user, password),
    }
}

/// What is the same in each request.
fn headers(settings: &WebhookSettings) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, http::user_agent());
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.extend(login(&settings.url).map(|login| (AUTHORIZATION, login)));
    headers.extend(settings.headers.clone());
    headers
}

struct WebhookAdapter {
    settings: WebhookSettings,
    uri: Uri,
    headers: HeaderMap,
    outside: Arc<Outside>,
    client: Client,
}

/// Paths, queries and headers carry secrets.
impl fmt::Debug for WebhookAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookAdapter")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Adapter for WebhookAdapter {
    async fn deliver(&self, message: &Message, deadline: Deadline) -> Outcome {
        let deadline = deadline.within(self.settings.timeout).with_margin();
        let outcome = match self.post(message, deadline).await {
            Ok(accepted) => Outcome::Delivered(accepted),
            Err(failure) => Outcome::Failed(failure),
        };
        self.settings.redactor.outcome(outcome)
    }
}

impl WebhookAdapter {
    async fn post(&self, message: &Message, deadline: Deadline) -> Result<Accepted, Failure> {
        self.outside.vet_literal(&self.settings.url)?;
        let unfit = |why: String| Failure::permanent(Scope::Message, "WEBHOOK_BODY", why);
        let body = compose::compose(message).map_err(|e| unfit(e.to_string()))?;
        let id = message.id.to_string();
        let now = self.outside.clock.now().as_millis().div_euclid(1000);
        let mut headers = self.headers.clone();
        let signed = match &self.settings.signer {
            Some(signer) => Some(signer.sign(&id, now, &body).map_err(unfit)?),
            None => None,
        };
        for (name, value) in [
            (ID, Some(id)),
            (TIMESTAMP, Some(now.to_string())),
            (SIGNATURE, signed),
            (TRACEPARENT, message.trace.map(|trace| trace.to_string())),
        ] {
            if let Some(value) = value {
                headers.insert(
                    name,
                    HeaderValue::try_from(value).map_err(|e| unfit(e.to_string()))?,
                );
            }
        }
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        let response = self.client.send(request, deadline).await?;
        self.judge(response, deadline).await
    }

    async fn judge(&self, response: Response, deadline: Deadline) -> Result<Accepted, Failure> {
        let headers = response.headers();
        let mut answer = Answer {
            status: response.status(),
            retry_after: http::retry_after(headers, self.outside.clock.now()),
            abort: headers
                .get("webhook-delivery")
                .is_some_and(|v| v == "abort-message"),
            said: String::new(),
        };
        // The status has decided; the words are for people and may be missing.
        if let Ok(body) = timeout_at(deadline.0, http::body_of(response)).await {
            answer.said = String::from_utf8_lossy(&body).trim().to_owned();
        }
        match classify::classify(&answer) {
            Some(failure) => Err(failure),
            None => Ok(Accepted {
                provider_message_id: None,
                grade: Grade::Accepted,
                detail: Some(answer.words()),
            }),
        }
    }
}
