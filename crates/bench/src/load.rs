//! The messages: about 300 bytes each, each under an idempotency key of its own, in random order.

use super::stopwatch::{Rate, Stopwatch};
use crate::limits::Sample;
use anyhow::ensure;
use central::{Central, ingest::Submitted};
use domain::{Actor, Channel, Content, NotificationId, ProviderId, Submission, Target, TenantId};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Messages for one provider. Cheap to clone; all clones count on together.
#[derive(Clone)]
pub struct Load {
    sample: Sample,
    provider: ProviderId,
    channel: Channel,
    actor: Actor,
    next: Arc<AtomicU64>,
}

/// Items in one call where many are submitted at once.
pub const BULK: u64 = 1_000;
/// Callers that submit many at once, side by side.
const BULK_CALLERS: u64 = 4;

impl Load {
    pub fn new(provider: &str, channel: Channel) -> Self {
        Self {
            sample: Sample::new(),
            provider: ProviderId::new(provider),
            channel,
            actor: Actor::new("key:bench"),
            next: Arc::default(),
        }
    }

    /// The next message.
    pub fn message(&self) -> Submission {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let (tenant, key) = (TenantId::DEFAULT, self.sample.key(n));
        let target = match self.channel.needs_recipients() {
            true => Target::Recipients(vec![format!("user{n}@example.org")]),
            false => Target::Provider,
        };
        let content = Content {
            channel: Some(self.channel),
            provider: Some(self.provider.clone()),
            target,
            subject: "Order confirmation".to_owned(),
            body: Sample::body(n),
            ..Content::default()
        };
        let id = NotificationId::from_key(tenant, &key);
        Submission {
            idempotency_key: Some(key),
            ..Submission::new(tenant, id, self.actor.clone(), content)
        }
    }

    pub fn messages(&self, n: u64) -> Vec<Submission> {
        (0..n).map(|_| self.message()).collect()
    }

    /// So many callers, each submitting so many at a time and waiting for the answer; accepted per second.
    pub async fn submit_for(
        &self,
        central: &Central,
        callers: u64,
        at_once: u64,
        run_for: Duration,
    ) -> anyhow::Result<Rate> {
        let (watch, start) = (Stopwatch::start(), Instant::now());
        let call = |load: Load, central: Central| async move {
            let mut accepted = 0;
            while start.elapsed() < run_for {
                accepted += submit(&central, load.messages(at_once)).await?;
            }
            anyhow::Ok(accepted)
        };
        let tasks: Vec<_> = (0..callers)
            .map(|_| tokio::spawn(call(self.clone(), central.clone())))
            .collect();
        let mut accepted = 0;
        for task in tasks {
            accepted += task.await??;
        }
        Ok(watch.stop(accepted))
    }

    /// Submits so many, as fast as it goes.
    pub async fn fill(&self, central: &Central, rows: u64, progress: impl Fn(u64)) -> anyhow::Result<()> {
        let mut left = rows;
        while left > 0 {
            let mut tasks = vec![];
            for _ in 0..BULK_CALLERS {
                let n = left.min(BULK);
                left -= n;
                if n > 0 {
                    let (central, load) = (central.clone(), self.clone());
                    tasks.push(tokio::spawn(
                        async move { submit(&central, load.messages(n)).await },
                    ));
                }
            }
            for task in tasks {
                task.await??;
            }
            progress(rows - left);
        }
        Ok(())
    }

    /// Callers that submit a thousand at a time.
    pub async fn submit_bulk(&self, central: &Central, run_for: Duration) -> anyhow::Result<Rate> {
        self.submit_for(central, BULK_CALLERS, BULK, run_for).await
    }
}

/// All of them must be accepted; how many that was.
pub async fn submit(central: &Central, messages: Vec<Submission>) -> anyhow::Result<u64> {
    let answers = central.ingest.submit(messages).await?;
    let accepted = answers
        .iter()
        .filter(|a| matches!(a, Submitted::Accepted { .. }))
        .count();
    ensure!(
        accepted == answers.len(),
        "{accepted} of {} messages were accepted",
        answers.len()
    );
    Ok(accepted as u64)
}
