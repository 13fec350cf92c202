//! A call that waits, for the tests around it.

use domain::{Timestamp, site::Category};
use std::time::Duration;
use store::buffer::{Message, MessageId, MessageStatus, Origin};

/// One that is due, with this id.
pub(super) fn a_message(n: u128) -> Message {
    Message {
        seq: 1,
        id: MessageId(uuid::Uuid::from_u128(n)),
        category: Category::ExternalSystem,
        target: "erp".into(),
        payload: "{}".into(),
        summary: None,
        retry_count: 0,
        max_retries: 50,
        retry_interval: Duration::from_secs(30),
        created_at: Timestamp::EPOCH,
        last_attempt_at: None,
        status: MessageStatus::Pending,
        last_error: None,
        origin: Origin::default(),
        due_at: Timestamp::EPOCH,
        queued_at: Some(Timestamp::EPOCH),
        attempt: 1,
        interruptions: 0,
        parked_at: None,
        damaged: None,
        payload_bytes: 2,
    }
}
