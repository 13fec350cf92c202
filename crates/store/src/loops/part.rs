//! Parts a process cannot do without: tasks that end only when they are told to.

use super::Loops;
use std::{sync::Arc, thread::panicking};
use tokio_util::sync::CancellationToken;

impl Loops {
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
        let loops = self.clone();
        let watched = self.watch(part, work);
        async move {
            watched.await;
            if !stop.is_cancelled() {
                loops.gone(part, "ended before it was told to");
            }
        }
    }

    /// What is no longer there, and why.
    pub fn ended(&self) -> Option<Arc<str>> {
        self.0.ended.borrow().clone()
    }

    /// Completes when a part is no longer there.
    pub async fn failed(&self) -> Arc<str> {
        let mut told = self.0.ended.subscribe();
        let ended = told.wait_for(Option::is_some).await;
        // The sender is in `self`: it cannot be gone.
        ended.ok().and_then(|ended| ended.clone()).unwrap_or_default()
    }

    fn gone(&self, part: &'static str, how: &str) {
        tracing::error!(part, how, "a part that this process cannot do without is gone");
        self.0.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert_with(|| format!("{part}: {how}").into());
            first
        });
    }
}

/// Held by the part as long as it runs.
struct Watched(Loops, &'static str);

impl Drop for Watched {
    fn drop(&mut self) {
        if panicking() {
            self.0.gone(self.1, "panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_that_panics_is_told_of() {
        let loops = Loops::default();
        let part = tokio::spawn(loops.watch("the recorder", async { panic!("on purpose") }));
        assert_eq!(&*loops.failed().await, "the recorder: panicked");
        assert!(part.await.is_err());
        assert!(loops.ended().is_some());
    }

    #[tokio::test]
    async fn a_part_that_ends_before_it_was_told_to_is_told_of() {
        let (loops, stop) = (Loops::default(), CancellationToken::new());
        loops.watch_until("the loop", stop.clone(), async {}).await;
        assert_eq!(
            loops.ended().as_deref(),
            Some("the loop: ended before it was told to")
        );
    }

    #[tokio::test]
    async fn a_part_that_ends_as_it_was_told_to_or_is_dropped_is_no_news() {
        let (loops, stop) = (Loops::default(), CancellationToken::new());
        stop.cancel();
        loops.watch_until("the loop", stop, async {}).await;
        assert_eq!(loops.watch("a task", async { 7 }).await, 7);
        let hanging = tokio::spawn(loops.watch("a task", std::future::pending::<()>()));
        hanging.abort();
        assert!(hanging.await.is_err());
        assert_eq!(loops.ended(), None);
    }
}
