//! Working on receipts: everything that follows from them, in batches. Asks nobody outside.

use super::{MAX_INBOX, ReceiptService};
use crate::changes::Change;
use std::sync::Arc;
use store::{
    receipts::{Done, DoneAs, ReceiptRules},
    signals::Signal,
};

/// Receipts in one transaction: few enough that a send waits only moments behind it.
const RECEIPT_BATCH: u32 = 250;

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
        let rules = ReceiptRules {
            crowded: match waiting.later < u64::from(self.max_orphans) {
                true => Arc::default(),
                false => Arc::new(self.store.lanes_with_orphans(self.max_orphans).await?),
            },
            opt_outs: self.opt_outs.clone(),
        };
        let mut total = 0;
        loop {
            let worked = self.store.work_on_receipts(RECEIPT_BATCH, &rules).await?;
            total += worked.done.len() as u64;
            self.announce_holds(&worked.done);
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

    /// What waits for a place in a lane that is held now goes back, here and on other nodes.
    fn announce_holds(&self, done: &[Done]) {
        if done.iter().any(|one| one.hold.is_some()) {
            self.wake.look();
            self.signals.announce(Signal::LookAgain);
        }
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
