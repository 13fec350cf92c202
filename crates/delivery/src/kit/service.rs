//! An HTTP service as a kind of provider.

use super::{PerRecipient, Sending};
use crate::{
    adapter::{Adapter, Attempt, Deadline, Message, TemplateUse},
    http::{Answer, Client, Exchange},
    kind::{Kind, KindInfo, Owner, Setting, Settings},
    opt_out::OptOut,
    outside::Outside,
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptsBy},
    redact::Redactor,
    settings::{LONGEST_TIMEOUT, Problems, SHORTEST_TIMEOUT, Values, redactor},
};
use async_trait::async_trait;
use bytes::Bytes;
use domain::{Accepted, Content, Failure, FieldError, Outcome, Scope, Timestamp, field_error::in_words};
use futures_util::future::{Either, ready};
use hyper::Request;
use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

/// A service that takes messages by HTTP, made of its settings.
pub(crate) trait HttpService: Send + Sync + Sized + 'static {
    /// What it is called and configured with. One of the settings is [`described_timeout`].
    fn info() -> KindInfo;

    /// Reads the settings that fit their descriptions. What is wrong besides is added to the problems; `None` only with a
    /// problem.
    fn read(values: &Values, problems: &mut Problems) -> Option<Self>;

    /// What somebody should know about settings that are taken.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Every field of a message that cannot be sent, whatever the settings; mostly [`super::content_problems`].
    fn problems(content: &Content) -> Vec<FieldError>;

    /// The request for one message that has no such problems, to one recipient where there are any.
    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure>;

    /// What the answer means.
    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure>;

    /// Where the message has to go instead, if the place it was for has become another.
    fn moved_to(&self, _answer: &Answer) -> Option<String> {
        None
    }

    /// Whether the service tells anything later, and how it gets to know where.
    const RECEIPTS: ReceiptsBy = ReceiptsBy::Nothing;

    /// The codes of its answers and receipts that say that a recipient wants no more.
    const OPT_OUTS: &'static [OptOut] = &[];

    /// When the message may go out, if not now.
    fn not_before(&self, _message: &Message, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// What it would make of a message that names this template of ours. One whose channel knows no templates does not look at
    /// them.
    fn template_use(&self, _name: &str) -> TemplateUse {
        TemplateUse::Known
    }

    /// What the service tells later.
    fn read_callback(&self, _callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
        Err(CallbackRefused::NoReceipts)
    }

    /// The request that asks for a receipt, of a service that does not sign its callbacks.
    fn receipt_request(&self, _unproven: &Receipt) -> Option<Request<Bytes>> {
        None
    }

    /// The receipt as the service itself tells it.
    fn understand_receipt(&self, _unproven: &Receipt, _answer: &Answer) -> Result<Option<Receipt>, Failure> {
        Ok(None)
    }
}

/// Every HTTP kind has this setting.
pub(crate) fn described_timeout(default: &'static str) -> Setting {
    Setting::duration("timeout", "The longest one request may take.").or(default)
}

/// The kind that a service is.
pub(crate) struct HttpKind<S> {
    info: KindInfo,
    outside: Arc<Outside>,
    service: PhantomData<fn() -> S>,
}

impl<S: HttpService> HttpKind<S> {
    pub fn kind(outside: &Arc<Outside>) -> Arc<dyn Kind> {
        Arc::new(Self {
            info: S::info(),
            outside: outside.clone(),
            service: PhantomData,
        })
    }

    fn adapter(&self, settings: &Settings) -> Result<HttpAdapter<S>, Vec<FieldError>> {
        let (service, values) = self.read(settings)?;
        let client = self.outside.http();
        let client = client.map_err(|problem| vec![FieldError::new("settings", problem)])?;
        Ok(HttpAdapter {
            kind: self.info.kind,
            takes_recipients: self.info.channel.takes_recipients(),
            timeout: values.duration("timeout").unwrap_or(DEFAULT_TIMEOUT),
            redactor: redactor(&self.info.settings, &values),
            service,
            outside: self.outside.clone(),
            client,
            callback_url: None,
        })
    }

    fn read(&self, settings: &Settings) -> Result<(S, Values), Vec<FieldError>> {
        let mut problems = Problems::default();
        let values = Values::read(&self.info.settings, settings, &mut problems);
        let timeout = values.duration("timeout");
        if timeout.is_some_and(|t| !(SHORTEST_TIMEOUT..=LONGEST_TIMEOUT).contains(&t)) {
            problems.add("timeout", "must be between 1s and 1h");
        }
        match S::read(&values, &mut problems) {
            Some(service) => problems.or((service, values)),
            None => Err(problems.0),
        }
    }
}

impl<S> fmt::Debug for HttpKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpKind({})", self.info.kind)
    }
}

impl<S: HttpService> Kind for HttpKind<S> {
    fn info(&self) -> &KindInfo {
        &self.info
    }

    fn check(&self, settings: &Settings) -> Vec<FieldError> {
        self.read(settings).err().unwrap_or_default()
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        let read = self.read(settings);
        read.map(|(service, _)| service.warnings()).unwrap_or_default()
    }

    fn problems(&self, content: &Content) -> Vec<FieldError> {
        S::problems(content)
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        Ok(Arc::new(self.adapter(settings)?))
    }

    fn build_with_receipts(
        &self,
        _: &Owner,
        settings: &Settings,
        callback_url: &str,
    ) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        let mut adapter = self.adapter(settings)?;
        if S::RECEIPTS == ReceiptsBy::EachMessage {
            // Whoever has the address can send receipts to it.
            adapter.redactor.hide(callback_url);
            if let Some((_, secret)) = callback_url.rsplit_once('/') {
                adapter.redactor.hide(secret);
            }
            adapter.callback_url = Some(callback_url.to_owned());
        }
        Ok(Arc::new(adapter))
    }

    fn receipts_by(&self) -> ReceiptsBy {
        S::RECEIPTS
    }

    fn opt_outs(&self) -> &'static [OptOut] {
        S::OPT_OUTS
    }

    fn read_callback(
        &self,
        settings: &Settings,
        callback: &Callback<'_>,
    ) -> Result<CallbackContent, CallbackRefused> {
        let (service, _) = self
            .read(settings)
            .map_err(|_| CallbackRefused::Unreadable("the provider's settings are wrong".into()))?;
        service.read_callback(callback)
    }
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);

struct HttpAdapter<S> {
    kind: &'static str,
    takes_recipients: bool,
    timeout: Duration,
    redactor: Redactor,
    service: S,
    outside: Arc<Outside>,
    client: Client,
    callback_url: Option<String>,
}

/// Addresses and headers carry secrets.
impl<S> fmt::Debug for HttpAdapter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpAdapter({})", self.kind)
    }
}

#[async_trait]
impl<S: HttpService> Adapter for HttpAdapter<S> {
    async fn deliver(&self, message: &Message, attempt: Attempt) -> Outcome {
        let bad = S::problems(&message.content);
        if !bad.is_empty() {
            let unfit = Failure::permanent(Scope::Message, "VALIDATION", in_words(&bad));
            return unfit.of_our_making().into();
        }
        if message.targets.is_empty() || !self.takes_recipients {
            let outcome = match self.send(message, None, &attempt).await {
                Ok(accepted) => Outcome::Delivered(accepted),
                Err(failure) => Outcome::Failed(failure),
            };
            return self.redactor.outcome(outcome);
        }
        let mut results = PerRecipient::of(&attempt, self.timeout);
        for target in &message.targets {
            if results.is_over() {
                break;
            }
            results.add(target, self.send(message, Some(target), &attempt).await);
        }
        self.redactor.outcome(results.conclude(message.targets.len()))
    }

    fn asks_one_by_one(&self) -> bool {
        self.takes_recipients
    }

    fn not_before(&self, message: &Message, now: Timestamp) -> Option<Timestamp> {
        self.service.not_before(message, now)
    }

    fn template_use(&self, name: &str) -> TemplateUse {
        self.service.template_use(name)
    }

    async fn ask_receipt(&self, unproven: &Receipt, deadline: Deadline) -> Result<Option<Receipt>, Failure> {
        let Some(request) = self.service.receipt_request(unproven) else {
            return Ok(None);
        };
        let attempt = Attempt::from(deadline);
        let answer = self.exchange(request, &attempt).await;
        let said = answer.and_then(|answer| self.service.understand_receipt(unproven, &answer));
        said.map_err(|failure| self.redactor.failure(failure))
    }
}

impl<S: HttpService> HttpAdapter<S> {
    async fn send(
        &self,
        message: &Message,
        target: Option<&str>,
        attempt: &Attempt,
    ) -> Result<Accepted, Failure> {
        let now = self.outside.clock.now();
        let sending = Sending {
            message,
            target,
            generation: attempt.generation,
            now,
            callback_url: self.callback_url.as_deref(),
        };
        let request = self.service.request(&sending).map_err(Failure::of_our_making)?;
        let answer = self.exchange(request, attempt).await?;
        match self.service.moved_to(&answer) {
            // Apart: hardly any need its room, and every attempt would carry it.
            Some(place) => Box::pin(self.send_on(sending, &place, attempt)).await,
            None => self.service.understand(&sending, &answer),
        }
    }

    /// Once more, to what a place has become. Whoever keeps the old name is told of the new one.
    async fn send_on(
        &self,
        sending: Sending<'_>,
        place: &str,
        attempt: &Attempt,
    ) -> Result<Accepted, Failure> {
        let there = Sending {
            target: Some(place),
            ..sending
        };
        let answer = self.exchange(self.service.request(&there)?, attempt).await?;
        let told = format!("what it was for has become {place}");
        match self.service.understand(&sending, &answer) {
            Ok(accepted) => Ok(Accepted {
                detail: Some(told),
                ..accepted
            }),
            Err(failure) => Err(Failure {
                detail: format!("{told}: {}", failure.detail),
                ..failure
            }),
        }
    }

    /// Not an `async fn`, which would keep the request once more.
    fn exchange<'a>(
        &'a self,
        request: Request<Bytes>,
        attempt: &'a Attempt,
    ) -> impl Future<Output = Result<Arc<Answer>, Failure>> + Send + 'a {
        let exchange = Exchange {
            client: &self.client,
            deadline: attempt.deadline_within(self.timeout),
            recorder: &attempt.recorder,
            now: self.outside.clock.now(),
            redactor: &self.redactor,
            answer_is_secret: false,
        };
        match self.outside.vet_literal(request.uri().host().unwrap_or("")) {
            Ok(()) => Either::Left(exchange.send(request)),
            Err(refused) => Either::Right(ready(Err(refused.into()))),
        }
    }
}
