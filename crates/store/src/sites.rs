//! Sites: who they are, whether they are there, what they told about their cached calls and writes; and which
//! database this is, so that a site notices when it is another one.

use crate::{
    Result,
    query::{Cursor, Page},
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, AuditStatus, SiteId, TenantId, Timestamp, TrackedOperationId,
    pair::{LeaseAnswer, LeaseAsk, Terms, WitnessRow, witness},
    site::{Category, DatabaseIdentity, OperationEvent, OperationStatus, Telemetry},
    submission::limit,
};
use std::{collections::BTreeMap, fmt::Debug, time::Duration};
use uuid::Uuid;

#[async_trait]
pub trait Sites: Debug + Send + Sync {
    /// Makes a site known and gives it its key (role `site`, named like the site), both or neither. `Conflict` while
    /// it has a live key. Audited.
    async fn register_site(
        &self,
        tenant: TenantId,
        site: &SiteId,
        key_hash: &[u8; 32],
        actor: &Actor,
    ) -> Result<Site>;

    /// The tenant's sites by name.
    async fn sites(&self, tenant: TenantId) -> Result<Vec<Site>>;

    async fn site(&self, tenant: TenantId, site: &SiteId) -> Result<Option<Site>>;

    /// Sites are connected and alive. Makes a site known that was not, and takes it over from an older session.
    async fn sites_seen(&self, seen: Vec<SiteSeen>) -> Result<()>;

    /// The machines of a site's pair that are connected to any node of central, the one of the highest turn first. None of a site of one
    /// machine.
    async fn site_machines(&self, tenant: TenantId, site: &SiteId) -> Result<Vec<SiteMachine>>;

    /// A session is over. Changes nothing when a newer one has taken over.
    async fn site_left(&self, tenant: TenantId, site: &SiteId, session: Uuid, why: &str) -> Result<()>;

    /// Another agent came with the id of a site that is there, and was sent away. Says whether that is news; then it is
    /// audited.
    async fn site_conflict(&self, tenant: TenantId, site: &SiteId, other: OtherAgent) -> Result<bool>;

    /// Writes down what a site tells: the latest news of each operation in `site_calls`, each piece in the audit log.
    /// All of it or nothing. What was told before changes nothing, whatever order it comes in.
    async fn record_telemetry(&self, tenant: TenantId, site: &SiteId, news: Vec<Telemetry>) -> Result<()>;

    /// A page of calls and writes, newest first. Bounded like [`crate::Queries::list`].
    async fn site_calls(&self, tenant: TenantId, filter: &CallFilter, page: Page) -> Result<CallPage>;

    /// A person acted on a message that is parked at a site.
    async fn log_site_action(&self, action: SiteAction) -> Result<()>;

    /// Leaves a question to a site for the node that has it. Announce it, so that it looks at once.
    async fn ask_relay(&self, relay: Uuid, node: &str, question: RelayQuestion) -> Result<()>;

    /// The questions left for this node, each given out once. Forgets the ones nobody waits for any more.
    async fn take_relays(&self, node: &str) -> Result<Vec<(Uuid, RelayQuestion)>>;

    async fn answer_relay(&self, relay: Uuid, answer: &str) -> Result<()>;

    /// The answer, if it is there; it is given out once.
    async fn relay_answered(&self, relay: Uuid) -> Result<Option<String>>;

    /// Which database this is.
    async fn database(&self) -> Result<DatabaseIdentity>;

    /// A machine of a pair asks for the lease of its site. Two that ask at once are answered one after the other; times are
    /// the database's. `Refused` for a site that is not known.
    async fn ask_lease(&self, question: LeaseQuestion) -> Result<LeaseAnswer>;

    /// To be called once by a process that serves, before it tells anybody which database it serves.
    async fn begin_epoch(&self) -> Result<()>;
}

/// A site as central knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub tenant: TenantId,
    pub id: SiteId,
    pub created_at: Timestamp,
    /// The session it is connected by, as far as was written down; a node of central that died could not say so.
    pub session: Option<Uuid>,
    pub central_node: Option<String>,
    pub connected_at: Option<Timestamp>,
    pub last_contact_at: Option<Timestamp>,
    pub offline_since: Option<Timestamp>,
    pub offline_why: Option<String>,
    pub agent_node: Option<String>,
    pub agent_version: Option<String>,
    pub peer: Option<String>,
    /// Its last report, as JSON text.
    pub report: Option<String>,
    /// Which buffer its agent has, and which run of it this is; none of an agent that did not say.
    pub agent_buffer: Option<Uuid>,
    pub agent_run: Option<Uuid>,
    pub conflict: Option<Conflict>,
}

/// Another agent that came with the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub other: OtherAgent,
    pub since: Timestamp,
    /// When it was heard of last.
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherAgent {
    pub node: String,
    /// Where it connected from.
    pub peer: String,
    pub version: String,
}

impl OtherAgent {
    pub(crate) fn in_words(&self) -> String {
        format!(
            "another agent came with this id and was sent away: node {} from {}",
            self.node, self.peer
        )
    }
}

/// A conflict of which nothing was heard for this long is over: an agent that was sent away comes back every minute.
pub const CONFLICT_OVER: Duration = Duration::from_secs(180);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSeen {
    pub tenant: TenantId,
    pub site: SiteId,
    pub session: Uuid,
    pub central_node: String,
    /// How long ago, because nodes whose clocks disagree must agree on which session is the newer one.
    pub connected_for: Duration,
    pub silent_for: Duration,
    pub agent_node: String,
    pub agent_version: String,
    pub peer: String,
    /// None leaves the last one.
    pub report: Option<String>,
    pub agent_buffer: Uuid,
    pub agent_run: Uuid,
    /// Of a machine of a pair: the number of the turn it is active in. The one of the higher turn is the site.
    pub turn: Option<u64>,
}

impl SiteSeen {
    /// As both databases keep it.
    pub(crate) fn turn_kept(&self) -> Option<i64> {
        self.turn.map(|turn| i64::try_from(turn).unwrap_or(i64::MAX))
    }
}

/// In which order they are written down: of the machines of a pair the one of the highest turn first, and otherwise in one order, so that two
/// nodes that both see a site cannot wait for each other.
pub(crate) fn in_order(seen: &mut [SiteSeen]) {
    seen.sort_by(|a, b| (a.tenant, &a.site, b.turn).cmp(&(b.tenant, &b.site, a.turn)));
}

/// A machine of a pair that is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteMachine {
    /// The node of central it is connected to.
    pub central_node: String,
    pub turn: u64,
}

/// A site that a node has not written down for this long is not connected there any more.
pub const PRESENCE_TIMEOUT: Duration = Duration::from_secs(45);

/// One cached call or write as its latest news left it; or a notification that was parked at the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteCall {
    pub site: SiteId,
    pub operation: TrackedOperationId,
    pub category: Category,
    pub target: String,
    pub summary: Option<String>,
    pub status: OperationStatus,
    pub retry_count: u32,
    pub error: Option<String>,
    pub http_status: Option<u16>,
    /// By the site's clock, like `updated_at`.
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub node: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    /// Who did it, when it was a person.
    pub actor: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub site: Option<SiteId>,
    pub category: Option<Category>,
    pub status: Vec<OperationStatus>,
    pub target: Option<String>,
    pub operation: Option<TrackedOperationId>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallPage {
    pub rows: Vec<SiteCall>,
    pub next: Option<Cursor>,
}

/// A question of one node to a site that another one has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayQuestion {
    pub tenant: TenantId,
    pub site: SiteId,
    /// In words that only central understands.
    pub question: String,
}

/// What a machine of a pair asks, and the longest lease that is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseQuestion {
    pub tenant: TenantId,
    pub site: SiteId,
    pub longest: Duration,
    pub ask: LeaseAsk,
}

/// What both databases answer, and write down.
pub(crate) fn lease_answer(
    asked: &LeaseQuestion,
    known: Option<&WitnessRow>,
    database: &str,
) -> (Option<WitnessRow>, LeaseAnswer) {
    witness::answer(
        Terms::of(asked.longest),
        known,
        database,
        &asked.ask,
        Uuid::new_v4(),
    )
}

/// Rounded up: a lease that is given is never counted shorter than it is.
pub(crate) fn whole_millis(time: Duration) -> i64 {
    i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// Nobody waits longer than this for an answer by way of another node.
pub const RELAY_FORGOTTEN: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteAction {
    pub tenant: TenantId,
    pub site: SiteId,
    /// The message, as the person named it.
    pub message: String,
    /// `Pending` for a retry, `Discarded` for a discard; `Failed` where nothing was done, `Attempted` where that is not
    /// known.
    pub status: AuditStatus,
    pub actor: Actor,
    /// What came of it, in words.
    pub detail: String,
}

impl CallFilter {
    pub(crate) fn passes(&self, call: &SiteCall) -> bool {
        self.site.as_ref().is_none_or(|site| call.site == *site)
            && self.category.is_none_or(|category| call.category == category)
            && (self.status.is_empty() || self.status.contains(&call.status))
            && self.target.as_ref().is_none_or(|target| call.target == *target)
            && self.operation.is_none_or(|operation| call.operation == operation)
    }
}

/// The last millisecond that every database can hold: the end of the year 9999.
pub(crate) const LATEST: i64 = 253_402_300_799_999;

/// News as it can be stored anywhere: no NUL, nothing endless, no time that is none. A site's word is not trusted to
/// be well-formed, and one bad piece must not keep its neighbours out.
pub(crate) fn tidy(mut news: Telemetry) -> Telemetry {
    let cut = |text: &mut String, longest: usize| {
        if text.contains('\0') {
            *text = text.replace('\0', "\u{fffd}");
        }
        if let Some((at, _)) = text.char_indices().nth(longest) {
            text.truncate(at);
        }
    };
    cut(&mut news.target, limit::NAME);
    for (text, longest) in [
        (&mut news.summary, limit::SUBJECT),
        (&mut news.error, limit::ERROR),
        (&mut news.instance, limit::NAME),
        (&mut news.script, limit::NAME),
        (&mut news.node, limit::NAME),
        (&mut news.execution, limit::NAME),
        (&mut news.parent_execution, limit::NAME),
        (&mut news.actor, limit::NAME),
    ] {
        if let Some(text) = text {
            cut(text, longest);
        }
    }
    for at in [&mut news.created_at, &mut news.occurred_at] {
        *at = Timestamp::from_millis(at.as_millis().clamp(0, LATEST));
    }
    news
}

/// The latest piece about each operation, in one fixed order so that two writers cannot wait for each other.
pub(crate) fn latest(news: &[Telemetry]) -> Vec<&Telemetry> {
    let mut latest: BTreeMap<TrackedOperationId, &Telemetry> = BTreeMap::new();
    for piece in news {
        let known = latest.entry(piece.operation).or_insert(piece);
        if piece.revision > known.revision {
            *known = piece;
        }
    }
    latest.into_values().collect()
}

/// What a piece of news is called in the audit log.
pub(crate) fn audit_of(news: &Telemetry) -> (AuditKind, AuditStatus) {
    let kind = news.category.audit_kind();
    let status = match (news.event, news.status) {
        (OperationEvent::Queued | OperationEvent::Retry, _) => AuditStatus::Pending,
        (OperationEvent::Delivered, _) => AuditStatus::Delivered,
        (OperationEvent::Discard, _) => AuditStatus::Discarded,
        (OperationEvent::ParkedMaxRetries, _) | (_, OperationStatus::Parked) => AuditStatus::Parked,
        (_, OperationStatus::Failed) => AuditStatus::Failed,
        (OperationEvent::TransientFailure | OperationEvent::PermanentFailure, _) => AuditStatus::Attempted,
    };
    (kind, status)
}

/// Who did it, as the audit log has it. A site speaks for itself alone: a name it gives is a name of the site, whatever
/// it looks like. The person at central who asked the site for it is on record there as well.
pub(crate) fn actor_of(site: &SiteId, news: &Telemetry) -> Actor {
    let own = Actor::site(site);
    match &news.actor {
        None => own,
        Some(name) if name == own.as_str() => own,
        Some(name) => Actor::new(format!("{own}/{name}")),
    }
}

/// The code column of a piece of news.
pub(crate) fn code_of(news: &Telemetry) -> Option<String> {
    news.http_status.map(|status| format!("HTTP_{status}"))
}

/// The detail column: what went wrong, else what was asked.
pub(crate) fn detail_of(news: &Telemetry) -> Option<&str> {
    news.error.as_deref().or(news.summary.as_deref())
}

/// The id that was minted for a database, as kept in `meta`.
pub(crate) fn database_id(text: &str) -> Result<Uuid> {
    Uuid::try_parse(text).map_err(|e| crate::Error::corrupt("meta", format!("database_id: {e}")))
}
