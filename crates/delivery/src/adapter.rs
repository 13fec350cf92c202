//! The seam between the dispatcher and a far end.

use crate::transcript::Recorder;
use async_trait::async_trait;
use domain::{Content, Failure, NotificationId, Outcome, Receipt, Scope, Timestamp, TraceContext};
use serde::de::DeserializeOwned;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::time::Instant;

/// One way out. Built from a provider's settings, shared by all attempts of its lane, and kept as long as the
/// settings stay the same, so that connections are reused.
#[async_trait]
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// Makes one attempt. Always answers before the deadline; dropping the future abandons the attempt and is
    /// not an outcome.
    async fn deliver(&self, message: &Message, attempt: Attempt) -> Outcome;

    /// Whether each recipient is a request of its own. Rates and deadlines count requests.
    fn asks_one_by_one(&self) -> bool {
        false
    }

    /// When the message may go out, if not now: some services take some messages at certain hours only. Does no IO.
    fn not_before(&self, _message: &Message, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// What it would make of a message that names this template of ours. Where no kind of a channel has templates, every one
    /// could send it. Does no IO.
    fn template_use(&self, _name: &str) -> TemplateUse {
        TemplateUse::Known
    }

    /// Asks the far end about a receipt that nobody signed. Answers with what it says itself; none where it knows of no
    /// such thing.
    async fn ask_receipt(
        &self,
        _unproven: &Receipt,
        _deadline: Deadline,
    ) -> Result<Option<Receipt>, Failure> {
        Ok(None)
    }
}

/// What is to be delivered, and to whom. Targets are the recipients who are still open; channels that address
/// their far end by settings alone have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Stays the same over retries: becomes the Message-ID or the idempotency header.
    pub id: NotificationId,
    /// Whom it names has become `targets`. Apart, so that a message on its way is moved cheaply.
    pub content: Box<Content>,
    pub targets: Vec<String>,
    /// Where it came from; shown to receivers that want to know.
    pub site: Option<String>,
    pub created_at: Timestamp,
    /// This attempt's step of a trace; for far ends that go on with it.
    pub trace: Option<TraceContext>,
    /// Where its one recipient says that they want no more of it; for mail.
    pub unsubscribe: Option<String>,
}

impl Message {
    /// Fields only some channels know, whatever JSON they are. What cannot be read is the message's own fault and never
    /// goes away: it is told instead of being left out.
    pub fn type_data(&self) -> Result<Option<serde_json::Value>, Failure> {
        let text = self.content.type_data.as_deref();
        text.map(serde_json::from_str).transpose().map_err(unreadable)
    }

    /// The template it is made of, for kinds that have any.
    pub fn template_name(&self) -> Option<String> {
        template_name(&self.content)
    }

    /// The type data as a kind knows it, which is an object; the default where there is none.
    pub fn data<T: DeserializeOwned + Default>(&self) -> Result<T, Failure> {
        read_data(&self.content).map_err(unreadable)
    }
}

/// What becomes of a message that names a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateUse {
    /// It is sent.
    Known,
    /// It is refused: the settings do not name the template.
    Unknown,
    /// Its text is sent: the kind has no templates.
    SendsText,
}

impl TemplateUse {
    pub(crate) fn if_known(known: bool) -> Self {
        if known { Self::Known } else { Self::Unknown }
    }
}

/// The template a content is made of, for kinds that have any.
pub fn template_name(content: &Content) -> Option<String> {
    let data: serde_json::Value = serde_json::from_str(content.type_data.as_deref()?).ok()?;
    Some(data.get("template")?.get("name")?.as_str()?.to_owned())
}

/// The type data of a content, or why it is not what the kind knows.
pub(crate) fn read_data<T: DeserializeOwned + Default>(content: &Content) -> Result<T, String> {
    match content.type_data.as_deref().map(str::trim_start) {
        None | Some("null") => Ok(T::default()),
        Some(text) if text.starts_with('{') => serde_json::from_str(text).map_err(|e| e.to_string()),
        Some(_) => Err("it must be an object".into()),
    }
}

fn unreadable(why: impl std::fmt::Display) -> Failure {
    let told = format!("its type data cannot be read: {why}");
    Failure::permanent(Scope::Message, "VALIDATION", told)
}

/// What one attempt is given besides the message: until when it may last, and who writes down what is said.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub deadline: Deadline,
    /// How often somebody has sent the message on its way again.
    pub generation: i32,
    pub recorder: Recorder,
    /// Where each recipient is a request of its own: whether nobody else is to be asked for.
    pub stop: Stop,
}

/// Said once, while an attempt is under way: the far end has asked for a pause, or somebody holds it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Attempt {
    /// The same with an earlier end: no longer than `timeout`, and a little before whoever waits gives up.
    pub(crate) fn within(self, timeout: std::time::Duration) -> Self {
        Self {
            deadline: self.deadline_within(timeout),
            ..self
        }
    }

    /// The earlier end itself.
    pub(crate) fn deadline_within(&self, timeout: std::time::Duration) -> Deadline {
        self.deadline.within(timeout).with_margin()
    }
}

/// The first time, and nobody writes it down.
impl From<Deadline> for Attempt {
    fn from(deadline: Deadline) -> Self {
        Self {
            deadline,
            generation: 0,
            recorder: Recorder::off(),
            stop: Stop::default(),
        }
    }
}

/// When an attempt must be over.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(pub Instant);

impl Deadline {
    pub fn after(wait: std::time::Duration) -> Self {
        Self(from_now(wait))
    }

    pub fn left(self) -> std::time::Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// A little earlier, so that an outcome still gets out before whoever set the deadline gives up.
    pub fn with_margin(self) -> Self {
        let margin = (self.left() / 10).min(std::time::Duration::from_millis(100));
        Self(self.0.checked_sub(margin).unwrap_or(self.0))
    }

    /// The earlier of this deadline and `wait` from now.
    pub fn within(self, wait: std::time::Duration) -> Self {
        Self(self.0.min(from_now(wait)))
    }
}

/// No deadline is further away: an attempt that takes longer is no attempt.
const MAX_DEADLINE: std::time::Duration = std::time::Duration::from_secs(86_400);

fn from_now(wait: std::time::Duration) -> Instant {
    Instant::now() + wait.min(MAX_DEADLINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn type_data_that_cannot_be_read_is_told_and_none_is_the_default() {
        #[derive(Debug, Default, PartialEq, serde::Deserialize)]
        struct Data {
            priority: Option<u8>,
        }
        let read = |data: Option<&str>| {
            let message = Message {
                id: NotificationId::mint(),
                content: Box::new(Content {
                    type_data: data.map(str::to_owned),
                    ..Content::default()
                }),
                targets: vec![],
                site: None,
                created_at: Timestamp::EPOCH,
                trace: None,
                unsubscribe: None,
            };
            message.data::<Data>()
        };
        assert_eq!(read(None).unwrap(), Data::default());
        assert_eq!(read(Some("null")).unwrap(), Data::default());
        let known = read(Some(r#"{"priority": 5, "of another": "kind"}"#)).unwrap();
        assert_eq!(known.priority, Some(5));
        for bad in [r#"{"priority": "soon"}"#, "{\"prio", "", "[5]", "5"] {
            let failure = read(Some(bad)).unwrap_err();
            assert_eq!(
                (failure.kind, failure.code.as_ref()),
                (domain::FailureKind::Permanent, "VALIDATION")
            );
            assert!(failure.detail.contains("type data"), "{}", failure.detail);
        }
    }

    #[tokio::test]
    async fn a_wait_beyond_all_measure_is_still_a_deadline() {
        assert!(Deadline::after(Duration::MAX).left() <= MAX_DEADLINE);
        let soon = Deadline::after(Duration::from_secs(5));
        assert!(soon.within(Duration::MAX).left() <= Duration::from_secs(5));
    }
}
