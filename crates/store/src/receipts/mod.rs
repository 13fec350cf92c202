//! What providers tell later about messages they took: kept until it is worked on, and what follows from it.
//!
//! Leaves to others: who may say so (`delivery`), asking a far end (`central`), what one receipt means for one recipient
//! (`domain::receipt`).
//! Always true: a receipt that was answered for survives a crash; each is worked on in one transaction with all that follows
//! from it; the decision (`plan`) is made here, once for both databases, and a twin only writes it down.

mod plan;

pub(crate) use plan::{Found, LogPlan, Plan, RowPlan, Sender, Then, plan};

use crate::{Error, Result, outbox::HoldLane};
use async_trait::async_trait;
use domain::{
    Actor, Correlation, EventOrigin, HoldReason, LaneId, NotificationId, OptOut, Receipt, ReceiptState, Seq,
    Status, TenantId, Timestamp,
    receipt::Place,
    retry::{next_probe, receipt_wait},
    suppression::NewSuppression,
};
use std::{
    collections::{HashMap, HashSet},
    fmt::Debug,
    sync::Arc,
    time::Duration,
};

/// A receipt that fits nothing we sent is kept for this long: the record of what it is about may still come.
pub const ORPHANS_KEPT: Duration = Duration::from_secs(86_400);

#[async_trait]
pub trait Receipts: Debug + Send + Sync {
    /// Keeps what a provider told. When this returns it survives a crash; the caller may answer.
    async fn keep_receipts(&self, from: ReceiptsFrom, receipts: Vec<Receipt>) -> Result<()>;

    /// How many wait, each counted up to `bound`.
    async fn receipts_waiting(&self, bound: u32) -> Result<ReceiptsWaiting>;

    /// The lanes of which so many or more have been looked at and wait by nothing but the far end's own id.
    async fn lanes_with_orphans(&self, at_least: u32) -> Result<HashSet<LaneId>>;

    /// The ones whose far end has to be asked, and whose time has come.
    async fn unproven_receipts(&self, limit: u32) -> Result<Vec<Unproven>>;

    /// What asking came to.
    async fn prove_receipt(&self, id: i64, proof: Proof) -> Result<()>;

    /// Works on receipts whose time has come, the oldest first, each with all that follows from it. One whose notification
    /// is being sent, or is not found yet, stays for later, the latter unless its lane is crowded; so does one whose error will
    /// not pass by itself, which keeps nobody else waiting. Answers with those it is done with, and how many it looked at.
    ///
    /// What follows includes the lane that is held for it and the recipient who wants no more: a receipt that is used up comes
    /// back from nowhere, so neither may be left for later.
    async fn work_on_receipts(&self, limit: u32, rules: &ReceiptRules) -> Result<WorkedOn>;
}

/// The codes of each kind of provider that say that a recipient wants no more.
pub type OptOuts = Arc<HashMap<&'static str, &'static [OptOut]>>;

/// What receipts are worked on by.
#[derive(Debug, Clone, Default)]
pub struct ReceiptRules {
    /// Of these lanes nothing more is kept whose notification is not found yet.
    pub crowded: Arc<HashSet<LaneId>>,
    pub opt_outs: OptOuts,
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

impl From<Kept> for Unproven {
    fn from(kept: Kept) -> Self {
        Self {
            id: kept.id,
            tenant: kept.tenant,
            lane: kept.lane,
            receipt: kept.receipt,
        }
    }
}

/// Told of a receipt whose error does not pass by itself. It is looked at again like one that fits nothing, and no longer.
pub(crate) fn cannot_be_worked_on(id: i64, error: &Error) {
    tracing::error!(
        receipt.id = id,
        error = error as &dyn std::error::Error,
        "a receipt cannot be worked on; it is tried again for a day"
    );
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

#[derive(Debug, Default)]
pub struct WorkedOn {
    pub looked_at: u32,
    pub done: Vec<Done>,
    /// What it stopped at, where each receipt has a transaction of its own: those before it are done with all the same.
    pub failed: Option<Error>,
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
    /// Every other message of a lane would meet the same failure: it is held.
    pub hold: Option<ToldHold>,
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

impl ToldHold {
    pub(crate) fn asked(&self) -> HoldLane {
        HoldLane {
            lane: self.lane,
            config_version: Some(self.config_version),
            reason: self.reason,
            detail: self.detail.clone(),
            code: None,
            probe_after: next_probe(self.reason, 0, None),
            actor: Actor::system(),
        }
    }
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

/// What an opt-out is judged by, besides the receipt.
#[derive(Debug)]
pub(crate) struct OptOutFacts {
    /// Of the provider that was called, whose codes these are.
    pub kind: String,
    pub event: Option<EventOrigin>,
    pub created_at: Timestamp,
}

/// Who is to be put on the list, unless somebody has taken them off it since the message was sent.
#[derive(Debug)]
pub(crate) struct ToldOptOut {
    pub entry: NewSuppression,
    pub sent_at: Timestamp,
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

    /// Whether it stays for later although nothing is known that it fits.
    pub fn may_wait_for_its_message(&self, rules: &ReceiptRules, now: Timestamp) -> bool {
        !rules.crowded.contains(&self.lane) && !self.is_too_old(now)
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
        }
    }

    /// Whether it is news that the message did not reach its recipient. What was known already says nothing about anybody else.
    fn is_new_failure(&self, what: DoneAs) -> bool {
        self.receipt.state == ReceiptState::Failed && what == DoneAs::Applied
    }

    /// Whether a recipient may have to be put on the list of who must not be written to: some kind has this code.
    pub fn may_opt_out(&self, rules: &ReceiptRules, what: DoneAs) -> bool {
        let code = self.receipt.provider_code.as_deref();
        let mut kinds = rules.opt_outs.values();
        self.is_new_failure(what) && kinds.any(|known| OptOut::find(known, code).is_some())
    }

    /// The entry for its recipient, by what the provider that was called means by the code.
    pub fn opt_out(
        &self,
        rules: &ReceiptRules,
        found: &Found,
        sent: &SentMessage,
        about: &OptOutFacts,
    ) -> Option<ToldOptOut> {
        let known = rules.opt_outs.get(about.kind.as_str())?;
        let code = self.receipt.provider_code.as_deref();
        let channel = Some(found.channel);
        let entry = OptOut::entry(known, code, &sent.address, channel, about.event.as_ref())?;
        Some(ToldOptOut {
            entry,
            sent_at: found.last_attempt_at.unwrap_or(about.created_at),
        })
    }

    /// Who sent the message and when, where the lane may have to be held for what became of it.
    pub fn may_hold<'a>(&self, found: &'a Found, sent: &SentMessage, what: DoneAs) -> Option<Sender<'a>> {
        self.receipt.hold.filter(|_| self.is_new_failure(what))?;
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
    pub fn done_with(&self, found: &Found, plan: &Plan, what: DoneAs, hold: Option<ToldHold>) -> Done {
        let stands = match (&plan.row, found.place) {
            (RowPlan::Park { .. }, _) => Some(Status::Parked),
            (RowPlan::Deliver { .. }, _) => Some(Status::Delivered),
            (RowPlan::Shows(_), Place::Ended(status)) => Some(status),
            _ => None,
        };
        Done {
            notification: Some(found.id),
            status: stands,
            code: match &plan.row {
                RowPlan::Park { cause, .. } => Some(cause.code.clone()),
                _ => None,
            },
            hold,
            ..self.done(what)
        }
    }
}
