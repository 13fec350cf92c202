//! A far end inside the process: records what it is given and answers as its script says.

use async_trait::async_trait;
use delivery::{
    Adapter, Attempt, Deadline, Kind, KindInfo, Message, OptOut, Setting,
    adapter::TemplateUse,
    kind::Settings,
    receipt::{Callback, CallbackContent, CallbackRefused, ReceiptsBy},
    redact::Redactor,
};
use domain::{
    Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, Outcome, Receipt, ReceiptState,
    RetryPolicy, Scope, Timestamp, lock::lock,
};
use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// What a scripted far end does with one message.
pub enum Reply {
    Now(Outcome),
    /// Answers as late as a service of this latency.
    After(Duration, Outcome),
    /// Answers when this is over.
    Later(Pin<Box<dyn Future<Output = Outcome> + Send>>),
    /// Answers once [`FarEnd::open_gate`] was called.
    AtGate(Outcome),
    Panic,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Now(outcome) => write!(f, "Now({outcome:?})"),
            Reply::After(latency, outcome) => write!(f, "After({latency:?}, {outcome:?})"),
            Reply::Later(_) => f.write_str("Later"),
            Reply::AtGate(outcome) => write!(f, "AtGate({outcome:?})"),
            Reply::Panic => f.write_str("Panic"),
        }
    }
}

impl Reply {
    pub fn accepted() -> Self {
        Reply::Now(Outcome::Delivered(Accepted::default()))
    }
}

/// What a far end does when it is asked about a receipt that nobody signed.
#[derive(Debug, Clone, Copy)]
pub enum AboutReceipts {
    /// None: it knows of no such thing.
    Says(Option<ReceiptState>),
    Fails,
    NeverAnswers,
}

impl Default for AboutReceipts {
    fn default() -> Self {
        Self::Says(None)
    }
}

type Concerned = Box<dyn Fn(&Message, &Settings) -> bool + Send>;

/// The hours of a far end, and what they are for.
struct Opens {
    at: Timestamp,
    concerned: Concerned,
}

type Script = Box<dyn FnMut(&Message, &Settings) -> Reply + Send>;

/// What callbacks to a far end of a test have to carry to be believed.
pub const CALLBACK_SIGNATURE: &str = "x-signature";

/// Shared by the test and by every adapter built for it. Each channel needs a far end of its own.
#[derive(Clone)]
pub struct FarEnd {
    info: Arc<KindInfo>,
    script: Arc<Mutex<Script>>,
    received: Arc<Mutex<Vec<Message>>>,
    waiting: Arc<watch::Sender<usize>>,
    gate: Arc<watch::Sender<bool>>,
    /// What it says about a receipt that nobody signed, and how often it was asked.
    says: Arc<Mutex<(AboutReceipts, usize)>>,
    one_by_one: Arc<AtomicBool>,
    opens: Arc<Mutex<Option<Opens>>>,
    objects_to: Arc<Mutex<Option<String>>>,
}

impl fmt::Debug for FarEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FarEnd({})", self.info.kind)
    }
}

impl FarEnd {
    /// Accepts everything until told otherwise.
    pub fn new(kind: &'static str, channel: Channel) -> Self {
        Self {
            info: Arc::new(info(kind, channel)),
            script: Arc::new(Mutex::new(Box::new(|_, _| Reply::accepted()))),
            received: Arc::default(),
            waiting: Arc::new(watch::Sender::new(0)),
            gate: Arc::new(watch::Sender::new(false)),
            says: Arc::default(),
            one_by_one: Arc::default(),
            opens: Arc::default(),
            objects_to: Arc::default(),
        }
    }

    /// Each recipient is a request of its own.
    pub fn asks_one_by_one(&self) {
        self.one_by_one.store(true, Ordering::SeqCst);
    }

    /// Its kind could not send what has this subject.
    pub fn objects_to(&self, subject: &str) {
        *lock(&self.objects_to) = Some(subject.to_owned());
    }

    /// Takes nothing before this.
    pub fn opens_at(&self, at: Timestamp) {
        self.opens_at_for(at, |_, _| true);
    }

    /// Takes nothing of this sort before this.
    pub fn opens_at_for(
        &self,
        at: Timestamp,
        concerned: impl Fn(&Message, &Settings) -> bool + Send + 'static,
    ) {
        let concerned = Box::new(concerned);
        *lock(&self.opens) = Some(Opens { at, concerned });
    }

    pub fn script(&self, script: impl FnMut(&Message, &Settings) -> Reply + Send + 'static) {
        *lock(&self.script) = Box::new(script);
    }

    /// Always the same answer.
    pub fn answers(&self, outcome: Outcome) {
        self.script(move |_, _| Reply::Now(outcome.clone()));
    }

    pub fn accepts(&self) {
        self.script(|_, _| Reply::accepted());
    }

    /// Every message it was given, in order.
    pub fn received(&self) -> Vec<Message> {
        lock(&self.received).clone()
    }

    pub fn open_gate(&self) {
        self.gate.send_replace(true);
    }

    pub fn close_gate(&self) {
        self.gate.send_replace(false);
    }

    /// Completes when so many messages wait at the gate.
    pub async fn waiting(&self, n: usize) {
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting >= n).await;
    }

    /// What it says from now on about receipts that nobody signed.
    pub fn about_receipts(&self, says: AboutReceipts) {
        lock(&self.says).0 = says;
    }

    /// How often it was asked about one.
    pub fn asked_about_receipts(&self) -> usize {
        lock(&self.says).1
    }

    pub fn kind(&self) -> Arc<dyn Kind> {
        Arc::new(self.clone())
    }
}

fn info(kind: &'static str, channel: Channel) -> KindInfo {
    let text = |name| Setting::text(name, "for tests");
    let place: &[&str] = &["host", "oauth.tokenUrl"];
    KindInfo {
        kind,
        channel,
        title: "a far end of a test",
        setup: "Nothing.",
        settings: vec![
            text("host"),
            text("tls"),
            text("templates"),
            text("password").secret_sent_to(place),
            Setting::url("oauth.tokenUrl", "for tests"),
            text("oauth.clientSecret").secret_sent_to(&["oauth.tokenUrl"]),
            Setting::url("hook", "for tests").secret(),
        ],
        retry: if channel == Channel::Email {
            RetryPolicy::email()
        } else {
            RetryPolicy::exponential()
        },
        limits: Limits::default(),
        on_ambiguous: OnAmbiguous::Resend,
    }
}

impl Kind for FarEnd {
    fn info(&self) -> &KindInfo {
        &self.info
    }

    fn check(&self, settings: &Settings) -> Vec<FieldError> {
        match settings.get("tls").and_then(|tls| tls.as_str()) {
            None | Some("none" | "starttls" | "tls") => vec![],
            Some(_) => vec![FieldError::new("settings.tls", "must be none, starttls or tls")],
        }
    }

    fn problems(&self, content: &Content) -> Vec<FieldError> {
        match &*lock(&self.objects_to) {
            Some(subject) if *subject == content.subject => vec![FieldError::new("subject", "no, thank you")],
            _ => vec![],
        }
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        let problems = self.check(settings);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Arc::new(Wire {
            far_end: self.clone(),
            settings: settings.clone(),
        }))
    }

    fn receipts_by(&self) -> ReceiptsBy {
        ReceiptsBy::ItsSettings
    }

    fn opt_outs(&self) -> &'static [OptOut] {
        const { &[OptOut::everything("STOP"), OptOut::such_messages("NO-MORE-OF-IT")] }
    }

    /// A list of `{"ref", "state", "id", "code", "own", "hold", "unproven"}`.
    fn read_callback(
        &self,
        _: &Settings,
        callback: &Callback<'_>,
    ) -> Result<CallbackContent, CallbackRefused> {
        if callback.method.as_str() == "GET" {
            return Ok(CallbackContent::Answer(callback.url.to_owned()));
        }
        if callback
            .headers
            .get(CALLBACK_SIGNATURE)
            .is_none_or(|given| given != "good")
        {
            return Err(CallbackRefused::Signature);
        }
        let told: Vec<serde_json::Value> = serde_json::from_slice(callback.body)
            .map_err(|_| CallbackRefused::Unreadable("no list".into()))?;
        Ok(CallbackContent::Receipts(told.iter().map(receipt).collect()))
    }
}

fn receipt(told: &serde_json::Value) -> Receipt {
    let text = |name: &str| told[name].as_str().map(str::to_owned);
    let state = text("state").and_then(|state| state.parse().ok());
    Receipt {
        correlation: text("ref").and_then(|reference| reference.parse().ok()),
        provider_message_id: text("id"),
        code: text("code"),
        provider_code: text("own"),
        hold: text("hold").and_then(|hold| hold.parse().ok()),
        unproven: told["unproven"].as_bool().unwrap_or(false),
        ..Receipt::new(state.unwrap_or(ReceiptState::Accepted))
    }
}

#[derive(Debug)]
struct Wire {
    far_end: FarEnd,
    settings: Settings,
}

impl Wire {
    async fn reply(&self, message: &Message, attempt: &Attempt) -> Outcome {
        let far_end = &self.far_end;
        let subject = message.content.subject.clone();
        attempt
            .recorder
            .sent(&Redactor::default(), move || subject.clone());
        lock(&far_end.received).push(message.clone());
        let reply = {
            let mut script = lock(&far_end.script);
            script(message, &self.settings)
        };
        match reply {
            Reply::Now(outcome) => outcome,
            Reply::Later(answer) => answer.await,
            Reply::After(latency, outcome) => {
                tokio::time::sleep(latency).await;
                outcome
            }
            Reply::AtGate(outcome) => {
                let mut gate = far_end.gate.subscribe();
                far_end.waiting.send_modify(|n| *n += 1);
                let _ = gate.wait_for(|open| *open).await;
                far_end.waiting.send_modify(|n| *n -= 1);
                outcome
            }
            Reply::Panic => panic!("the script says so"),
        }
    }
}

#[async_trait]
impl Adapter for Wire {
    async fn ask_receipt(&self, unproven: &Receipt, _: Deadline) -> Result<Option<Receipt>, Failure> {
        let says = {
            let mut says = lock(&self.far_end.says);
            says.1 += 1;
            says.0
        };
        match says {
            AboutReceipts::Says(state) => Ok(state.map(|state| Receipt {
                state,
                unproven: false,
                ..unproven.clone()
            })),
            AboutReceipts::Fails => Err(Failure::transient(Scope::Lane, "HTTP_503", "no")),
            AboutReceipts::NeverAnswers => std::future::pending().await,
        }
    }

    async fn deliver(&self, message: &Message, attempt: Attempt) -> Outcome {
        let outcome = self.reply(message, &attempt).await;
        let said = format!("{outcome:?}");
        attempt
            .recorder
            .received(&Redactor::default(), move || said.clone());
        outcome
    }

    /// The setting names them one after the other; without it, all; `-`: the text is sent.
    fn template_use(&self, name: &str) -> TemplateUse {
        let known = self.settings.get("templates").and_then(|known| known.as_str());
        match known {
            Some("-") => TemplateUse::SendsText,
            Some(known) if known.split(' ').all(|one| one != name) => TemplateUse::Unknown,
            _ => TemplateUse::Known,
        }
    }

    fn asks_one_by_one(&self) -> bool {
        self.far_end.one_by_one.load(Ordering::SeqCst)
    }

    fn not_before(&self, message: &Message, now: Timestamp) -> Option<Timestamp> {
        let opens = lock(&self.far_end.opens);
        let opens = opens.as_ref().filter(|opens| opens.at > now)?;
        (opens.concerned)(message, &self.settings).then_some(opens.at)
    }
}
