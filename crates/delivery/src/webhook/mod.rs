//! Messages posted to a URL as Standard Webhooks has it: the kind `webhook`.

mod classify;
mod compose;
mod settings;
mod sign;

use crate::{
    adapter::{Adapter, Deadline, Message},
    http,
    kind::{Kind, KindInfo, Settings},
    outside::Outside,
};
use async_trait::async_trait;
use bytes::Bytes;
use classify::Answer;
use domain::{
    Accepted, Channel, Failure, FieldError, Grade, Limits, OnAmbiguous, Outcome, RetryPolicy, Scope,
};
use futures_util::stream;
use reqwest::{
    Body, Client, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use settings::WebhookSettings;
use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::timeout_at;

/// Shorter than the shortest keep-alive of common servers, so that we seldom write into a closing connection.
const IDLE_FOR: Duration = Duration::from_secs(4);

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
        let client = self
            .outside
            .http()
            .and_then(|builder| {
                builder
                    .pool_idle_timeout(IDLE_FOR)
                    .build()
                    .map_err(|e| e.to_string())
            })
            .map_err(|problem| vec![FieldError::new("settings", problem)])?;
        Ok(Arc::new(WebhookAdapter {
            settings,
            outside: self.outside.clone(),
            client,
        }))
    }
}

#[derive(Debug)]
struct WebhookAdapter {
    settings: WebhookSettings,
    outside: Arc<Outside>,
    client: Client,
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
        let mut request = self
            .client
            .post(self.settings.url.clone())
            .headers(self.settings.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, body.len())
            .header("webhook-id", &id)
            .header("webhook-timestamp", now);
        if let Some(signer) = &self.settings.signer {
            let signature = signer.sign(&id, now, &body).map_err(unfit)?;
            request = request.header("webhook-signature", signature);
        }
        let sent = Sent::default();
        let response = match timeout_at(deadline.0, request.body(sent.watched(body)).send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(http::no_answer(&error, sent.get())),
            Err(_) => return Err(timed_out(sent.get())),
        };
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

fn timed_out(sent: bool) -> Failure {
    let detail = "no answer in time";
    if sent {
        Failure::ambiguous(Scope::Lane, "TIMEOUT", detail)
    } else {
        Failure::transient(Scope::Lane, "TIMEOUT", detail)
    }
}

/// Whether a request's body has been handed to a connection. From then on the far end may have all of it.
#[derive(Clone, Default)]
struct Sent(Arc<AtomicBool>);

impl Sent {
    fn watched(&self, body: Vec<u8>) -> Body {
        let sent = self.0.clone();
        Body::wrap_stream(stream::once(async move {
            sent.store(true, Ordering::Release);
            Ok::<_, Infallible>(Bytes::from(body))
        }))
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
