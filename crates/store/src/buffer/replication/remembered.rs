//! Notifications that central acknowledged to a machine that was active as well, as it hands them in: as messages that wait. The machine
//! that takes them in forwards them once more, and central knows a repeat by its id. Put in among what that machine remembers
//! they would be lost where its central is another database already than the one that acknowledged them.

use domain::pair::{Row, RowValue};

/// Where a row of `image_tombstone` has its values.
const ENDED_AS: usize = 3;
const PAYLOAD: usize = 7;

/// The row of `image_message` that a remembered notification was, if this is one: what was discarded, and what is known by its id alone,
/// is none.
pub fn as_waiting(tombstone: &Row) -> Option<Row> {
    let values: Vec<_> = tombstone.values().collect();
    let delivered = values.get(ENDED_AS) == Some(&RowValue::Text(b"Delivered"));
    if !delivered || values.get(PAYLOAD)? == &RowValue::Null {
        return None;
    }
    let of = |place: usize| values.get(place).copied().unwrap_or(RowValue::Null);
    let none = || RowValue::Integer(0);
    let notification = RowValue::Integer(1);
    let waiting = [
        of(0), // seq
        of(1), // id
        notification,
        of(2), // target
        of(PAYLOAD),
        none(), // retry_count
        of(8),  // max_retries
        of(9),  // retry_interval_ms
        of(6),  // created_at
        RowValue::Null,
        none(), // status: waits
        RowValue::Null,
        of(10), // origin_instance
        of(11), // execution_id
        of(12), // source_script
        of(13), // parent_execution_id
        of(16), // summary
        of(14), // content_hash
        of(6),  // due_at
        of(6),  // queued_at
        none(), // attempt
        RowValue::Null,
        none(), // interruptions
        RowValue::Null,
        of(15), // op
        none(), // told
    ];
    Some(waiting.into_iter().collect())
}
