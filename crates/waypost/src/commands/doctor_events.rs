//! What `doctor` says about events that became nothing.

use super::doctor::Finding;
use crate::output;
use client::{
    Client, Timestamp,
    events::{EventFilter, EventRow},
};
use std::{collections::BTreeMap, time::Duration};

/// Older ones have been seen, or do not matter any more: nothing but time takes an event away.
const LOOKED_BACK: Duration = Duration::from_secs(7 * 86_400);
/// Events looked at, newest first.
const LOOKED_AT: usize = 500;

pub(super) async fn findings(client: &Client, now: Timestamp) -> client::Result<Vec<Finding>> {
    let mut findings = vec![];
    for (status, advice) in [
        (
            "Failed",
            "`waypost event outbox --status Failed` shows them. Once the cause is mended, `waypost event replay ID --outbox` \
             has one worked on again, `waypost event replay --outbox --filter status=Failed` all of them.",
        ),
        (
            "Deferred",
            "Say what follows from them (`waypost event types put NAME FILE`), then `waypost event replay --outbox --filter \
             status=Deferred`: by themselves they send nothing.",
        ),
    ] {
        let filter = EventFilter {
            status: Some(status.into()),
            from: Some(now - LOOKED_BACK),
            ..EventFilter::default()
        };
        findings.extend(by_reason(
            status,
            advice,
            &client.events(&filter, LOOKED_AT).await?,
        ));
    }
    Ok(findings)
}

/// One finding for each reason there is.
fn by_reason(status: &str, advice: &str, events: &[EventRow]) -> Vec<Finding> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        let reason = event.last_error.as_deref().unwrap_or("without a reason");
        *reasons.entry(reason).or_default() += 1;
    }
    let finding = |(reason, n): (&str, usize)| {
        let events = if n == 1 { "event is" } else { "events are" };
        let what = format!("{n} {events} {status}: {}", output::rows::cut(reason, 120));
        Finding::new(what, advice)
    };
    reasons.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(reason: Option<&str>) -> EventRow {
        serde_json::from_value(serde_json::json!({
            "eventId": "0197c0de-0000-7000-8000-000000000001", "tenant": "default", "eventType": "a", "entityId": "1",
            "status": "Failed", "attempts": 1, "lastError": reason, "createdAt": "2026-03-15T10:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn events_that_became_nothing_are_told_of_by_reason() {
        let events = [
            event(Some("Unknown tenant")),
            event(Some("Missing data: guestEmail")),
            event(Some("Unknown tenant")),
        ];
        let found = by_reason("Failed", "mend it", &events);
        let told: Vec<_> = found.iter().map(|f| f.what.as_str()).collect();
        assert_eq!(
            told,
            [
                "1 event is Failed: Missing data: guestEmail",
                "2 events are Failed: Unknown tenant"
            ]
        );
        assert_eq!(by_reason("Failed", "mend it", &[]), []);
    }
}
