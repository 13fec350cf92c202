//! Sites, as they are shown.

use super::names::{CategoryName, PresenceName, Time};
use central::sites::{
    PairReport, Presence, Registered, SiteDamage, SiteEvent, SiteReport, SiteView as Known,
};
use domain::{Timestamp, site::Category};
use serde::Serialize;
use utoipa::ToSchema;

/// A site to be made known.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct SiteRequest {
    /// Letters, digits, `-`, `_` and `.`; what the site's agent has as `site.id`.
    #[schema(max_length = 100)]
    pub id: String,
}

/// A site and whether it is there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteView {
    pub id: String,
    #[schema(value_type = Time)]
    pub registered_at: Timestamp,
    #[schema(value_type = PresenceName)]
    pub presence: &'static str,
    /// Since when it is online or offline.
    #[schema(value_type = Option<Time>)]
    pub since: Option<Timestamp>,
    /// Why it is offline.
    pub reason: Option<String>,
    /// The node of central it talks to.
    pub central_node: Option<String>,
    /// The machine its agent runs on.
    pub node: Option<String>,
    pub version: Option<String>,
    pub peer: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub last_contact_at: Option<Timestamp>,
    /// What it said last; of an offline site, what it said before it went.
    pub report: Option<ReportView>,
    /// Another agent uses the same id and was sent away; `node` and `peer` of the site are those of the one that was
    /// there first.
    pub conflict: Option<ConflictView>,
}

/// Another agent that came with the id of a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    pub node: String,
    /// Where it connected from.
    pub peer: String,
    pub version: String,
    #[schema(value_type = Time)]
    pub since: Timestamp,
    #[schema(value_type = Time)]
    pub last_seen_at: Timestamp,
}

/// How a site is doing, in its own words.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportView {
    pub backlog: Vec<BacklogView>,
    pub parked: u64,
    /// When the oldest waiting message was accepted.
    #[schema(value_type = Option<Time>)]
    pub oldest_waiting_at: Option<Timestamp>,
    /// Messages that nothing at the site can deliver.
    pub without_handler: u64,
    pub buffer_bytes: u64,
    /// Why it takes no messages, when it does not.
    pub refusing: Option<String>,
    /// What was found damaged there and nobody has acknowledged.
    pub damage: Vec<DamageView>,
    /// What central acknowledged before this moment gave way to new messages there: should this database be lost, it is
    /// not sent again.
    #[schema(value_type = Option<Time>)]
    pub forgotten_until: Option<Timestamp>,
    /// The site's two machines, as the active one sees them; null where it has one.
    pub pair: Option<SitePairView>,
    pub events: Vec<SiteEventView>,
}

/// The two machines of a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SitePairView {
    /// `Active` or `Standby`: the machine that reports.
    pub role: String,
    /// How often the active one has changed.
    pub turn: u64,
    /// Who gave the right to attempt what both machines know: `Standby`, `Central`, or `Nobody` where none is needed.
    pub lease_by: Option<String>,
    /// How much of it was left when the machine reported.
    pub lease_seconds: Option<u64>,
    /// Why calls and writes that both machines know are not attempted.
    pub held: Option<String>,
    /// Messages that the other machine does not have yet, counted up to 10,000.
    pub own_rows: Option<u64>,
    /// Changes that the standby's copy lacks.
    pub behind: Option<u64>,
    /// How long ago it lacked none.
    pub behind_seconds: Option<u64>,
    /// What the other machine is called.
    pub other: Option<String>,
    pub other_role: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub last_contact_at: Option<Timestamp>,
    /// Why the other machine cannot be asked.
    pub trouble: Option<String>,
    /// What differs between the two machines, and what leads to the machine itself, in words.
    pub differences: Vec<String>,
}

/// Damage at a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DamageView {
    #[schema(value_type = Time)]
    pub at: Timestamp,
    pub what: String,
    /// The file at the site that was set aside.
    pub file: Option<String>,
    /// Messages that were brought back.
    pub recovered: u64,
    /// Messages that could not be read.
    pub lost: u64,
}

/// What waits at a site.
#[derive(Debug, Serialize, ToSchema)]
pub struct BacklogView {
    #[schema(value_type = CategoryName)]
    pub category: Category,
    pub waiting: u64,
}

/// A line of the site's event log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteEventView {
    #[schema(value_type = Time)]
    pub at: Timestamp,
    pub event: String,
    pub message_id: String,
    pub detail: Option<String>,
}

/// A site that was just made known.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSiteView {
    pub id: String,
    #[schema(value_type = Time)]
    pub registered_at: Timestamp,
    /// What its agent gets as `site.key`. It is shown this once and kept nowhere.
    pub key: String,
}

impl std::fmt::Debug for NewSiteView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewSiteView")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl From<Known> for SiteView {
    fn from(site: Known) -> Self {
        let (presence, since, reason, central_node) = match site.presence {
            Presence::NeverSeen => ("NeverSeen", None, None, None),
            Presence::Online { since, central_node } => ("Online", Some(since), None, Some(central_node)),
            Presence::Offline { since, why } => ("Offline", Some(since), Some(why), None),
        };
        Self {
            id: site.id.to_string(),
            registered_at: site.registered_at,
            presence,
            since,
            reason,
            central_node,
            node: site.agent_node,
            version: site.agent_version,
            peer: site.peer,
            last_contact_at: site.last_contact_at,
            report: site.report.map(ReportView::from),
            conflict: site.conflict.map(|c| ConflictView {
                node: c.other.node,
                peer: c.other.peer,
                version: c.other.version,
                since: c.since,
                last_seen_at: c.at,
            }),
        }
    }
}

impl From<SiteReport> for ReportView {
    fn from(report: SiteReport) -> Self {
        let backlog = |(category, waiting)| BacklogView { category, waiting };
        let damage = |d: SiteDamage| DamageView {
            at: d.at,
            what: d.what,
            file: d.file,
            recovered: d.recovered,
            lost: d.lost,
        };
        let event = |e: SiteEvent| SiteEventView {
            at: e.at,
            event: e.what,
            message_id: e.message,
            detail: e.detail,
        };
        Self {
            backlog: report.backlog.into_iter().map(backlog).collect(),
            parked: report.parked,
            oldest_waiting_at: report.oldest_waiting,
            without_handler: report.without_handler,
            buffer_bytes: report.buffer_bytes,
            refusing: report.refusing,
            damage: report.damage.into_iter().map(damage).collect(),
            forgotten_until: report.forgotten_until,
            pair: report.pair.map(Into::into),
            events: report.events.into_iter().map(event).collect(),
        }
    }
}

impl From<PairReport> for SitePairView {
    fn from(pair: PairReport) -> Self {
        let lease_seconds = pair.lease_seconds();
        Self {
            lease_seconds,
            role: pair.role,
            turn: pair.turn,
            lease_by: pair.lease_by,
            held: pair.held,
            own_rows: pair.own,
            behind: pair.behind,
            behind_seconds: pair.behind_ms.map(|ms| ms / 1000),
            other: pair.other,
            other_role: pair.other_role,
            last_contact_at: pair.last_contact,
            trouble: pair.trouble,
            differences: pair.differences,
        }
    }
}

impl From<Registered> for NewSiteView {
    fn from(registered: Registered) -> Self {
        Self {
            id: registered.site.id.to_string(),
            registered_at: registered.site.created_at,
            key: registered.key,
        }
    }
}
