//! What is said of an attempt that came to something: in tracking, in the event log, and to central.

use super::{
    Shared,
    event::{self, About, What},
    message::{Attempted, Count, Message, Step},
    telemetry::{self, News},
    tracking::{self, Change},
};
use crate::{Result, sqlite::writer::WriteSession};
use domain::site::{OperationEvent, OperationStatus};
use std::sync::Arc;

/// Where it is told what an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportScope {
    Everywhere,
    InTracking,
}

/// Tracking of a change that has been made. Of notifications it is central's.
pub(super) fn track(
    s: &mut WriteSession<'_>,
    attempted: &Attempted,
    message: &Message,
    op: i64,
) -> Result<()> {
    let (status, _, _, error) = meaning(&attempted.step);
    if message.category.is_forwarded() {
        return Ok(());
    }
    let change = Change {
        status,
        error: error.or(message.last_error.as_deref()),
        http_status: attempted.http_status,
        actor: None,
    };
    tracking::update(s, message, change, op)
}

/// Its event and its news.
pub(super) fn tell(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
    message: &Message,
    op: i64,
) -> Result<()> {
    let (status, event, what, error) = meaning(&attempted.step);
    let about = About {
        detail: error,
        ..About::one(message.id)
    };
    if let Some(what) = what {
        event::write(s, what, message.category, &message.target, about)?;
    }
    if message.category.is_forwarded() && status != OperationStatus::Parked {
        // Central is told when it gets one; what it has to be told besides is that it does not.
        return Ok(());
    }
    if let Some(event) = event {
        let news = News {
            error,
            http_status: attempted.http_status,
            occurred_at: Some(attempted.started_at),
            took: Some(attempted.took),
            ..News::of(message, event, status)
        };
        telemetry::write(s, shared, op, news)?;
    }
    Ok(())
}

type Meaning<'a> = (
    OperationStatus,
    Option<OperationEvent>,
    Option<What>,
    Option<&'a str>,
);

fn meaning(step: &Step) -> Meaning<'_> {
    use OperationEvent::{ParkedMaxRetries, PermanentFailure, TransientFailure};
    match step {
        Step::Delivered => (
            OperationStatus::Delivered,
            Some(OperationEvent::Delivered),
            Some(What::Delivered),
            None,
        ),
        // Nothing of it ever was in the buffer, as far as anybody outside can tell.
        Step::Failed { error } => (OperationStatus::Failed, Some(PermanentFailure), None, Some(error)),
        Step::Retry { error, count, .. } => (
            OperationStatus::Retrying,
            Some(TransientFailure),
            Some(waits(*count)),
            Some(error),
        ),
        Step::Park { error, exhausted, .. } => (
            OperationStatus::Parked,
            Some(if *exhausted {
                ParkedMaxRetries
            } else {
                PermanentFailure
            }),
            Some(What::Parked),
            Some(error),
        ),
        Step::Released => (OperationStatus::Retrying, None, None, None),
    }
}

fn waits(count: Count) -> What {
    if count.immediate() {
        What::Queued
    } else {
        What::Retried
    }
}
