//! What the far end called the messages of one attempt: what receipts are found by that carry nothing of ours.

use super::attempt::Row;
use domain::settle::Ended;
use store::outbox::{AttemptRecord, SentTo};

/// Of a lane that gets receipts.
pub(super) fn sent_to(row: &Row, record: &AttemptRecord, targets: &[String]) -> Vec<SentTo> {
    let sent = |message_id: &String, address: &str| SentTo {
        lane: row.lane,
        message_id: message_id.clone(),
        address: address.to_owned(),
        generation: row.generation,
    };
    let one_by_one: Vec<_> = record
        .recipients
        .iter()
        .filter_map(|update| Some(sent(update.provider_message_id.as_ref()?, &update.address)))
        .collect();
    match &record.ended {
        Ended::Delivered {
            provider_message_id: Some(id),
        } if one_by_one.is_empty() => {
            vec![sent(id, targets.first().map_or("", String::as_str))]
        }
        _ => one_by_one,
    }
}
