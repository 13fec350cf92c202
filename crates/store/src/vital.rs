//! The parts a process cannot do without: tasks that end only when they are told to.
//!
//! Always true: when such a task panics, or ends before it was told to, that is logged and [`Vitals::ended`] says so from
//! then on. Whoever runs the process then ends it; a part that is gone unseen would look like health.

use std::{sync::Arc, thread::panicking};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Clones tell of the same parts.
#[derive(Debug, Clone)]
pub struct Vitals(watch::Sender<Option<Arc<str>>>);

impl Default for Vitals {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Vitals {
    /// Runs a part that may end by itself, but not in a panic.
    pub fn watch<F: Future>(&self, part: &'static str, work: F) -> impl Future<Output = F::Output> + use<F> {
        let watched = Watched(self.clone(), part);
        async move {
            let done = work.await;
            drop(watched);
            done
        }
    }

    /// Runs a part that must not end before `stop`.
    pub fn watch_until<F: Future<Output = ()>>(
        &self,
        part: &'static str,
        stop: CancellationToken,
        work: F,
    ) -> impl Future<Output = ()> + use<F> {
        let vitals = self.clone();
        let watched = self.watch(part, work);
        async move {
            watched.await;
            if !stop.is_cancelled() {
                vitals.over(part, "ended before it was told to");
            }
        }
    }

    /// What is no longer there, and why.
    pub fn ended(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    /// Completes when a part is no longer there.
    pub async fn failed(&self) -> Arc<str> {
        let mut told = self.0.subscribe();
        let ended = told.wait_for(Option::is_some).await;
        // The sender is in `self`: it cannot be gone.
        ended.ok().and_then(|ended| ended.clone()).unwrap_or_default()
    }

    fn over(&self, part: &'static str, how: &str) {
        tracing::error!(part, how, "a part that this process cannot do without is gone");
        self.0.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert_with(|| format!("{part}: {how}").into());
            first
        });
    }
}

/// Held by the part as long as it runs.
struct Watched(Vitals, &'static str);

impl Drop for Watched {
    fn drop(&mut self) {
        if panicking() {
            self.0.over(self.1, "panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_that_panics_is_told_of() {
        let vitals = Vitals::default();
        let part = tokio::spawn(vitals.watch("the recorder", async { panic!("on purpose") }));
        assert_eq!(&*vitals.failed().await, "the recorder: panicked");
        assert!(part.await.is_err());
        assert!(vitals.ended().is_some());
    }

    #[tokio::test]
    async fn a_part_that_ends_before_it_was_told_to_is_told_of() {
        let (vitals, stop) = (Vitals::default(), CancellationToken::new());
        vitals.watch_until("the loop", stop.clone(), async {}).await;
        assert_eq!(
            vitals.ended().as_deref(),
            Some("the loop: ended before it was told to")
        );
    }

    #[tokio::test]
    async fn a_part_that_ends_as_it_was_told_to_or_is_dropped_is_no_news() {
        let (vitals, stop) = (Vitals::default(), CancellationToken::new());
        stop.cancel();
        vitals.watch_until("the loop", stop, async {}).await;
        assert_eq!(vitals.watch("a task", async { 7 }).await, 7);
        let hanging = tokio::spawn(vitals.watch("a task", std::future::pending::<()>()));
        hanging.abort();
        assert!(hanging.await.is_err());
        assert_eq!(vitals.ended(), None);
    }
}
