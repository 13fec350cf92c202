//! Working on receipts: asking far ends that do not sign, then everything that follows, in batches.

use super::{MAX_INBOX, MAX_ORPHANS, ReceiptService};
use crate::{changes::Change, directory::LaneAdapter, opted_out};
use delivery::{Deadline, OptOut};
use domain::{Actor, LaneId, retry::next_probe};
use std::{collections::HashMap, sync::atomic::Ordering, time::Duration};
use store::{
    outbox::HoldLane,
    receipts::{Done, DoneAs, Proof, ToldHold, Unproven},
};

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
            let keep_orphans = self.inbox.orphans.load(Ordering::Relaxed) < u64::from(MAX_ORPHANS);
            let worked = self.store.work_on_receipts(RECEIPT_BATCH, keep_orphans).await?;
            total += worked.done.len() as u64;
            self.tell(&worked.done);
            self.suppress(&worked.done).await?;
            self.hold(worked.done).await?;
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
            let proof = self.proof(&unproven).await?;
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

    /// Who wants no more, as a provider tells, is put on the list of who must not be written to. Only news does that: a receipt
    /// that was known already, or of a message from before somebody took the address off the list, does not.
    async fn suppress(&self, done: &[Done]) -> store::Result<()> {
        for one in done {
            let (Some(failed), Some(id)) = (&one.failed, one.notification) else {
                continue;
            };
            let entry = self.directory.lane(one.lane, None).await?;
            let code = failed.provider_code.as_deref();
            if OptOut::find(entry.opt_outs, code).is_none() {
                continue;
            }
            let Some(row) = self.queries.get(one.tenant, id).await? else {
                continue;
            };
            let content = &row.submission.content;
            if let Some(told) = opted_out::entry(entry.opt_outs, code, &failed.address, content) {
                let sent_at = row.last_attempt_at.unwrap_or(row.created_at);
                self.suppressions
                    .suppress_as_told(one.tenant, &told, sent_at)
                    .await?;
            }
        }
        Ok(())
    }

    /// A failure that would meet every other message stops the lane that sent this one, as it would have as an answer.
    async fn hold(&self, done: Vec<Done>) -> store::Result<()> {
        let holds = done.into_iter().filter_map(|one| one.hold);
        let by_lane: HashMap<LaneId, ToldHold> = holds.map(|hold| (hold.lane, hold)).collect();
        for hold in by_lane.into_values() {
            let hold = HoldLane {
                lane: hold.lane,
                config_version: Some(hold.config_version),
                reason: hold.reason,
                detail: hold.detail,
                code: None,
                probe_after: next_probe(hold.reason, 0, None),
                actor: Actor::system(),
            };
            self.outbox.hold_lane(hold).await?;
        }
        Ok(())
    }
}
