//! Bulk actions that go on beside the loop: what they are about may be slow, or away for a while.
//!
//! Always true: the loop knows how many there are, and one that breaks ends its job and says so there. Left alone it
//! would be taken up and break again for ever.

use super::JOB_LEASE;
use domain::chain;
use futures_util::FutureExt;
use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};
use store::{
    Jobs,
    jobs::{Job, Progress},
};
use tokio::sync::Notify;

#[derive(Debug, Clone)]
pub(super) struct Beside {
    store: Arc<dyn Jobs>,
    node: String,
    /// Tells the loop that there is one less.
    wake: Arc<Notify>,
    under_way: Arc<AtomicU64>,
}

/// One that is under way, until this is dropped.
struct UnderWay(Beside);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, SeqCst);
        self.0.wake.notify_one();
    }
}

impl Beside {
    pub fn new(store: Arc<dyn Jobs>, node: String, wake: Arc<Notify>) -> Self {
        Self {
            store,
            node,
            wake,
            under_way: Arc::default(),
        }
    }

    pub fn under_way(&self) -> u64 {
        self.under_way.load(SeqCst)
    }

    pub fn start(&self, job: Job, work: impl Future<Output = store::Result<()>> + Send + 'static) {
        self.under_way.fetch_add(1, SeqCst);
        let one = UnderWay(self.clone());
        drop(tokio::spawn(async move {
            match AssertUnwindSafe(work).catch_unwind().await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(job.id = %job.id, error = %chain(&error), "a bulk action stops for now; it is taken up again");
                }
                Err(_) => one.0.broke(&job).await,
            }
        }));
    }

    async fn broke(&self, job: &Job) {
        tracing::error!(job.id = %job.id, "a bulk action broke, and is ended");
        let ended = async {
            let known = self.store.job(job.tenant, job.id).await?;
            let progress = Progress {
                finished: true,
                error: Some("it broke and goes no further; the log of its node says why".into()),
                ..known.map_or_else(|| job.progress.clone(), |known| known.progress)
            };
            let (id, node) = (job.id, self.node.as_str());
            self.store.job_progress(id, node, &progress, JOB_LEASE).await
        };
        if let Err(error) = ended.await {
            tracing::warn!(job.id = %job.id, error = %chain(&error), "that a bulk action broke could not be written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Actor, TenantId};
    use store::jobs::NewJob;
    use testkit::TempStore;
    use uuid::Uuid;

    #[tokio::test]
    async fn one_that_breaks_ends_its_job_with_what_was_done_and_is_no_longer_under_way() {
        let temp = TempStore::open();
        let jobs: Arc<dyn Jobs> = temp.store.clone();
        let made = NewJob {
            id: Uuid::new_v4(),
            tenant: TenantId::DEFAULT,
            action: "retry".into(),
            filter: "{}".into(),
            actor: Actor::system(),
            total: 9,
            reason: None,
        };
        let id = jobs.create_job(made).await.unwrap().id;
        let job = jobs.claim_job("n1", JOB_LEASE).await.unwrap().unwrap();
        let wake = Arc::new(Notify::new());
        let beside = Beside::new(jobs.clone(), "n1".into(), wake.clone());
        let working = jobs.clone();
        beside.start(job, async move {
            let progress = Progress {
                done: 4,
                ..Progress::default()
            };
            working.job_progress(id, "n1", &progress, JOB_LEASE).await?;
            panic!("a fault of ours")
        });
        assert_eq!(beside.under_way(), 1);
        wake.notified().await;
        assert_eq!(beside.under_way(), 0);
        let job = jobs.job(TenantId::DEFAULT, id).await.unwrap().unwrap();
        assert!(job.progress.finished && job.progress.error.is_some(), "{job:?}");
        assert_eq!(job.progress.done, 4);
    }
}
