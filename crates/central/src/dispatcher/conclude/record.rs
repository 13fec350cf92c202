//! What is written down about an attempt.

use super::super::attempt::{Row, Sent};
use crate::directory::LaneEntry;
use domain::{
    Outcome, RecipientState,
    settle::{Ended, RecipientUpdate, Settlement},
};
use std::time::Duration;
use store::outbox::{AttemptAudit, AttemptRecord};

pub(super) fn record(
    row: &Row,
    settlement: Settlement,
    targets: &[String],
    attempt: Option<AttemptAudit>,
) -> AttemptRecord {
    let Settlement {
        ended, recipients, ..
    } = settlement;
    let resolved_targets = match ended {
        Ended::Delivered { .. } => reached(row, &recipients, targets, true),
        Ended::Park { .. } | Ended::Discard { .. } => reached(row, &recipients, targets, false),
        Ended::Retry { .. } | Ended::Postpone { .. } | Ended::Wait { .. } => vec![],
    };
    AttemptRecord {
        lease: row.lease,
        tenant: row.tenant,
        id: row.id,
        ended: shortened(ended),
        resolved_targets,
        recipients,
        messages: vec![],
        attempt,
        after_interruption: row.interruptions > 0,
        in_doubt: row.interruptions > 0,
    }
}

/// With an error of the length that is kept.
fn shortened(mut ended: Ended) -> Ended {
    if let Ended::Retry { cause, .. }
    | Ended::Postpone { cause, .. }
    | Ended::Wait { cause }
    | Ended::Park { cause }
    | Ended::Discard { cause } = &mut ended
    {
        cause.error = cut(std::mem::take(&mut cause.error));
    }
    ended
}

/// Who has it: everybody who accepted, now or earlier.
fn reached(row: &Row, updates: &[RecipientUpdate], targets: &[String], delivered: bool) -> Vec<String> {
    let mut reached: Vec<String> = row
        .known
        .iter()
        .filter(|r| r.state == RecipientState::Accepted)
        .map(|r| r.address.clone())
        .collect();
    if updates.is_empty() && delivered {
        reached.extend(targets.iter().cloned());
    }
    reached.extend(
        updates
            .iter()
            .filter(|u| u.state == RecipientState::Accepted)
            .map(|u| u.address.clone()),
    );
    reached
}

fn cut(text: String) -> String {
    match text.char_indices().nth(domain::submission::limit::ERROR) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

pub(super) fn audit(entry: &LaneEntry, sent: &Sent, took: Duration) -> AttemptAudit {
    let (failure, detail) = match &sent.outcome {
        Outcome::Delivered(accepted) => (None, accepted.detail.clone()),
        Outcome::Failed(failure) => (Some(failure), Some(failure.detail.clone())),
        Outcome::Mixed(reports) => {
            let failed: Vec<_> = reports.iter().filter_map(|r| r.result.as_ref().err()).collect();
            let first = failed.first().map_or("", |f| f.detail.as_str());
            let text = format!(
                "{} accepted, {} failed: {first}",
                reports.len() - failed.len(),
                failed.len()
            );
            (failed.first().copied(), Some(text))
        }
    };
    AttemptAudit {
        target: entry
            .provider
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        duration_ms: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        code: failure.map(|failure| failure.code.to_string()),
        provider_code: failure.and_then(|failure| failure.provider_code.as_ref().map(ToString::to_string)),
        detail: detail.map(cut),
        transcript: sent.transcript.clone(),
    }
}
