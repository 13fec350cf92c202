//! One attempt: from a claimed row to what came of it. Knows nothing of other rows.

use super::{
    fault::internal_fault,
    suppressed::{Standing, Suppressed, SuppressionCheck},
};
use crate::{
    directory::{Directory, LaneAdapter, LaneEntry},
    unsubscribe::Unsubscribing,
};
use delivery::{Adapter, Attempt, Deadline, Message};
use domain::{
    Channel, Content, Failure, OnAmbiguous, Outcome, RecipientResult, Scope, Target, Timestamp, TraceContext,
    Tracer,
    code::{AMBIGUOUS, EXPIRED, TIMEOUT, UNKNOWN},
    field_error::in_words,
    recipient::{RecipientState, open_targets},
    retry::INTERRUPTIONS_BEFORE_PARK,
    settle::{Cause, EXPIRED_IN_WORDS, Ended, RecipientUpdate, settle_without_targets},
    suppression::SUPPRESSED,
    trace::{Span, SpanKind},
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use store::outbox::{Claimed, Lease};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What is remembered of a row while it is being sent.
#[derive(Debug)]
pub(super) struct Row {
    pub lease: Lease,
    pub tenant: domain::TenantId,
    pub id: domain::NotificationId,
    pub lane: domain::LaneId,
    pub generation: i32,
    pub attempts: u32,
    pub unknowns: u32,
    pub interruptions: u32,
    pub waiting_since: Timestamp,
    pub known: Vec<RecipientResult>,
    /// Who is left out of this attempt, because they asked not to be written to.
    pub left_out: Vec<RecipientUpdate>,
    /// The way out for the one recipient of a mail.
    pub unsubscribe: Option<String>,
    /// The hold that this row was let through to see whether the lane is well again.
    pub probe: Option<domain::Hold>,
    /// The claim's step of a trace, and the attempt's below it.
    pub claim_step: Option<TraceContext>,
    pub attempt_step: Option<TraceContext>,
}

impl Row {
    /// Results are kept per recipient only where there is more than one.
    pub fn left_out_if_tracked(&self) -> Vec<RecipientUpdate> {
        match self.left_out.len() + self.known.len() > 1 {
            true => self.left_out.clone(),
            false => vec![],
        }
    }
}

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
            AttemptResult::Sent { outcome, .. } => would_meet_others(outcome),
            AttemptResult::Concluded(_) | AttemptResult::Release => false,
        }
    }
}

/// Whether another message through the same lane would meet the same trouble now. Of several recipients one is enough:
/// after it the far end was asked for nobody else.
fn would_meet_others(outcome: &Outcome) -> bool {
    let of_the_lane = |failure: &Failure| failure.scope == Scope::Lane || failure.hold.is_some();
    match outcome {
        Outcome::Delivered(_) => false,
        Outcome::Failed(failure) => of_the_lane(failure) || failure.retry_after.is_some(),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|report| report.result.as_ref().err())
            .any(of_the_lane),
    }
}

#[derive(Debug)]
pub(super) enum AttemptResult {
    /// It went out to these targets.
    Sent { targets: Vec<String>, outcome: Outcome },
    /// It did not go out and need not: it has come to its end.
    Concluded(Ended),
    /// It did not go out and goes back as if nothing had happened.
    Release,
}

/// What attempts share.
#[derive(Debug)]
pub(super) struct AttemptContext {
    pub directory: Arc<Directory>,
    pub suppressions: SuppressionCheck,
    pub unsubscribing: Unsubscribing,
    pub timeout: Duration,
    /// Cancelled when the grace period of a shutdown is over.
    pub abandon: CancellationToken,
    pub tracer: Tracer,
}

impl AttemptContext {
    pub async fn attempt(
        &self,
        claimed: Claimed,
        entry: Arc<LaneEntry>,
        probe: Option<domain::Hold>,
        now: Timestamp,
        start_by: Instant,
        suppressed: &Suppressed,
    ) -> Finished {
        let start = Instant::now();
        let (mut row, outgoing) = split(claimed, probe);
        row.attempt_step = self.tracer.child(row.claim_step);
        let making = async {
            match self.before_sending(&row, &outgoing.content, &entry, now) {
                Some(over) => over,
                None => self.send(&mut row, outgoing, &entry, start_by, suppressed).await,
            }
        };
        // A fault of ours costs this attempt alone: its place is freed and its row ends where a person sees it.
        let result = AssertUnwindSafe(making).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(notification.id = %row.id, "an attempt panicked; it is parked, the others go on");
            AttemptResult::Concluded(internal_fault())
        });
        self.tell(&row, &entry, &result, start);
        Finished {
            row,
            entry,
            result,
            took: start.elapsed(),
        }
    }

    fn tell(&self, row: &Row, entry: &LaneEntry, result: &AttemptResult, start: Instant) {
        let Some(context) = row.attempt_step else { return };
        let failed = match result {
            AttemptResult::Sent {
                outcome: Outcome::Failed(failure),
                ..
            } => Some(failure.code.to_string()),
            AttemptResult::Concluded(Ended::Park { cause }) => Some(cause.code.clone()),
            AttemptResult::Sent { .. } | AttemptResult::Concluded(_) | AttemptResult::Release => None,
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

    /// What is known without asking anybody.
    fn before_sending(
        &self,
        row: &Row,
        content: &Content,
        entry: &LaneEntry,
        now: Timestamp,
    ) -> Option<AttemptResult> {
        if row.interruptions > 0 && entry.on_ambiguous == OnAmbiguous::Park {
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

    async fn send(
        &self,
        row: &mut Row,
        mut outgoing: Outgoing,
        entry: &LaneEntry,
        start_by: Instant,
        suppressed: &Suppressed,
    ) -> AttemptResult {
        let adapter = match &entry.adapter {
            LaneAdapter::Ready(adapter) => adapter.clone(),
            LaneAdapter::NoProvider(channel) => {
                return park("NO_PROVIDER", format!("no provider for type {channel} is set up"));
            }
            LaneAdapter::NoAdapter(what) => {
                return park("NO_ADAPTER", format!("no delivery adapter for {what}"));
            }
            LaneAdapter::BadSettings(problems) => {
                let words = in_words(problems);
                return park(
                    "BAD_SETTINGS",
                    format!("the provider's settings are wrong: {words}"),
                );
            }
            LaneAdapter::Gone => return park("NO_PROVIDER", "its provider was removed"),
            LaneAdapter::Sealed(_) => return AttemptResult::Release,
        };
        let targets = match self.targets(row, &mut outgoing.content, suppressed).await {
            Ok(targets) => targets,
            Err(over) => return over,
        };
        let message = outgoing.message(row, targets);
        if Instant::now() > start_by {
            // The process slept, or was stopped, since the claim: the row may be somebody else's by now.
            return AttemptResult::Release;
        }
        let attempt = Attempt {
            generation: row.generation,
            ..Deadline::after(self.timeout).into()
        };
        let outcome = tokio::select! {
            biased;
            () = self.abandon.cancelled() => return given_up(entry, message.targets),
            outcome = guarded(&*adapter, &message, attempt) => outcome,
        };
        AttemptResult::Sent {
            targets: message.targets,
            outcome,
        }
    }

    /// The link for a mail's one recipient; none for what goes out in any case. Of an event only its topic is ended.
    fn way_out(&self, tenant: domain::TenantId, content: &Content, address: &str) -> Option<String> {
        let topic = match content.event.as_deref() {
            Some(event) if event.critical => return None,
            Some(event) => Some(event.topic.as_deref().unwrap_or(&event.event_type)),
            None => None,
        };
        self.unsubscribing.link(tenant, address, topic)
    }

    /// Whom this attempt is for, in place of whom the content names.
    async fn targets(
        &self,
        row: &mut Row,
        content: &mut Content,
        suppressed: &Suppressed,
    ) -> Result<Vec<String>, AttemptResult> {
        let (channel, target) = (content.channel(), std::mem::take(&mut content.target));
        if !channel.takes_recipients() {
            // Taken in when nobody served its type, or by an older version: it goes where the settings say, and is not
            // recorded as sent to anybody by name.
            return Ok(vec![]);
        }
        let named = match target {
            Target::Provider => return Ok(vec![]),
            Target::Recipients(to) if to.is_empty() => return Err(park("EMPTY_LIST", "nobody to send to")),
            Target::Recipients(to) => {
                if let ([only], Channel::Email) = (to.as_slice(), channel) {
                    row.unsubscribe = self.way_out(row.tenant, content, only);
                }
                to
            }
            Target::List(name) => match self.directory.list(row.tenant, &name).await {
                Err(error) => {
                    tracing::warn!(
                        notification.id = %row.id,
                        error = &error as &dyn std::error::Error,
                        "a list could not be read; the notification waits"
                    );
                    return Err(AttemptResult::Release);
                }
                Ok(None) => return Err(park("NO_LIST", format!("there is no list named {name:?}"))),
                Ok(Some(list)) => {
                    let members = list.recipients.iter().filter(|r| r.takes(channel));
                    let members: Vec<_> = members.map(|r| r.address.clone()).collect();
                    if members.is_empty() {
                        let why = format!("list {name:?} has no recipient for {channel}");
                        return Err(park("EMPTY_LIST", why));
                    }
                    members
                }
            },
        };
        let mut open = vec![];
        for address in open_targets(named, &row.known, row.generation) {
            match suppressed.standing(row.tenant, channel, content, &address) {
                Standing::MayBeSentTo => open.push(address),
                Standing::Suppressed(why) => row.left_out.push(left_out(address, why)),
                Standing::NotAskedAbout => return Err(AttemptResult::Release),
            }
        }
        if open.is_empty() {
            return Err(AttemptResult::Concluded(settle_without_targets(
                &row.known,
                row.generation,
                row.left_out.first(),
            )));
        }
        Ok(open)
    }
}

/// The adapter's answer, or what can be said when it panics or outlives its deadline.
async fn guarded(adapter: &dyn Adapter, message: &Message, attempt: Attempt) -> Outcome {
    let deadline = attempt.deadline;
    let attempt = AssertUnwindSafe(adapter.deliver(message, attempt)).catch_unwind();
    // Adapters keep their deadline; this is for the one that does not.
    let slack = Duration::from_secs(1);
    match tokio::time::timeout_at(deadline.0 + slack, attempt).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => {
            tracing::error!(notification.id = %message.id, "an adapter panicked; the others go on");
            Failure::unknown(UNKNOWN, "the adapter failed on this message")
                .with_own_code("PANIC")
                .into()
        }
        Err(_) => {
            let text = "the adapter did not answer in time";
            Failure::ambiguous(domain::Scope::Lane, TIMEOUT, text).into()
        }
    }
}

/// The process is going away. Where a duplicate costs money it is not guessed whether it went out.
fn given_up(entry: &LaneEntry, targets: Vec<String>) -> AttemptResult {
    match entry.on_ambiguous {
        OnAmbiguous::Resend => AttemptResult::Release,
        OnAmbiguous::Park => {
            let text = "the process was stopped while this was being sent";
            let outcome = Failure::ambiguous(domain::Scope::Message, AMBIGUOUS, text)
                .with_own_code("SHUTDOWN")
                .into();
            AttemptResult::Sent { targets, outcome }
        }
    }
}

fn park(code: &str, error: impl Into<String>) -> AttemptResult {
    AttemptResult::Concluded(Ended::Park {
        cause: Cause::new(code, error),
    })
}

/// A recipient who asked not to be written to.
fn left_out(address: String, why: String) -> RecipientUpdate {
    RecipientUpdate {
        address,
        state: RecipientState::Suppressed,
        provider_message_id: None,
        cause: Some(Cause::new(SUPPRESSED, why)),
    }
}

/// A claimed row taken apart: what is remembered of it, and what goes out.
fn split(claimed: Claimed, probe: Option<domain::Hold>) -> (Row, Outgoing) {
    let row = Row {
        lease: claimed.lease,
        tenant: claimed.tenant,
        id: claimed.id,
        lane: claimed.lane,
        generation: claimed.generation,
        attempts: claimed.attempts,
        unknowns: claimed.unknowns,
        interruptions: claimed.interruptions,
        waiting_since: claimed.waiting_since,
        known: claimed.known,
        left_out: vec![],
        unsubscribe: None,
        probe,
        claim_step: claimed.trace,
        attempt_step: None,
    };
    let outgoing = Outgoing {
        content: claimed.content,
        site: claimed.site,
        created_at: claimed.created_at,
    };
    (row, outgoing)
}

/// The part of a claimed row that goes out.
struct Outgoing {
    content: Content,
    site: Option<String>,
    created_at: Timestamp,
}

impl Outgoing {
    fn message(self, row: &Row, targets: Vec<String>) -> Message {
        Message {
            id: row.id,
            content: self.content,
            targets,
            site: self.site,
            created_at: self.created_at,
            trace: row.attempt_step,
            unsubscribe: row.unsubscribe.clone(),
        }
    }
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
