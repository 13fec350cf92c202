//! Reading: one notification, pages of them, the audit log, the figures. No read scans the history: what has no
//! index is looked for in bounded steps, and the page says where to go on.

use crate::{Error, Result, outbox::Lane};
use async_trait::async_trait;
use domain::{
    AuditKind, AuditStatus, Channel, LaneId, NotificationId, RecipientResult, RecipientState, Status, Target,
    TenantId, TextFilters, Timestamp, TrackedOperationId, Transcript, code, kpi::Kpis,
    lane_report::LAST_ATTEMPTS, search::IdRange, submission::Submission,
};
use std::{fmt::Debug, time::Duration};

#[async_trait]
pub trait Queries: Debug + Send + Sync {
    async fn get(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Notification>>;

    /// Where these notifications stand, without what they say; those there are not are left out.
    async fn standings(&self, tenant: TenantId, ids: &[NotificationId]) -> Result<Vec<Standing>>;

    /// A page of notifications, newest first. At most [`SCAN_BOUND`] rows are looked at for one page; when the
    /// bound ends a page early, `next` is set although the page is not full.
    async fn list(&self, tenant: TenantId, filter: &Filter, page: Page) -> Result<Listed>;

    /// How many notifications the filter leaves, as far as [`COUNT_LIMIT`] and [`SCAN_BOUND`] let anybody know. Costs the same
    /// with a long history as with a short one.
    async fn count(&self, tenant: TenantId, filter: &Filter) -> Result<Counted>;

    /// The audit rows of one notification, oldest first; none if there is no such notification.
    async fn attempts(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Vec<AuditRow>>>;

    /// What was said in one attempt of a notification, by the number that [`Queries::attempts`] gives it; none where nothing
    /// was kept, or no longer is.
    async fn transcript(
        &self,
        tenant: TenantId,
        id: NotificationId,
        number: u32,
    ) -> Result<Option<Transcript>>;

    /// A page of the tenant's audit log, newest first; `NotifySend` rows are read from the notifications
    /// themselves. Bounded like [`Queries::list`].
    async fn audit(&self, tenant: TenantId, filter: &AuditFilter, page: Page) -> Result<AuditPage>;

    /// The tenant's figures now; `None` for all tenants.
    async fn kpis(&self, tenant: Option<TenantId>, ask: KpiAsk) -> Result<Kpis>;

    /// The same per source site; rows without a site come under the empty name.
    async fn kpis_by_site(&self, tenant: TenantId, ask: KpiAsk) -> Result<Vec<(String, Kpis)>>;

    /// The tenant's lanes with their holds and how many rows wait in each (counted up to a bound).
    async fn lanes(&self, tenant: TenantId) -> Result<Vec<Lane>>;

    /// How the newest attempts of each of these providers went since then, newest first: at most [`LAST_ATTEMPTS`] of each. An
    /// attempt that failed is found whatever the others do; one that delivered if it is among the newest
    /// [`DELIVERIES_LOOKED_AT`] of the tenant.
    async fn last_attempts(
        &self,
        tenant: TenantId,
        providers: &[String],
        since: Timestamp,
    ) -> Result<Vec<AttemptMade>>;

    /// The store's clock.
    async fn now(&self) -> Result<Timestamp>;
}

/// Deliveries that are looked at to tell how providers do.
pub const DELIVERIES_LOOKED_AT: u32 = 1_000;

/// An attempt, as far as it tells how its provider does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptMade {
    pub provider: String,
    pub at: Timestamp,
    /// Of its failure.
    pub code: Option<String>,
    pub provider_code: Option<String>,
}

impl AttemptMade {
    /// Puts together what the log and the deliveries tell.
    pub(crate) fn newest(mut all: Vec<Self>) -> Vec<Self> {
        all.sort_by(|one, other| (&one.provider, other.at).cmp(&(&other.provider, one.at)));
        let mut newest: Vec<Self> = vec![];
        for made in all {
            let before = newest.iter().rev().take(LAST_ATTEMPTS);
            if before.filter(|other| other.provider == made.provider).count() < LAST_ATTEMPTS {
                newest.push(made);
            }
        }
        newest
    }
}

/// The most rows one page looks at.
pub const SCAN_BOUND: u32 = 10_000;

/// Nobody counts further than this.
pub const COUNT_LIMIT: u32 = 10_000;

/// How many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// All of them.
    Exactly(u64),
    /// An index alone tells, and there are more than [`COUNT_LIMIT`].
    MoreThan(u64),
    /// So many were among the newest [`SCAN_BOUND`] that could have been meant; nobody looked further back.
    AmongNewest(u64),
}

impl Counted {
    /// From the entries of an index, of which at most one more than [`COUNT_LIMIT`] was counted.
    pub(crate) fn in_index(entries: u64) -> Self {
        match entries {
            all if all <= u64::from(COUNT_LIMIT) => Self::Exactly(all),
            _ => Self::MoreThan(u64::from(COUNT_LIMIT)),
        }
    }
}

/// Where a notification stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub id: NotificationId,
    pub status: Status,
    pub last_error: Option<String>,
    /// When it was parked, discarded or delivered.
    pub ended_at: Option<Timestamp>,
}

/// A notification as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    pub submission: Submission,
    pub status: Status,
    pub generation: i32,
    /// Attempts so far in this generation.
    pub retry_count: u32,
    pub last_code: Option<String>,
    /// The far end's own code.
    pub last_provider_code: Option<String>,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    /// The latest of created, `sendAt` and requeue: what "stuck" counts from.
    pub waiting_since: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub next_attempt_at: Option<Timestamp>,
    /// Until when it is claimed, while it is.
    pub leased_until: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    /// When it was parked, discarded or delivered.
    pub ended_at: Option<Timestamp>,
    pub resolved_targets: Vec<String>,
    pub provider_message_id: Option<String>,
    /// What its provider told later; of several recipients, what is true of all who took it.
    pub receipt: Option<String>,
    pub receipt_at: Option<Timestamp>,
    /// The provider of its lane now; none when there was none to route to.
    pub provider: Option<String>,
    /// The lane it is or ended in.
    pub lane: Option<LaneId>,
    /// Why the lane is held, while it waits in one that is.
    pub held: Option<domain::Hold>,
    /// Nothing goes out of its lane before this, while it waits.
    pub lane_not_before: Option<Timestamp>,
    /// Filled by `get` only.
    pub recipients: Vec<RecipientResult>,
}

impl Notification {
    /// What became of the only recipient of a row, of which no result is kept apart: it stands where the row stands. None
    /// where there are several, or where nobody is named.
    pub fn only_recipient(&self) -> Option<RecipientResult> {
        let named = match &self.submission.content.target {
            Target::Recipients(to) => to.as_slice(),
            Target::List(_) => self.resolved_targets.as_slice(),
            Target::Provider => &[],
        };
        let [address] = named else { return None };
        let state = match (self.status, self.last_code.as_deref()) {
            (Status::Delivered, _) => RecipientState::Accepted,
            (Status::Parked, Some(code::AMBIGUOUS)) => RecipientState::Ambiguous,
            (Status::Parked, _) => RecipientState::Failed,
            _ => RecipientState::Open,
        };
        let failed = state != RecipientState::Accepted;
        self.recipients.is_empty().then(|| RecipientResult {
            address: address.clone(),
            state,
            generation: self.generation,
            provider_message_id: self.provider_message_id.clone(),
            code: self.last_code.clone().filter(|_| failed),
            provider_code: self.last_provider_code.clone().filter(|_| failed),
            error: self.last_error.clone().filter(|_| failed),
            at: self.ended_at.or(self.last_attempt_at).unwrap_or(self.created_at),
            receipt: self.receipt.as_deref().and_then(|text| text.parse().ok()),
            provider: self.provider.clone(),
            tries: self.retry_count,
            not_before: self.next_attempt_at.filter(|_| state == RecipientState::Open),
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    pub status: Vec<Status>,
    pub channel: Option<Channel>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Only rows that wait longer than this.
    pub stuck_after: Option<Duration>,
    /// Words in any case and order, each somewhere in the subject, an address or the provider's id for any recipient.
    pub keyword: Option<String>,
    /// Only ids within these.
    pub ids: Option<IdRange>,
    /// Site, list, provider and others that ask for one text.
    pub by: TextFilters,
    /// Only rows that had ended, as they are now, at this moment; of rows that wait, those that nobody has sent round again
    /// since.
    pub ended_by: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub limit: u32,
    /// Where the last page said to go on.
    pub after: Option<Cursor>,
}

/// A place in the newest-first order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub at: Timestamp,
    pub seq: i64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    pub rows: Vec<Notification>,
    pub next: Option<Cursor>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    pub at: Timestamp,
    pub kind: AuditKind,
    pub status: AuditStatus,
    pub notification: Option<NotificationId>,
    /// What the notification is called, while it is kept.
    pub subject: Option<String>,
    /// The cached call or write of a site it was about.
    pub operation: Option<TrackedOperationId>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    pub actor: String,
    pub site: Option<String>,
    /// The provider, list or key it was about.
    pub target: Option<String>,
    pub duration_ms: Option<u32>,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    pub detail: Option<String>,
    /// Which attempt of its notification this is, counted from 1 over all rounds. Filled by `attempts` only.
    pub attempt: Option<u32>,
    /// Its notification ended with it.
    pub was_last: bool,
    /// What was said in it is kept. Filled by `attempts` only.
    pub has_transcript: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditFilter {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub kind: Option<AuditKind>,
    pub status: Option<AuditStatus>,
    pub actor: Option<String>,
    /// Only attempts that failed and whose notification is tried again, also those that cost no try.
    pub retried: bool,
    /// A notification id, or that of a cached call or write.
    pub correlation: Option<NotificationId>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    pub next: Option<Cursor>,
}

/// What the figures depend on besides the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KpiAsk {
    pub stuck_after: Duration,
    pub delivered_window: Duration,
}

/// Where a row stands, from the tables it is in: it ended, or it waits with so many attempts behind it.
pub(crate) fn standing(ended: Option<Status>, waits: bool, attempts: u32) -> Result<Status> {
    match (ended, waits) {
        (Some(ended), _) => Ok(ended),
        (None, true) if attempts == 0 => Ok(Status::Pending),
        (None, true) => Ok(Status::Retrying),
        (None, false) => Err(Error::corrupt(
            "notifications",
            "a row in neither due nor outcome",
        )),
    }
}
