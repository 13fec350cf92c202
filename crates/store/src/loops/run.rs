//! One loop: what it is, and running it.

use super::Loops;
use async_trait::async_trait;
use domain::retry;
use futures_util::FutureExt;
use std::{any::Any, future::pending, panic::AssertUnwindSafe, time::Duration};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Something that is done again and again in the background.
///
/// What one sweep learns and the next one does not need lives in the sweep, not in the loop: a panic leaves the loop as
/// the sweep left it.
#[async_trait]
pub trait Loop: Send + 'static {
    fn about(&self) -> About;

    /// Completes when there is something to do before its time. May be dropped at any moment.
    async fn woken(&mut self) {
        pending().await
    }

    /// Does what there is to do now. Tests call it directly.
    async fn sweep(&mut self) -> Swept;
}

/// What is known of a loop before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The name by which people and metrics know it.
    pub name: &'static str,
    /// What it does, in words for the console.
    pub what: &'static str,
    /// How long after a run the next one follows if nothing wakes it.
    pub every: Duration,
    /// It does not run at the start nor by the clock, except again after a failure.
    pub only_when_woken: bool,
}

impl About {
    /// At the start, then this long after each run.
    pub const fn every(name: &'static str, what: &'static str, every: Duration) -> Self {
        Self {
            name,
            what,
            every,
            only_when_woken: false,
        }
    }

    /// When woken, and this long after a failure.
    pub const fn when_woken(name: &'static str, what: &'static str, after_failure: Duration) -> Self {
        Self {
            only_when_woken: true,
            ..Self::every(name, what, after_failure)
        }
    }

    /// How long until the first run.
    pub(super) fn first(&self) -> Option<Duration> {
        (!self.only_when_woken).then_some(Duration::ZERO)
    }
}

/// What came of a sweep, and when the next one is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    pub(super) result: Result<String, String>,
    /// There was something to do, and it was done.
    pub(super) worked: bool,
    next: Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    InTime,
    WhenWoken,
    Within(Duration),
    NotBefore(Duration),
}

impl Swept {
    /// It went well; in words, what was done.
    pub fn did(what: impl Into<String>) -> Self {
        Self {
            result: Ok(what.into()),
            worked: true,
            next: Next::InTime,
        }
    }

    /// It went well, and there was nothing to do; in words, of what there was nothing.
    pub fn idle(what: impl Into<String>) -> Self {
        Self {
            worked: false,
            ..Self::did(what)
        }
    }

    pub fn failed(why: impl Into<String>) -> Self {
        Self {
            result: Err(why.into()),
            worked: false,
            next: Next::InTime,
        }
    }

    /// The next one only when woken.
    pub fn until_woken(self) -> Self {
        self.next(Next::WhenWoken)
    }

    /// The next one when woken, or after this.
    pub fn within(self, wait: Duration) -> Self {
        self.next(Next::Within(wait))
    }

    /// The next one after this, woken or not: what failed now would fail again.
    pub fn not_before(self, wait: Duration) -> Self {
        self.next(Next::NotBefore(wait))
    }

    fn next(self, next: Next) -> Self {
        Self { next, ..self }
    }

    pub fn result(&self) -> &Result<String, String> {
        &self.result
    }

    /// How long until the next one, unless it is woken; none if it waits to be.
    pub(super) fn wait(&self, about: &About) -> Option<Duration> {
        match self.next {
            Next::InTime if about.only_when_woken && self.result.is_ok() => None,
            Next::InTime => Some(about.every),
            Next::WhenWoken => None,
            Next::Within(wait) | Next::NotBefore(wait) => Some(wait),
        }
    }
}

impl Loops {
    /// Runs a loop until `stop`. A sweep is never cut short: a stop waits for it.
    pub fn start(&self, tasks: &TaskTracker, stop: &CancellationToken, work: impl Loop) {
        let about = work.about();
        self.enter(about);
        let run = self.clone().run(work, stop.clone());
        tasks.spawn(self.watch_until(about.name, stop.clone(), run));
    }

    async fn run(self, mut work: impl Loop, stop: CancellationToken) {
        let (mut wait, mut may_wake) = (work.about().first(), true);
        let mut panics_in_a_row = 0;
        loop {
            let woken = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                woken = AssertUnwindSafe(work.woken()).catch_unwind(), if may_wake => woken,
                () = after(wait) => Ok(()),
            };
            let run = self.begin(work.about());
            let swept = match woken {
                Ok(()) => AssertUnwindSafe(work.sweep()).catch_unwind().await,
                Err(panic) => Err(panic),
            };
            let swept = match swept {
                Ok(swept) => {
                    panics_in_a_row = 0;
                    self.over(&run, &swept);
                    swept
                }
                Err(panic) => {
                    let swept = Swept::failed(format!("panicked: {}", words(&*panic)))
                        .not_before(retry::restart(panics_in_a_row));
                    panics_in_a_row += 1;
                    self.panicked(&run, &swept);
                    swept
                }
            };
            wait = swept.wait(&work.about());
            may_wake = !matches!(swept.next, Next::NotBefore(_));
        }
    }
}

async fn after(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => pending().await,
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
