//! Working on receipts: asking far ends that do not sign, then everything that follows, in batches.

use super::{MAX_INBOX, MAX_ORPHANS, ReceiptService};
use crate::{changes::Change, directory::LaneAdapter};
use delivery::Deadline;
use std::{sync::atomic::Ordering, time::Duration};
use store::receipts::{Done, DoneAs, Proof, ReceiptRules, Unproven};

/// Receipts in one transaction: few enough that a send waits only moments behind it.
const RECEIPT_BATCH: u32 = 250;
/// Far ends are asked one after the other; so many in one sweep.
const ASKED_PER_SWEEP: u32 = 20;
const ASK_RECEIPT_TIMEOUT: Duration = Duration::from_secs(10);

impl ReceiptService {
    /// Works on everything whose time has come. Answers how many receipts it is done with.
    pub async fn sweep(&self) -> store::Result<u64> {
        let waiting = self.store.receipts_waiting(MAX_INBOX).await?;
        self.found(waiting);
        if waiting.fresh == 0 && waiting.later == 0 {
            // A scrape shows the counters from the start.
            self.tell(&[]);
            return Ok(0);
        }
        self.ask().await?;
        let mut total = 0;
        loop {
            let rules = ReceiptRules {
                keep_orphans: self.inbox.orphans.load(Ordering::Relaxed) < u64::from(MAX_ORPHANS),
                opt_outs: self.opt_outs.clone(),
            };
            let worked = self.store.work_on_receipts(RECEIPT_BATCH, &rules).await?;
            total += worked.done.len() as u64;
            self.tell(&worked.done);
            if let Some(failed) = worked.failed {
                return Err(failed);
            }
            if worked.looked_at < RECEIPT_BATCH {
                break;
            }
            // Others who wait for the writer get their turn before the next batch.
            tokio::task::yield_now().await;
        }
        if total > 0 {
            self.found(self.store.receipts_waiting(MAX_INBOX).await?);
        }
        Ok(total)
    }

    /// What nobody signed is believed once the far end says so itself.
    async fn ask(&self) -> store::Result<()> {
        for unproven in self.store.unproven_receipts(ASKED_PER_SWEEP).await? {
            let proof = match self.proof(&unproven).await {
                // One provider that cannot be read must not keep everybody else's receipts waiting.
                Err(error) if !error.may_pass() => {
                    tracing::error!(
                        lane.id = %unproven.lane,
                        error = &error as &dyn std::error::Error,
                        "a receipt's provider cannot be read; it waits"
                    );
                    Proof::Later
                }
                proof => proof?,
            };
            self.store.prove_receipt(unproven.id, proof).await?;
        }
        Ok(())
    }

    async fn proof(&self, unproven: &Unproven) -> store::Result<Proof> {
        // As it is set up now: what is in memory may be older than the callback.
        let Some(provider) = self.providers.provider_of_lane(unproven.lane).await? else {
            return Ok(Proof::Unknown);
        };
        let version = Some(provider.version);
        let entry = self.directory.lane(unproven.lane, version).await?;
        let LaneAdapter::Ready(adapter) = &entry.adapter else {
            return Ok(Proof::Later);
        };
        let deadline = Deadline::after(ASK_RECEIPT_TIMEOUT);
        Ok(match adapter.ask_receipt(&unproven.receipt, deadline).await {
            Ok(Some(said)) => Proof::Proven(said.state),
            Ok(None) => Proof::Unknown,
            Err(failure) => {
                let lane = unproven.lane;
                tracing::warn!(lane.id = %lane, code = %failure.code, "a receipt could not be asked for; it waits");
                Proof::Later
            }
        })
    }

    fn tell(&self, done: &[Done]) {
        for what in DoneAs::ALL {
            // Also when there are none: a figure that is not there looks like one that is not kept.
            let n = done.iter().filter(|one| one.what == what).count() as u64;
            metrics::counter!("waypost_receipts_total", "result" => what.as_str()).increment(n);
        }
        if !self.changes.is_watched() {
            return;
        }
        for one in done {
            if let (Some(id), Some(status)) = (one.notification, one.status) {
                self.changes.tell(Change {
                    tenant: one.tenant,
                    id,
                    status,
                    code: one.code.clone(),
                });
            }
        }
    }
}
