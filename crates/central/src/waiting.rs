//! Why a notification waits: what its row and its lane say, and what this node knows about the provider's secrets.

use crate::directory::Directory;
use domain::{Timestamp, WaitFacts, Waiting, waiting::why};
use store::query::Notification;

/// None for one that has ended.
pub async fn of(directory: &Directory, row: &Notification, now: Timestamp) -> store::Result<Option<Waiting>> {
    let (false, Some(due_at)) = (row.status.is_terminal(), row.next_attempt_at) else {
        return Ok(None);
    };
    let sealed = match row.lane {
        Some(lane) if row.held.is_none() => directory.sealed(lane).await?,
        _ => None,
    };
    Ok(Some(why(WaitFacts {
        now,
        due_at,
        leased_until: row.leased_until,
        attempts: row.retry_count,
        last_code: row.last_code.as_deref(),
        hold: row.held.as_ref(),
        not_before: row.lane_not_before,
        sealed: sealed.as_deref(),
    })))
}
