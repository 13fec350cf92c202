//! Between the generated wire types and the plain ones of [`crate::message`]. Into the wire never fails; out of it
//! may, item by item, in words.
//!
//! Always true: what a site says about itself has a size, because central keeps it; what it hands in to be stored is
//! checked where everything is that is stored.

use crate::bulk::ParkedFilter;
use crate::message::{
    Ack, Forward, ParkedActed, ParkedAnswer, ParkedMessage, ParkedPage, RemoteStatus, SiteDamage, SiteEvent,
    SiteReport,
};
use domain::{
    Channel, Content, NotificationId, ProviderId, Target, Timestamp, TrackedOperationId,
    site::{DatabaseIdentity, Telemetry},
    submission::limit,
};
use std::mem::take;
use uuid::Uuid;

/// Generated from `proto/link/v1/link.proto`; `cargo run -p wiregen` writes it anew.
#[allow(
    clippy::all,
    clippy::unwrap_used,
    missing_debug_implementations,
    rust_2018_idioms,
    unused_qualifications
)]
pub mod v1 {
    include!("wire/waypost.link.v1.rs");
}

/// Why something on the wire cannot be understood.
pub(crate) type Garbled = String;

fn uuid(field: &str, bytes: &[u8]) -> Result<Uuid, Garbled> {
    Uuid::from_slice(bytes).map_err(|_| format!("{field} must be 16 bytes, not {}", bytes.len()))
}

pub(crate) fn millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millis)
}

pub(crate) fn time(at: Option<i64>) -> Option<Timestamp> {
    at.map(moment)
}

/// The last millisecond that every database can hold: the end of the year 9999.
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// A time that can be stored, whatever was sent.
pub(crate) fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.clamp(0, LATEST_MILLIS))
}

/// Entries of a site's event log that central keeps.
const REPORTED_EVENTS: usize = 100;
/// Messages on a page that a site shows.
pub(crate) const MAX_PAGE: usize = 1_000;
/// Entries of damage of a report.
const REPORTED_DAMAGE: usize = 100;

pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(longest) {
        text.truncate(at);
    }
    text
}

pub(crate) fn cut_some(text: Option<String>, longest: usize) -> Option<String> {
    text.map(|text| cut(text, longest))
}

impl From<Forward> for v1::Notification {
    fn from(f: Forward) -> Self {
        Self {
            id: f.id.0.as_bytes().to_vec(),
            instance: f.instance,
            script: f.script,
            execution: f.execution,
            parent_execution: f.parent_execution,
            site_enqueued_at: f.site_enqueued_at.as_millis(),
            trace: f.trace.map(|trace| trace.to_string()),
            ..said(f.content)
        }
    }
}

macro_rules! content {
    ([$($short_text:ident)*]) => {
        /// What it says, without who says it.
        fn said(content: Content) -> v1::Notification {
            let (list, recipients) = content.target.split();
            v1::Notification {
                list: list.unwrap_or_default(),
                recipients: recipients.unwrap_or_default(),
                r#type: content.channel.map(|c| c.to_string()),
                provider: content.provider.map(|p| p.to_string()),
                subject: content.subject,
                body: content.body,
                body_html: content.body_html,
                type_data: content.type_data,
                $($short_text: content.$short_text,)*
                send_at: millis(content.send_at),
                expires_at: millis(content.expires_at),
                ..v1::Notification::default()
            }
        }

        /// Takes out what it says.
        fn content(n: &mut v1::Notification) -> Result<Content, Garbled> {
            let target = match (n.list.is_empty(), n.recipients.is_empty()) {
                (false, true) => Target::List(take(&mut n.list)),
                (true, false) => Target::Recipients(take(&mut n.recipients)),
                (true, true) => Target::Provider,
                (false, false) => {
                    return Err("a notification goes to a list or to recipients, not both".into());
                }
            };
            let channel = n.r#type.take().map(|name| name.parse::<Channel>()).transpose();
            Ok(Content {
                channel: channel.map_err(|unknown| format!("type: {unknown}"))?,
                provider: n.provider.take().map(ProviderId::new),
                target,
                subject: take(&mut n.subject),
                body: take(&mut n.body),
                body_html: n.body_html.take(),
                type_data: n.type_data.take(),
                $($short_text: n.$short_text.take(),)*
                send_at: time(n.send_at),
                expires_at: time(n.expires_at),
                event: None,
            })
        }
    };
}
domain::short_texts!(content);

impl TryFrom<v1::Notification> for Forward {
    type Error = Garbled;

    fn try_from(mut n: v1::Notification) -> Result<Self, Garbled> {
        Ok(Self {
            id: NotificationId(uuid("notificationId", &n.id)?),
            content: content(&mut n)?,
            instance: n.instance,
            script: n.script,
            execution: n.execution,
            parent_execution: n.parent_execution,
            site_enqueued_at: moment(n.site_enqueued_at),
            trace: n.trace.and_then(|text| text.parse().ok()),
        })
    }
}

impl From<Ack> for v1::Ack {
    fn from(ack: Ack) -> Self {
        let (kind, reason) = match ack {
            Ack::Accepted => (v1::ack::Kind::Accepted, String::new()),
            Ack::Duplicate => (v1::ack::Kind::Duplicate, String::new()),
            Ack::Refused(reason) => (v1::ack::Kind::Refused, reason),
            Ack::NotNow(reason) => (v1::ack::Kind::NotNow, reason),
        };
        Self {
            kind: kind.into(),
            reason,
        }
    }
}

impl From<v1::Ack> for Ack {
    /// A kind this site does not know means "not now": the row stays.
    fn from(ack: v1::Ack) -> Self {
        match ack.kind() {
            v1::ack::Kind::Accepted => Ack::Accepted,
            v1::ack::Kind::Duplicate => Ack::Duplicate,
            v1::ack::Kind::Refused => Ack::Refused(ack.reason),
            v1::ack::Kind::NotNow => Ack::NotNow(ack.reason),
        }
    }
}

impl From<Option<RemoteStatus>> for v1::Standing {
    fn from(status: Option<RemoteStatus>) -> Self {
        let Some(s) = status else { return Self::default() };
        Self {
            status: s.status.as_str().into(),
            retry_count: s.retry_count,
            last_error: s.last_error,
            enqueued_at: s.enqueued_at.as_millis(),
            delivered_at: millis(s.delivered_at),
            receipt: s.receipt,
        }
    }
}

impl TryFrom<v1::Standing> for Option<RemoteStatus> {
    type Error = Garbled;

    fn try_from(s: v1::Standing) -> Result<Self, Garbled> {
        if s.status.is_empty() {
            return Ok(None);
        }
        Ok(Some(RemoteStatus {
            status: s
                .status
                .parse()
                .map_err(|e: domain::status::UnknownStatus| e.to_string())?,
            retry_count: s.retry_count,
            last_error: s.last_error,
            enqueued_at: Timestamp::from_millis(s.enqueued_at),
            delivered_at: time(s.delivered_at),
            receipt: s.receipt,
        }))
    }
}

impl From<DatabaseIdentity> for v1::Database {
    fn from(d: DatabaseIdentity) -> Self {
        Self {
            id: d.id.as_bytes().to_vec(),
            epoch: d.epoch,
        }
    }
}

impl TryFrom<v1::Database> for DatabaseIdentity {
    type Error = Garbled;

    fn try_from(d: v1::Database) -> Result<Self, Garbled> {
        Ok(Self {
            id: uuid("database", &d.id)?,
            epoch: d.epoch,
        })
    }
}

impl From<Telemetry> for v1::OperationNews {
    fn from(t: Telemetry) -> Self {
        Self {
            id: t.id.as_bytes().to_vec(),
            operation: t.operation.0.as_bytes().to_vec(),
            revision: t.revision,
            category: t.category.as_str().into(),
            target: t.target,
            summary: t.summary,
            event: t.event.as_str().into(),
            status: t.status.as_str().into(),
            retry_count: t.retry_count,
            error: t.error,
            http_status: t.http_status.map(u32::from),
            created_at: t.created_at.as_millis(),
            occurred_at: t.occurred_at.as_millis(),
            duration_ms: t.duration_ms,
            instance: t.instance,
            script: t.script,
            node: t.node,
            execution: t.execution,
            parent_execution: t.parent_execution,
            actor: t.actor,
        }
    }
}

impl TryFrom<v1::OperationNews> for Telemetry {
    type Error = Garbled;

    fn try_from(n: v1::OperationNews) -> Result<Self, Garbled> {
        Ok(Self {
            id: uuid("telemetry id", &n.id)?,
            operation: TrackedOperationId(uuid("trackedOperationId", &n.operation)?),
            revision: n.revision,
            category: n.category.parse()?,
            target: n.target,
            summary: n.summary,
            event: n.event.parse()?,
            status: n.status.parse()?,
            retry_count: n.retry_count,
            error: n.error,
            http_status: n.http_status.and_then(|s| u16::try_from(s).ok()),
            created_at: moment(n.created_at),
            occurred_at: moment(n.occurred_at),
            duration_ms: n.duration_ms,
            instance: n.instance,
            script: n.script,
            node: n.node,
            execution: n.execution,
            parent_execution: n.parent_execution,
            actor: n.actor,
        })
    }
}

impl From<ParkedPage> for v1::AskParked {
    fn from(p: ParkedPage) -> Self {
        Self {
            // An older site knows no other filter.
            category: p.filter.category.map(|c| c.as_str().into()),
            limit: p.limit,
            after: p.after,
            filter: Some(p.filter.into()),
        }
    }
}

impl TryFrom<v1::AskParked> for ParkedPage {
    type Error = Garbled;

    fn try_from(p: v1::AskParked) -> Result<Self, Garbled> {
        let mut filter = ParkedFilter::try_from(p.filter.unwrap_or_default())?;
        if let Some(category) = p.category {
            filter.category = Some(category.parse()?);
        }
        Ok(Self {
            filter,
            limit: p.limit,
            after: p.after,
        })
    }
}

impl From<ParkedAnswer> for v1::Parked {
    fn from(a: ParkedAnswer) -> Self {
        Self {
            messages: a.messages.into_iter().map(Into::into).collect(),
            next: a.next,
            total: a.total,
        }
    }
}

impl TryFrom<v1::Parked> for ParkedAnswer {
    type Error = Garbled;

    fn try_from(a: v1::Parked) -> Result<Self, Garbled> {
        Ok(Self {
            messages: a
                .messages
                .into_iter()
                .take(MAX_PAGE)
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            next: a.next.filter(|next| next.len() <= limit::SUBJECT),
            total: a.total,
        })
    }
}

impl From<ParkedMessage> for v1::ParkedMessage {
    fn from(m: ParkedMessage) -> Self {
        Self {
            id: m.id,
            category: m.category.as_str().into(),
            target: m.target,
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: m.created_at.as_millis(),
            last_attempt_at: millis(m.last_attempt_at),
            parked_at: millis(m.parked_at),
            last_error: m.last_error,
            instance: m.instance,
            script: m.script,
            summary: m.summary,
        }
    }
}

impl TryFrom<v1::ParkedMessage> for ParkedMessage {
    type Error = Garbled;

    fn try_from(m: v1::ParkedMessage) -> Result<Self, Garbled> {
        Ok(Self {
            id: cut(m.id, limit::NAME),
            category: m.category.parse()?,
            target: cut(m.target, limit::NAME),
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: moment(m.created_at),
            last_attempt_at: time(m.last_attempt_at),
            parked_at: time(m.parked_at),
            last_error: cut_some(m.last_error, limit::ERROR),
            instance: cut_some(m.instance, limit::NAME),
            script: cut_some(m.script, limit::NAME),
            summary: cut_some(m.summary, limit::NAME),
        })
    }
}

impl From<ParkedActed> for v1::Acted {
    fn from(acted: ParkedActed) -> Self {
        let result = match acted {
            ParkedActed::Done => v1::acted::Result::Done,
            ParkedActed::NotFound => v1::acted::Result::NotFound,
            ParkedActed::WrongState => v1::acted::Result::WrongState,
        };
        Self {
            result: result.into(),
            ..Self::default()
        }
    }
}

impl TryFrom<v1::Acted> for ParkedActed {
    type Error = Garbled;

    fn try_from(acted: v1::Acted) -> Result<Self, Garbled> {
        match acted.result() {
            v1::acted::Result::Done => Ok(ParkedActed::Done),
            v1::acted::Result::NotFound => Ok(ParkedActed::NotFound),
            v1::acted::Result::WrongState => Ok(ParkedActed::WrongState),
            v1::acted::Result::Nothing => Err(format!("an unknown result ({})", acted.result)),
        }
    }
}

impl From<SiteReport> for v1::Report {
    fn from(r: SiteReport) -> Self {
        let depth = |(category, waiting): (domain::site::Category, u64)| v1::Depth {
            category: category.as_str().into(),
            waiting,
        };
        let event = |e: SiteEvent| v1::SiteEvent {
            at: e.at.as_millis(),
            what: e.what,
            message: e.message,
            detail: e.detail,
        };
        Self {
            node: r.node,
            version: r.version,
            backlog: r.backlog.into_iter().map(depth).collect(),
            parked: r.parked,
            oldest_waiting: millis(r.oldest_waiting),
            without_handler: r.without_handler,
            buffer_bytes: r.buffer_bytes,
            refusing: r.refusing,
            events: r.events.into_iter().map(event).collect(),
            damage: r.damage.into_iter().map(v1::Damage::from).collect(),
            forgotten_until: millis(r.forgotten_until),
            pair: r.pair.map(Into::into),
        }
    }
}

impl From<SiteDamage> for v1::Damage {
    fn from(d: SiteDamage) -> Self {
        Self {
            at: d.at.as_millis(),
            what: d.what,
            file: d.file,
            recovered: d.recovered,
            lost: d.lost,
        }
    }
}

impl From<v1::Damage> for SiteDamage {
    fn from(d: v1::Damage) -> Self {
        Self {
            at: moment(d.at),
            what: cut(d.what, limit::ERROR),
            file: cut_some(d.file, limit::ERROR),
            recovered: d.recovered,
            lost: d.lost,
        }
    }
}

impl From<v1::Report> for SiteReport {
    /// Categories that this central does not know yet are left out; of the events the newest are kept.
    fn from(r: v1::Report) -> Self {
        let depth = |d: v1::Depth| Some((d.category.parse().ok()?, d.waiting));
        let event = |e: v1::SiteEvent| SiteEvent {
            at: moment(e.at),
            what: cut(e.what, limit::NAME),
            message: cut(e.message, limit::SUBJECT),
            detail: cut_some(e.detail, limit::ERROR),
        };
        let older = r.events.len().saturating_sub(REPORTED_EVENTS);
        Self {
            node: cut(r.node, limit::NAME),
            version: cut(r.version, limit::NAME),
            backlog: r.backlog.into_iter().filter_map(depth).collect(),
            parked: r.parked,
            oldest_waiting: time(r.oldest_waiting),
            without_handler: r.without_handler,
            buffer_bytes: r.buffer_bytes,
            refusing: cut_some(r.refusing, limit::ERROR),
            events: r.events.into_iter().skip(older).map(event).collect(),
            damage: r
                .damage
                .into_iter()
                .take(REPORTED_DAMAGE)
                .map(SiteDamage::from)
                .collect(),
            forgotten_until: time(r.forgotten_until),
            pair: r.pair.map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> v1::Notification {
        v1::Notification {
            id: vec![7; 16],
            list: "ops".into(),
            subject: "Tank 4".into(),
            body: "Level 98 %".into(),
            site_enqueued_at: 1,
            ..v1::Notification::default()
        }
    }

    #[test]
    fn an_agent_that_knows_fewer_fields_is_understood() {
        let forward = Forward::try_from(said()).unwrap();
        let content = Content {
            target: Target::List("ops".into()),
            subject: "Tank 4".into(),
            body: "Level 98 %".into(),
            ..Content::default()
        };
        assert_eq!(forward.content, content);
    }

    #[test]
    fn a_type_that_only_a_newer_agent_knows_is_refused_in_words_and_times_can_be_stored() {
        let pigeon = v1::Notification {
            r#type: Some("Pigeon".into()),
            ..said()
        };
        let why = Forward::try_from(pigeon).unwrap_err();
        assert!(
            why.starts_with("type: unknown type \"Pigeon\"; known are Email"),
            "{why}"
        );
        let late = v1::Notification {
            r#type: Some("email".into()),
            send_at: Some(i64::MIN),
            expires_at: Some(i64::MAX),
            ..said()
        };
        let content = Forward::try_from(late).unwrap().content;
        assert_eq!(content.channel, Some(Channel::Email));
        let times = [content.send_at, content.expires_at].map(|at| at.map(Timestamp::as_millis));
        assert_eq!(times, [Some(0), Some(LATEST_MILLIS)]);
    }

    #[test]
    fn what_a_site_says_of_itself_has_a_size() {
        let long = || "ü".repeat(1 << 16);
        let event = |n| v1::SiteEvent {
            at: if n % 2 == 0 { i64::MAX } else { i64::MIN },
            what: long(),
            message: long(),
            detail: Some(long()),
        };
        let report = SiteReport::from(v1::Report {
            node: long(),
            version: long(),
            refusing: Some(long()),
            events: (0..500).map(event).collect(),
            ..v1::Report::default()
        });
        assert_eq!(report.events.len(), REPORTED_EVENTS);
        assert_eq!(report.node.chars().count(), limit::NAME);
        let chars = |text: &Option<String>| text.as_ref().unwrap().chars().count();
        assert_eq!(chars(&report.refusing), limit::ERROR);
        assert!(report.events.iter().all(|e| chars(&e.detail) == limit::ERROR));
        assert!(
            report
                .events
                .iter()
                .all(|e| (0..=LATEST_MILLIS).contains(&e.at.as_millis()))
        );
        let parked = ParkedMessage::try_from(v1::ParkedMessage {
            id: long(),
            category: "Notification".into(),
            target: long(),
            last_error: Some(long()),
            ..v1::ParkedMessage::default()
        });
        assert_eq!(chars(&parked.unwrap().last_error), limit::ERROR);
    }
}
