//! The far end that takes everything at once: a provider kind of the benchmark, driven like any other.

use async_trait::async_trait;
use delivery::{Adapter, Attempt, Kind, KindInfo, Message, Setting, kind::Settings};
use domain::{
    Accepted, Channel, Failure, FieldError, Limits, NotificationId, OnAmbiguous, Outcome, RetryPolicy, Scope,
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What the handlers of one rig saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// When each message reached its handler; only while somebody wants to know.
    arrivals: Mutex<HashMap<NotificationId, Instant>>,
    watching: AtomicBool,
    delivered: AtomicU64,
}

impl Seen {
    pub fn watch(&self) {
        self.watching.store(true, Ordering::Relaxed);
    }

    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    pub fn arrivals(&self) -> HashMap<NotificationId, Instant> {
        std::mem::take(&mut *self.arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn arrived(&self) -> usize {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn saw(&self, id: NotificationId) {
        let now = Instant::now();
        self.arrivals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(id)
            .or_insert(now);
    }
}

/// The kind `noop`.
#[derive(Debug)]
pub struct NoopKind {
    info: KindInfo,
    seen: Arc<Seen>,
}

/// A far end that is dead answers nothing for this long, then the connection fails.
const DEAD_FOR: Duration = Duration::from_secs(2);

/// The subject of a message that the far end refuses for good.
pub const BAD: &str = "refuse this";

fn is_dead(settings: &Settings) -> bool {
    settings
        .get("dead")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}

impl NoopKind {
    pub fn new(seen: Arc<Seen>) -> Self {
        let info = KindInfo {
            kind: "noop",
            channel: Channel::Email,
            title: "Takes everything, does nothing",
            setup: "Nothing.",
            settings: vec![Setting::text("dead", "Answers nothing and fails after a while.")],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 1024,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        };
        Self { info, seen }
    }
}

impl Kind for NoopKind {
    fn info(&self) -> &KindInfo {
        &self.info
    }

    fn check(&self, _: &Settings) -> Vec<FieldError> {
        vec![]
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        Ok(Arc::new(Noop {
            seen: self.seen.clone(),
            dead: is_dead(settings),
        }))
    }
}

#[derive(Debug)]
struct Noop {
    seen: Arc<Seen>,
    dead: bool,
}

#[async_trait]
impl Adapter for Noop {
    async fn deliver(&self, message: &Message, _: Attempt) -> Outcome {
        if self.seen.watching.load(Ordering::Relaxed) {
            self.seen.saw(message.id);
        }
        if self.dead {
            tokio::time::sleep(DEAD_FOR).await;
            return Failure::transient(Scope::Lane, "CONNECT", "the far end does not answer").into();
        }
        if message.content.subject == BAD {
            return Failure::permanent(Scope::Message, "BAD", "the far end refuses this message").into();
        }
        self.seen.delivered.fetch_add(1, Ordering::Relaxed);
        Outcome::Delivered(Accepted::default())
    }
}
