//! Records turned on their side: `unnest` takes one array per column. Words from far ends lose their NULs here.

use super::{
    audit_write::{self, without_nul},
    record::terminal,
    rows,
    types::{At, millis},
};
use crate::outbox::{AttemptRecord, Ended};
use domain::{AuditStatus, Seq, settle::RecipientUpdate};
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

type Text<'a> = Option<Cow<'a, str>>;
type List<'a> = Vec<&'a (dyn ToSql + Sync)>;

#[derive(Default)]
struct Leases {
    seq: Vec<i64>,
    token: Vec<i64>,
}

impl Leases {
    fn add(&mut self, record: &AttemptRecord) {
        self.seq.push(record.lease.seq.0);
        self.token.push(record.lease.token.0);
    }
}

/// Records that end their row.
#[derive(Default)]
pub(super) struct Ends<'a> {
    leases: Leases,
    status: Vec<&'static str>,
    attempts: Vec<i32>,
    code: Vec<Text<'a>>,
    error: Vec<Text<'a>>,
    targets: Vec<Option<String>>,
    provider_message_id: Vec<Text<'a>>,
}

impl<'a> Ends<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            let (status, code, error, targets, message_id) = match &record.ended {
                Ended::Delivered {
                    provider_message_id,
                    resolved_targets,
                } => (
                    "Delivered",
                    None,
                    None,
                    resolved_targets,
                    provider_message_id.as_deref(),
                ),
                Ended::Park {
                    code,
                    error,
                    resolved_targets,
                } => ("Parked", Some(&**code), Some(&**error), resolved_targets, None),
                Ended::Retry { .. } | Ended::Wait { .. } => continue,
            };
            these.leases.add(record);
            these.status.push(status);
            these.attempts.push(i32::from(record.attempt.is_some()));
            these.code.push(code.map(without_nul));
            these.error.push(error.map(without_nul));
            these.targets.push(resolved(targets));
            these.provider_message_id.push(message_id.map(without_nul));
        }
        these
    }

    pub fn is_empty(&self) -> bool {
        self.status.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> List<'p> {
        vec![
            now,
            node,
            &self.leases.seq,
            &self.leases.token,
            &self.status,
            &self.attempts,
            &self.code,
            &self.error,
            &self.targets,
            &self.provider_message_id,
        ]
    }
}

/// Records that end their row, each with its one row in the audit log.
#[derive(Default)]
pub(super) struct LoggedEnds<'a> {
    ends: Ends<'a>,
    status: Vec<&'static str>,
    ended_as: Vec<Option<&'static str>>,
    target: Vec<Option<&'a str>>,
    duration: Vec<Option<i32>>,
    code: Vec<Text<'a>>,
    detail: Vec<Text<'a>>,
}

impl<'a> LoggedEnds<'a> {
    /// None when there is more to be written about any of them.
    pub fn of(records: &[&'a AttemptRecord]) -> Option<Self> {
        let mut these = Self {
            ends: Ends::of(records),
            ..Self::default()
        };
        for record in records {
            let ended = terminal(&record.ended)?;
            let mut entries = audit_write::of_attempt(record, Some(ended));
            if entries.len() != 1 || !record.recipients.is_empty() {
                return None;
            }
            let entry = entries.pop()?;
            these.status.push(entry.status.as_str());
            these.ended_as.push(entry.ended_as.map(AuditStatus::as_str));
            these.target.push(entry.target);
            these.duration.push(entry.duration());
            these.code.push(entry.code);
            these.detail.push(entry.detail);
        }
        Some(these)
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> List<'p> {
        let mut params = self.ends.params(now, node);
        params.extend::<List<'p>>(vec![
            &self.status,
            &self.ended_as,
            &self.target,
            &self.duration,
            &self.code,
            &self.detail,
        ]);
        params
    }
}

/// As JSON text; none when there are none.
pub(super) fn resolved(targets: &[String]) -> Option<String> {
    (!targets.is_empty()).then(|| {
        let targets: Vec<_> = targets.iter().map(|t| without_nul(t).into_owned()).collect();
        serde_json::Value::from(targets).to_string()
    })
}

/// Records that send their row round again.
#[derive(Default)]
pub(super) struct Retries<'a> {
    leases: Leases,
    wait: Vec<f64>,
    unknowns: Vec<i32>,
    code: Vec<Cow<'a, str>>,
    error: Vec<Cow<'a, str>>,
}

impl<'a> Retries<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            if let Ended::Retry {
                after,
                unknown,
                code,
                error,
            } = &record.ended
            {
                these.leases.add(record);
                these.wait.push(millis(*after));
                these.unknowns.push(i32::from(*unknown));
                these.code.push(without_nul(code));
                these.error.push(without_nul(error));
            }
        }
        these
    }

    pub fn is_empty(&self) -> bool {
        self.wait.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> List<'p> {
        vec![
            now,
            node,
            &self.leases.seq,
            &self.leases.token,
            &self.wait,
            &self.unknowns,
            &self.code,
            &self.error,
        ]
    }
}

/// Records that put their row back into a lane that is held.
#[derive(Default)]
pub(super) struct Waits<'a> {
    leases: Leases,
    code: Vec<Cow<'a, str>>,
    error: Vec<Cow<'a, str>>,
}

impl<'a> Waits<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            if let Ended::Wait { code, error } = &record.ended {
                these.leases.add(record);
                these.code.push(without_nul(code));
                these.error.push(without_nul(error));
            }
        }
        these
    }

    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    pub fn params(&self) -> List<'_> {
        vec![&self.leases.seq, &self.leases.token, &self.code, &self.error]
    }
}

#[derive(Default)]
pub(super) struct Recipients<'a> {
    seq: Vec<i64>,
    address: Vec<Cow<'a, str>>,
    state: Vec<&'static str>,
    generation: Vec<i32>,
    provider_message_id: Vec<Text<'a>>,
    code: Vec<Text<'a>>,
    error: Vec<Text<'a>>,
}

impl<'a> Recipients<'a> {
    /// Each address once: the last word counts.
    pub fn add(
        &mut self,
        seq: Seq,
        generation: i32,
        updates: impl IntoIterator<Item = &'a RecipientUpdate, IntoIter: DoubleEndedIterator>,
    ) {
        let mut seen = std::collections::HashSet::new();
        for update in updates.into_iter().rev() {
            if !seen.insert(update.address.as_str()) {
                continue;
            }
            self.seq.push(seq.0);
            self.address.push(without_nul(&update.address));
            self.state.push(rows::state_name(update.state));
            self.generation.push(generation);
            self.provider_message_id
                .push(update.provider_message_id.as_deref().map(without_nul));
            self.code.push(update.code.as_deref().map(without_nul));
            self.error.push(update.error.as_deref().map(without_nul));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.seq.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>) -> List<'p> {
        vec![
            now,
            &self.seq,
            &self.address,
            &self.state,
            &self.generation,
            &self.provider_message_id,
            &self.code,
            &self.error,
        ]
    }
}
