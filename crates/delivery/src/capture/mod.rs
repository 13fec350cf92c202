//! The far end that is no far end: keeps what it is given in memory. For trials, the demo and benchmarks.

mod captured;

pub use captured::{Capture, Captured};

use crate::{
    adapter::{Adapter, Attempt, Message},
    kind::{Kind, KindInfo, Owner, Setting, Settings},
    settings::{Problems, Values},
};
use async_trait::async_trait;
use domain::{Accepted, Channel, Failure, FieldError, Limits, OnAmbiguous, Outcome, RetryPolicy, Scope};
use std::sync::Arc;

/// The kind `capture`. All its adapters write to one [`Captured`].
#[derive(Debug, Clone)]
pub struct CaptureKind {
    info: KindInfo,
    captured: Captured,
}

impl CaptureKind {
    pub fn new(captured: Captured) -> Self {
        let info = KindInfo {
            kind: "capture",
            channel: Channel::Capture,
            title: "Kept in memory, delivered to nobody",
            setup: "Nothing: messages stay in the memory of this node.",
            settings: described(),
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 256,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        };
        Self { info, captured }
    }

    fn adapter(
        &self,
        owner: Option<Owner>,
        settings: &Settings,
    ) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        Ok(Arc::new(CaptureAdapter {
            captured: self.captured.clone(),
            owner,
            fault: Self::read(settings)?,
        }))
    }

    fn read(settings: &Settings) -> Result<Option<Fault>, Vec<FieldError>> {
        let mut problems = Problems::default();
        let values = Values::read(&described(), settings, &mut problems);
        problems.or(values.text("fail").and_then(Fault::named))
    }
}

fn described() -> Vec<Setting> {
    vec![Setting::choice(
        "fail",
        &["transient", "permanent", "ambiguous"],
        "For trials: every message fails like this instead of being kept.",
    )]
}

impl Default for CaptureKind {
    fn default() -> Self {
        Self::new(Captured::default())
    }
}

impl Kind for CaptureKind {
    fn info(&self) -> &KindInfo {
        &self.info
    }

    fn check(&self, settings: &Settings) -> Vec<FieldError> {
        Self::read(settings).err().unwrap_or_default()
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        self.adapter(None, settings)
    }

    fn build_for(&self, owner: &Owner, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        self.adapter(Some(owner.clone()), settings)
    }

    fn captured(&self, owner: &Owner) -> Option<Vec<Capture>> {
        Some(self.captured.of(owner))
    }
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Transient,
    Permanent,
    Ambiguous,
}

impl Fault {
    fn named(name: &str) -> Option<Self> {
        match name {
            "transient" => Some(Self::Transient),
            "permanent" => Some(Self::Permanent),
            "ambiguous" => Some(Self::Ambiguous),
            _ => None,
        }
    }

    fn failure(self) -> Failure {
        let why = "the provider's setting `fail` says so";
        match self {
            Self::Transient => Failure::transient(Scope::Message, "CAPTURE_TRANSIENT", why),
            Self::Permanent => Failure::permanent(Scope::Message, "CAPTURE_PERMANENT", why),
            Self::Ambiguous => Failure::ambiguous(Scope::Message, "CAPTURE_AMBIGUOUS", why),
        }
    }
}

#[derive(Debug)]
struct CaptureAdapter {
    captured: Captured,
    owner: Option<Owner>,
    fault: Option<Fault>,
}

#[async_trait]
impl Adapter for CaptureAdapter {
    async fn deliver(&self, message: &Message, _: Attempt) -> Outcome {
        if let Some(fault) = self.fault {
            return fault.failure().into();
        }
        self.captured.keep(self.owner.as_ref(), message);
        Outcome::Delivered(Accepted {
            provider_message_id: Some(message.id.to_string()),
            detail: None,
        })
    }
}
