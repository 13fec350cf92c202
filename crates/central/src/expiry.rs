//! Parks what waits past its `expiresAt`, whatever keeps it waiting: a held lane, a pause, a key that is missing.
//!
//! Leaves to others: what is claimed past its time (the dispatcher parks it), finding out that there is something
//! (`chores`, told by the dispatcher's look).

use crate::changes::{Change, Changes};
use domain::{Status, code::EXPIRED};
use store::Outbox;

/// Rows in one transaction: few enough that nobody waits long behind it.
const CHUNK: u32 = 500;

/// Parks until nothing overdue is left. Answers how many that were.
pub async fn sweep(store: &dyn Outbox, changes: &Changes) -> store::Result<u64> {
    let mut total = 0;
    loop {
        let parked = store.park_expired(CHUNK).await?;
        total += parked.len() as u64;
        for (tenant, id) in &parked {
            tracing::debug!(notification.id = %id, "parked: its time had passed while it waited");
            if changes.is_watched() {
                changes.tell(Change {
                    tenant: *tenant,
                    id: *id,
                    status: Status::Parked,
                    code: Some(EXPIRED.into()),
                });
            }
        }
        if parked.len() < CHUNK as usize {
            if total > 0 {
                tracing::info!(rows = total, "parked what waited past its time");
            }
            return Ok(total);
        }
        tokio::task::yield_now().await;
    }
}
