//! One attempt: from a claimed row to what came of it. Knows nothing of other rows. Sending itself is in [`super::sending`].

mod row;

use super::{
    fault::internal_fault,
    gate::Turn,
    pauses::LanePauses,
    recorder::Feedback,
    suppressed::{Suppressed, SuppressionCheck},
    transcripts::TranscriptBudget,
};
use crate::{
    directory::{Directory, LaneEntry},
    unsubscribe::Unsubscribing,
};
use domain::{
    Content, Failure, OnAmbiguous, Outcome, Scope, Timestamp, Tracer, Transcript,
    code::{AMBIGUOUS, EXPIRED},
    retry::INTERRUPTIONS_BEFORE_PARK,
    settle::{Cause, EXPIRED_IN_WORDS, Ended, SUPERSEDED, SUPERSEDED_IN_WORDS},
    suppression::NewSuppression,
    trace::{Span, SpanKind},
};
use futures_util::FutureExt;
use row::split;
pub(super) use row::{Outgoing, Row};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};
use store::{Outbox, outbox::Claimed};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

/// An attempt that is over, one way or another.
#[derive(Debug)]
pub(super) struct Finished {
    pub row: Row,
    pub entry: Arc<LaneEntry>,
    pub result: AttemptResult,
    pub took: Duration,
}

impl Finished {
    /// It was claimed and did not get its turn.
    pub fn let_go(claimed: Claimed, entry: Arc<LaneEntry>, probe: Option<domain::Hold>) -> Self {
        let (row, _) = split(claimed, probe);
        Self {
            row,
            entry,
            result: AttemptResult::Release,
            took: Duration::ZERO,
        }
    }

    /// Others would fare no better now.
    pub fn is_trouble_of_the_lane(&self) -> bool {
        match &self.result {
            AttemptResult::Sent(sent) => would_meet_others(&sent.outcome),
            AttemptResult::Postponed { .. } | AttemptResult::Concluded(_) | AttemptResult::Release => false,
        }
    }
}

/// Whether another message through the same lane would meet the same trouble now. Of several recipients one is enough:
/// after it the far end was asked for nobody else.
pub(super) fn would_meet_others(outcome: &Outcome) -> bool {
    let of_the_lane = |failure: &Failure| failure.scope == Scope::Lane || failure.hold.is_some();
    match outcome {
        Outcome::Delivered(_) => false,
        Outcome::Failed(failure) => of_the_lane(failure),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|report| report.result.as_ref().err())
            .any(of_the_lane),
    }
}

#[derive(Debug)]
pub(super) enum AttemptResult {
    Sent(Sent),
    /// It did not go out, and nobody was asked: not before this.
    Postponed {
        until: Timestamp,
        cause: Cause,
    },
    /// It did not go out and need not: it has come to its end.
    Concluded(Ended),
    /// It did not go out and goes back as if nothing had happened.
    Release,
}

/// It went out.
#[derive(Debug)]
pub(super) struct Sent {
    /// To whom; who has no report in the outcome was not asked for.
    pub targets: Vec<String>,
    pub outcome: Outcome,
    /// Others are open too, and not to be asked for yet.
    pub later: Option<(Timestamp, Cause)>,
    /// Of these the store knows already.
    pub noted: Vec<String>,
    /// The template it is made of, where the service said something about that.
    pub template: Option<String>,
    /// What was said, where it is to be kept.
    pub transcript: Option<Arc<Transcript>>,
    /// Who wants no more, as the service says.
    pub opted_out: Vec<NewSuppression>,
}

/// What an attempt starts from besides its row.
#[derive(Debug)]
pub(super) struct Start {
    pub probe: Option<domain::Hold>,
    pub now: Timestamp,
    /// One that has not begun by then must not begin.
    pub by: Instant,
    pub pauses: Option<Arc<LanePauses>>,
    /// Once it is over, nobody else is asked for.
    pub turn: Turn,
}

/// What attempts share.
#[derive(Debug)]
pub(super) struct AttemptContext {
    pub directory: Arc<Directory>,
    pub suppressions: SuppressionCheck,
    pub unsubscribing: Unsubscribing,
    pub store: Arc<dyn Outbox>,
    pub feedback: mpsc::UnboundedSender<Feedback>,
    pub timeout: Duration,
    /// Cancelled when the grace period of a shutdown is over.
    pub abandon: CancellationToken,
    pub tracer: Tracer,
    pub transcripts: TranscriptBudget,
}

impl AttemptContext {
    pub async fn attempt(
        &self,
        claimed: Claimed,
        entry: Arc<LaneEntry>,
        start: Start,
        suppressed: &Suppressed,
    ) -> Finished {
        let began = Instant::now();
        let (mut row, outgoing) = split(claimed, start.probe.clone());
        row.attempt_step = self.tracer.child(row.claim_step);
        let making = async {
            match before_sending(&row, &outgoing.content, &entry, start.now) {
                Some(over) => over,
                None => self.send(&mut row, outgoing, &entry, &start, suppressed).await,
            }
        };
        // A fault of ours costs this attempt alone: its place is freed and its row ends where a person sees it.
        let result = AssertUnwindSafe(making).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(notification.id = %row.id, "an attempt panicked; it is parked, the others go on");
            AttemptResult::Concluded(internal_fault())
        });
        // What is told of it must not cost its place and its lease.
        if catch_unwind(AssertUnwindSafe(|| self.tell(&row, &entry, &result, began))).is_err() {
            tracing::error!(notification.id = %row.id, "telling of an attempt panicked; the attempt stands");
        }
        Finished {
            row,
            entry,
            result,
            took: began.elapsed(),
        }
    }

    fn tell(&self, row: &Row, entry: &LaneEntry, result: &AttemptResult, start: Instant) {
        let Some(context) = row.attempt_step else { return };
        let failed = match result {
            AttemptResult::Sent(Sent {
                outcome: Outcome::Failed(failure),
                ..
            }) => Some(failure.code.to_string()),
            AttemptResult::Concluded(Ended::Park { cause }) => Some(cause.code.clone()),
            AttemptResult::Sent(_)
            | AttemptResult::Postponed { .. }
            | AttemptResult::Concluded(_)
            | AttemptResult::Release => None,
        };
        let provider = entry
            .provider
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        self.tracer.tell(Span {
            name: "attempt",
            kind: SpanKind::Client,
            context,
            parent: row.claim_step,
            start: start.into_std(),
            end: Instant::now().into_std(),
            attributes: vec![
                ("notification.id", row.id.to_string()),
                ("attempt.number", (row.attempts + 1).to_string()),
                ("provider.id", provider),
            ],
            failed,
        });
    }
}

/// What is known without asking anybody.
fn before_sending(row: &Row, content: &Content, entry: &LaneEntry, now: Timestamp) -> Option<AttemptResult> {
    if row.superseded {
        let cause = Cause::new(SUPERSEDED, SUPERSEDED_IN_WORDS);
        return Some(AttemptResult::Concluded(Ended::Discard { cause }));
    }
    if row.interruptions > 0 && entry.on_ambiguous == OnAmbiguous::Park && !row.has_marks() {
        return Some(park(
            AMBIGUOUS,
            "the process ended while this was being sent; it may or may not have gone out",
        ));
    }
    if row.interruptions >= INTERRUPTIONS_BEFORE_PARK {
        let times = row.interruptions;
        return Some(park(
            "INTERRUPTED",
            format!("{times} attempts in a row ended with the process sending it"),
        ));
    }
    if content.expires_at.is_some_and(|at| at <= now) {
        return Some(park(EXPIRED, EXPIRED_IN_WORDS));
    }
    None
}

pub(super) fn park(code: &str, error: impl Into<String>) -> AttemptResult {
    AttemptResult::Concluded(Ended::Park {
        cause: Cause::new(code, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Accepted, HoldReason, RecipientReport};

    #[test]
    fn trouble_of_the_lane_is_seen_behind_a_recipient_who_accepted() {
        let after_one = |failure: Failure| {
            Outcome::Mixed(vec![
                RecipientReport {
                    address: "ann".into(),
                    result: Ok(Accepted::default()),
                },
                RecipientReport {
                    address: "bob".into(),
                    result: Err(failure),
                },
            ])
        };
        let revoked = Failure::permanent(Scope::Lane, "AUTH_FAILED", "").holding(HoldReason::Auth);
        let down = Failure::transient(Scope::Lane, "HTTP_503", "");
        let wrong_number = Failure::permanent(Scope::Recipient, "RECIPIENT", "");
        let busy =
            Failure::transient(Scope::Recipient, "RATE_LIMITED", "").after(Some(Duration::from_secs(9)));
        assert!(would_meet_others(&after_one(revoked)));
        assert!(would_meet_others(&after_one(down)));
        assert!(!would_meet_others(&after_one(wrong_number)));
        assert!(!would_meet_others(&after_one(busy)));
    }
}
