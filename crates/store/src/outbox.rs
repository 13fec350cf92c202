//! The queue itself: taking in, claiming, and writing down what came of it.
//!
//! Time: due times and leases are compared with the store's own clock, never with the caller's, so that nodes
//! whose clocks disagree still agree on who holds a row. Callers therefore pass durations, not moments.

mod lanes;

use crate::{Result, extra::Extra};
use async_trait::async_trait;
use domain::{
    Actor, Content, Hold, HoldReason, LaneId, LeaseToken, NotificationId, RecipientResult, RecipientState,
    Seq, Status, Submission, Target, TenantId, Timestamp, TraceContext, Transcript, settle::RecipientUpdate,
};
use std::{fmt::Debug, sync::Arc, time::Duration};

pub use domain::settle::{Cause, Ended};
pub use lanes::{
    Chores, HoldLane, Lane, LaneWaiting, LaneWant, LanesWaiting, MAX_PAUSES, NewPause, Owned, Pauses,
};

#[async_trait]
pub trait Outbox: Debug + Send + Sync {
    /// Inserts what is not there yet, within each tenant by notification id. One answer per item, in order.
    ///
    /// When this returns, every `Accepted` row survives a crash. Concurrent calls share a commit. One item the
    /// database refuses is `Refused` alone. The first content of an id is kept for ever: an id that was purged is
    /// still a `Duplicate`. An item with a supersede key discards (by `system`, audited) the rows with the same
    /// key in its tenant that wait unclaimed; those that are being sent are discarded if that fails.
    async fn ingest(&self, batch: Vec<NewNotification>) -> Result<Vec<Ingested>>;

    /// For each lane with anything waiting, when its earliest row is due (claimed rows count with the end of
    /// their lease), and what else is to be done. Costs one index probe per lane, whatever the backlog.
    async fn lanes_waiting(&self) -> Result<LanesWaiting>;

    /// Claims due rows, oldest first within each lane, at most `n` per lane, none from a lane that is held or
    /// paused. Every row gets `token` and can be claimed again after `lease`; its due time stays.
    ///
    /// A row whose earlier claim was neither recorded nor released counts one interrupted attempt more.
    async fn claim_due(&self, wants: &[LaneWant], token: LeaseToken, lease: Duration) -> Result<Claims>;

    /// Takes the one probe of a held lane whose next probe is due: at most one row, by one node at a time.
    async fn claim_probe(&self, lane: LaneId, token: LeaseToken, lease: Duration) -> Result<Claims>;

    /// Writes down what attempts came to: outcome, recipient results and audit rows of each in one transaction.
    /// One answer per record, in order.
    ///
    /// A record that names a lost lease never overwrites: it adds its recipients' acceptances and its audit row,
    /// and a success still completes a row that waits or is parked. Recording the same attempt twice (after an
    /// unknown commit) changes nothing the second time.
    async fn record(&self, batch: Arc<[AttemptRecord]>) -> Result<Vec<Recorded>>;

    /// Gives claimed rows back, due at once and uncounted. Rows whose lease was lost are left alone.
    async fn release(&self, leases: &[Lease]) -> Result<()>;

    /// Extends leases from now. Answers with the ones that are still held.
    async fn renew(&self, leases: &[Lease], lease: Duration) -> Result<Vec<Lease>>;

    /// Holds a lane, if its provider's settings are still the ones the failed attempt used (`config_version`) and
    /// it is not held already; a failed probe of the same hold counts and moves the next probe. An operator's hold
    /// replaces one that the system set, and is a `Conflict` where the provider is switched off. Answers whether the hold is in force as asked. Audited.
    async fn hold_lane(&self, hold: HoldLane) -> Result<bool>;

    /// Ends a hold. With `only` the hold must still be for that reason. The hold of a provider that is switched off is a
    /// `Conflict`: only switching it on ends it. Answers whether there was one. Audited.
    async fn resume_lane(&self, lane: LaneId, only: Option<HoldReason>, actor: &Actor) -> Result<bool>;

    /// Has a lane tried at once: a pause ends, the probe of a hold is due, and rows that wait for another attempt are due, the
    /// soonest first, at most [`MAX_TRIED_ROWS`]. A hold that no probe ends is a `Conflict`. Answers how many rows were
    /// moved; none if there is no such lane. Audited.
    async fn try_lane(&self, lane: LaneId, actor: &Actor) -> Result<Option<u64>>;

    /// Nothing is claimed from the lane for this long (a far end that throttles). Never shortens a pause.
    async fn pause_lane(&self, lane: LaneId, wait: Duration) -> Result<()>;

    /// Pauses what is narrower than a lane. Never shortens a pause. More than [`MAX_PAUSES`] of a lane pause the lane itself.
    async fn add_pauses(&self, lane: LaneId, pauses: Vec<NewPause>) -> Result<()>;

    /// What is paused in a lane, and the version that every claim from it tells ([`Claimed::pauses_version`]).
    async fn pauses(&self, lane: LaneId) -> Result<Pauses>;

    /// Keeps what is known about recipients of a row that is still being sent. Answers whether the lease is still held;
    /// nothing is kept if it is not.
    async fn note_recipients(
        &self,
        lease: Lease,
        provider: &str,
        updates: Vec<RecipientUpdate>,
    ) -> Result<bool>;

    /// Becomes or stays the one node that claims from a lane whose limits hold over all nodes.
    async fn own_lane(&self, lane: LaneId, node: &str, ttl: Duration) -> Result<Owned>;

    /// Parks what waits past its `expiresAt`, whatever it waits for, unless it is being sent just now: the longest overdue
    /// first, at most `limit` rows. Each audited, by `system`. Answers with what was parked.
    async fn park_expired(&self, limit: u32) -> Result<Vec<(TenantId, NotificationId)>>;

    /// Makes every row that was claimed before this process started due at once (they count as interrupted).
    /// Only for a store that one process uses at a time; elsewhere does nothing.
    async fn void_stale_leases(&self) -> Result<u64>;
}

/// Rows that one request to try a lane makes due: enough to see whether the far end is there again, and the rest follows.
pub const MAX_TRIED_ROWS: u32 = 1_000;

/// A submission and the lane it was routed to.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNotification {
    pub submission: Submission,
    pub lane: LaneId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ingested {
    Accepted,
    /// Accepted, and these of the same tenant, which waited under its supersede key, were discarded for it.
    Replaced(Vec<NotificationId>),
    /// The id is known. `status` is none when the row was purged and only its id is remembered.
    Duplicate {
        same_content: bool,
        status: Option<Status>,
    },
    /// The database does not take this item, and why.
    Refused(String),
}

impl Ingested {
    /// There is a row now that was not there before.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::Accepted | Self::Replaced(_))
    }
}

/// A claimed row, named the way every later write must name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lease {
    pub seq: Seq,
    pub token: LeaseToken,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// The store's clock at the claim; what is left of the lease is counted from here, on a monotonic clock.
    pub now: Option<Timestamp>,
    pub directory_version: i64,
    pub rows: Vec<Claimed>,
    /// The hold that a probe may end; set by `claim_probe` when it gives a row.
    pub probing: Option<Hold>,
}

/// Everything an attempt needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    pub lease: Lease,
    pub tenant: TenantId,
    pub id: NotificationId,
    pub lane: LaneId,
    /// The version of the lane's provider settings at the claim.
    pub config_version: i64,
    /// Goes up with every pause that is added to the lane; 0 where there never was one.
    pub pauses_version: i64,
    pub generation: i32,
    /// A newer one with the same key came while an earlier claim was out.
    pub superseded: bool,
    /// Attempts so far, interrupted ones included, this one not.
    pub attempts: u32,
    /// Answers without a rule so far.
    pub unknowns: u32,
    /// Claims in a row that were neither recorded nor released, this one not counted.
    pub interruptions: u32,
    /// The latest of created, `sendAt` and requeue.
    pub waiting_since: Timestamp,
    pub created_at: Timestamp,
    /// What an attempt goes by; the columns that none reads are left empty. Apart, because rows are moved from hand to hand.
    pub content: Box<Content>,
    /// The site it came from (`due.site`).
    pub site: Option<String>,
    /// The step of a trace that handed it in.
    pub trace: Option<TraceContext>,
    /// What earlier attempts taught about each recipient; empty where there is only one.
    pub known: Vec<RecipientResult>,
}

/// What became of one claimed row.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    pub lease: Lease,
    pub tenant: TenantId,
    pub id: NotificationId,
    pub ended: Ended,
    /// Of a row that ends: who has it, of this attempt and of earlier ones.
    pub resolved_targets: Vec<String>,
    pub recipients: Vec<RecipientUpdate>,
    /// The far end's ids, of a lane that gets receipts: what they are found by that carry nothing else.
    pub messages: Vec<SentTo>,
    /// None when nothing was sent (no adapter, no list, expired): only the terminal audit row is written then.
    pub attempt: Option<AttemptAudit>,
    /// The claim found an earlier one interrupted: one more audit row with code `INTERRUPTED`.
    pub after_interruption: bool,
    /// Somebody may have it, although the row goes on waiting: another provider must not send it too.
    pub in_doubt: bool,
}

impl AttemptRecord {
    /// The attempt that delivered it, when that is all there is to tell. It is kept with the notification's outcome;
    /// every other attempt is a row of the audit log.
    pub(crate) fn delivery(&self) -> Option<&AttemptAudit> {
        let delivered = matches!(self.ended, Ended::Delivered { .. });
        self.attempt
            .as_ref()
            .filter(|_| delivered && !self.after_interruption)
    }

    /// Who was asked.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.attempt.as_ref().map(|went_out| &*went_out.target)
    }

    /// What was said, where it is to be kept.
    pub(crate) fn transcript(&self) -> Option<&Transcript> {
        self.attempt.as_ref()?.transcript.as_deref()
    }

    /// What is added to a row even though the lease was lost: who accepted is never sent to again.
    pub(crate) fn accepted(&self) -> impl DoubleEndedIterator<Item = &RecipientUpdate> {
        let accepted = |r: &&RecipientUpdate| r.state == RecipientState::Accepted;
        self.recipients.iter().filter(accepted)
    }
}

/// What the far end called the message to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentTo {
    pub lane: LaneId,
    pub message_id: String,
    /// Empty where the settings alone say where it goes.
    pub address: String,
    pub generation: i32,
}

/// The audit row of an attempt that went out.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptAudit {
    /// The provider it went through.
    pub target: String,
    pub duration_ms: u32,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    /// The far end's answer, redacted and cut.
    pub detail: Option<String>,
    /// What was said, redacted and cut, where it is to be kept.
    pub transcript: Option<Arc<Transcript>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// As asked.
    Done,
    /// The attempt failed after a newer notification with the same key had come: discarded instead of tried again.
    Superseded,
    /// This very attempt is on record already (an earlier commit whose answer was lost).
    AlreadyRecorded,
    /// The lease was lost; what was learned was added. `completed`: a late success ended the row as Delivered.
    LostLease { completed: bool },
}

/// What is said about a row that expired.
pub(crate) fn expired_in_words(interrupted: bool) -> String {
    let words = domain::settle::EXPIRED_IN_WORDS;
    match interrupted {
        false => words.to_owned(),
        true => format!("{words}; an attempt that was interrupted may have gone out"),
    }
}

/// The column whose JSON would hold a NUL, which no text column does.
pub(crate) fn nul_in_json(submission: &Submission) -> Option<&'static str> {
    let has_nul = |text: &String| text.contains('\0');
    let target = &submission.content.target;
    let recipients = matches!(target, Target::Recipients(to) if to.iter().any(has_nul));
    if recipients {
        Some("recipients")
    } else if Extra::has_nul(submission) {
        Some("extra")
    } else {
        None
    }
}
