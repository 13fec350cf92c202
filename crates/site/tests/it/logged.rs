//! What is logged while a test runs, on its own thread.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

#[derive(Debug, Clone, Default)]
pub struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    /// From now on, until the guard is dropped. For tests whose runtime has one thread.
    pub fn start() -> (Self, DefaultGuard) {
        let logged = Self::default();
        let guard = tracing::subscriber::set_default(logged.clone());
        (logged, guard)
    }

    /// Lines with these words.
    pub fn with(&self, words: &str) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        lines
            .iter()
            .filter(|line| line.contains(words))
            .cloned()
            .collect()
    }
}

impl Subscriber for Logged {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Fields and message, one after the other.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!("{}={value:?} ", field.name());
    }
}
