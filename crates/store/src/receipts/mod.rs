//! What providers tell later about messages they took: kept until it is worked on, and what follows from it.
//!
//! Leaves to others: who may say so (`delivery`), asking a far end (`central`), what one receipt means for one recipient
//! (`domain::receipt`).
//! Always true: a receipt that was answered for survives a crash; each is worked on in one transaction with all that follows
//! from it; the decision (`plan`) is made here, once for both databases, and a twin only writes it down.

mod plan;

pub(crate) use plan::{Found, LogPlan, Plan, RowPlan, Sender, Then, plan};

use crate::Result;
use async_trait::async_trait;
use domain::{
    Correlation, HoldReason, LaneId, NotificationId, Receipt, ReceiptState, Seq, Status, TenantId, Timestamp,
    receipt::Place, retry::receipt_wait,
};
use std::{fmt::Debug, time::Duration};

/// A receipt that fits nothing we sent is kept for this long: the record of what it is about may still come.
pub const ORPHANS_KEPT: Duration = Duration::from_secs(86_400);

#[async_trait]
pub trait Receipts: Debug + Send + Sync {
    /// Keeps what a provider told. When this returns it survives a crash; the caller may answer.
    async fn keep_receipts(&self, from: ReceiptsFrom, receipts: Vec<Receipt>) -> Result<()>;

    /// How many wait, each counted up to `bound`.
    async fn receipts_waiting(&self, bound: u32) -> Result<ReceiptsWaiting>;

    /// The ones whose far end has to be asked, and whose time has come.
    async fn unproven_receipts(&self, limit: u32) -> Result<Vec<Unproven>>;

    /// What asking came to.
    async fn prove_receipt(&self, id: i64, proof: Proof) -> Result<()>;

    /// Works on receipts whose time has come, the oldest first, each with all that follows from it. One whose notification
    /// is being sent, or is not found yet, stays for later; without `keep_orphans` the latter does not. Answers with those
    /// it is done with, and how many it looked at.
    async fn work_on_receipts(&self, limit: u32, keep_orphans: bool) -> Result<WorkedOn>;
}

/// Whose callback it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptsFrom {
    pub tenant: TenantId,
    pub lane: LaneId,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptsWaiting {
    /// Nobody has looked at them yet.
    pub fresh: u64,
    /// They fit nothing so far, or wait for an attempt to be recorded.
    pub later: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    pub id: i64,
    pub tenant: TenantId,
    pub lane: LaneId,
    pub receipt: Receipt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The far end says so itself.
    Proven(ReceiptState),
    /// It knows of no such thing.
    Unknown,
    /// It could not be asked.
    Later,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkedOn {
    pub looked_at: u32,
    pub done: Vec<Done>,
}

/// A receipt that is done with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub tenant: TenantId,
    pub lane: LaneId,
    /// None where it is not known, or no longer.
    pub notification: Option<NotificationId>,
    pub what: DoneAs,
    /// The notification's status, where the receipt changed it or what is shown beside it.
    pub status: Option<Status>,
    pub code: Option<String>,
    /// Every other message of a lane would meet the same failure.
    pub hold: Option<ToldHold>,
    /// Whom it did not reach, and the far end's own code for that.
    pub failed: Option<FailedFor>,
}

/// What a lane is to be held for: the one that sent the message, wherever the receipt was delivered to, while it still has the
/// settings that the message was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldHold {
    pub lane: LaneId,
    pub config_version: i64,
    pub reason: HoldReason,
    pub detail: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedFor {
    pub address: String,
    pub provider_code: Option<String>,
}

/// What became of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DoneAs {
    Applied,
    /// It was known already, or better known.
    Known,
    /// Its notification was purged, or was never one of ours.
    Purged,
    /// Nothing that we sent came to fit it.
    Orphaned,
}

impl DoneAs {
    pub const ALL: [DoneAs; 4] = [DoneAs::Applied, DoneAs::Known, DoneAs::Purged, DoneAs::Orphaned];

    pub fn as_str(self) -> &'static str {
        match self {
            DoneAs::Applied => "applied",
            DoneAs::Known => "known",
            DoneAs::Purged => "purged",
            DoneAs::Orphaned => "orphaned",
        }
    }
}

/// What the audit log says of a provider that got another place for callbacks.
pub(crate) const CALLBACK_CHANGED: &str = "callback address made";

/// A provider's own place for callbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCallback {
    pub hash: [u8; 32],
    /// The secret itself, sealed; only where the far end is told with each message.
    pub sealed: Option<String>,
}

/// A receipt as it lies in the inbox.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    pub id: i64,
    pub tenant: TenantId,
    pub lane: LaneId,
    pub at: Timestamp,
    pub tries: u32,
    pub receipt: Receipt,
}

/// One message of ours that a receipt can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentMessage {
    pub seq: Seq,
    pub generation: i32,
    pub address: String,
}

/// The lane of a message, as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SenderLane {
    pub lane: LaneId,
    pub config_version: i64,
    /// Not known of settings from before that was kept.
    pub configured_at: Option<Timestamp>,
}

impl SentMessage {
    /// The message that a correlation names.
    pub fn of(seq: Seq, about: &Correlation) -> Self {
        Self {
            seq,
            generation: about.generation,
            address: about.recipient.clone().unwrap_or_default(),
        }
    }
}

impl Kept {
    /// How long until one is looked at again that was looked at so often.
    pub fn wait_after(tries: u32) -> Duration {
        receipt_wait(tries)
    }

    /// Whether one that came in then has waited long enough.
    pub fn is_over(came_in: Timestamp, now: Timestamp) -> bool {
        now.since(came_in) >= ORPHANS_KEPT
    }

    pub fn is_too_old(&self, now: Timestamp) -> bool {
        Self::is_over(self.at, now)
    }

    /// Which of the messages sent under the far end's id it is about: where it names a number, the one to that number.
    pub fn fitting(&self, sent: Vec<SentMessage>) -> Option<SentMessage> {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let number = self.receipt.recipient.as_deref().map(digits);
        let fits = |one: &SentMessage| number.as_ref().is_none_or(|n| *n == digits(&one.address));
        let mut fitting = sent.into_iter().filter(fits);
        // Two that fit alike cannot be told apart, so neither is believed to be meant.
        fitting.next().filter(|_| fitting.next().is_none())
    }

    pub fn done(&self, what: DoneAs) -> Done {
        Done {
            tenant: self.tenant,
            lane: self.lane,
            notification: None,
            what,
            status: None,
            code: None,
            hold: None,
            failed: None,
        }
    }

    /// Who sent the message and when, where the lane may have to be held for what became of it.
    pub fn may_hold<'a>(&self, found: &'a Found, sent: &SentMessage, what: DoneAs) -> Option<Sender<'a>> {
        let failed = self.receipt.state == ReceiptState::Failed && what == DoneAs::Applied;
        self.receipt.hold.filter(|_| failed)?;
        found.sender(sent)
    }

    /// The hold of the lane that sent it; none once it has other settings.
    pub fn hold(&self, sender: Sender<'_>, lane: SenderLane) -> Option<ToldHold> {
        let newer = lane.configured_at.is_some_and(|at| at > sender.sent_at);
        let reason = self.receipt.hold.filter(|_| !newer)?;
        Some(ToldHold {
            lane: lane.lane,
            config_version: lane.config_version,
            reason,
            detail: self.receipt.detail.clone(),
        })
    }

    /// What is told of one whose plan was carried out.
    pub fn done_with(
        &self,
        found: &Found,
        sent: &SentMessage,
        plan: &Plan,
        what: DoneAs,
        hold: Option<ToldHold>,
    ) -> Done {
        let stands = match (&plan.row, found.place) {
            (RowPlan::Park { .. }, _) => Some(Status::Parked),
            (RowPlan::Deliver { .. }, _) => Some(Status::Delivered),
            (RowPlan::Shows(_), Place::Ended(status)) => Some(status),
            _ => None,
        };
        let failed = self.receipt.state == ReceiptState::Failed && what == DoneAs::Applied;
        Done {
            notification: Some(found.id),
            status: stands,
            code: match &plan.row {
                RowPlan::Park { cause, .. } => Some(cause.code.clone()),
                _ => None,
            },
            hold,
            failed: failed.then(|| FailedFor {
                address: sent.address.clone(),
                provider_code: self.receipt.provider_code.clone(),
            }),
            ..self.done(what)
        }
    }
}
