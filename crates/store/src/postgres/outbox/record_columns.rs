//! Records turned on their side: `unnest` takes one array per column. Words from far ends lose their NULs here.

use crate::{
    outbox::{AttemptRecord, Cause, Ended},
    postgres::{
        audit::without_nul,
        types::{At, millis},
    },
    transcripts,
};
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

pub(super) type Text<'a> = Option<Cow<'a, str>>;
pub(super) type List<'a> = Vec<&'a (dyn ToSql + Sync)>;

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

pub(super) fn own_code(cause: &Cause) -> Text<'_> {
    cause.provider_code.as_deref().map(without_nul)
}

/// Records that end their row otherwise.
#[derive(Default)]
pub(super) struct Ends<'a> {
    leases: Leases,
    status: Vec<&'static str>,
    attempts: Vec<i32>,
    code: Vec<Text<'a>>,
    error: Vec<Text<'a>>,
    targets: Vec<Option<String>>,
    provider_message_id: Vec<Text<'a>>,
    provider_code: Vec<Text<'a>>,
}

impl<'a> Ends<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records.iter().filter(|record| record.delivery().is_none()) {
            let (status, cause, message_id) = match &record.ended {
                Ended::Delivered { provider_message_id } => {
                    ("Delivered", None, provider_message_id.as_deref())
                }
                Ended::Park { cause } => ("Parked", Some(cause), None),
                Ended::Discard { cause } => ("Discarded", Some(cause), None),
                Ended::Retry { .. } | Ended::Postpone { .. } | Ended::Wait { .. } => continue,
            };
            these.leases.add(record);
            these.status.push(status);
            these.attempts.push(i32::from(record.attempt.is_some()));
            these.code.push(cause.map(|cause| without_nul(&cause.code)));
            these.error.push(cause.map(|cause| without_nul(&cause.error)));
            these.provider_code.push(cause.and_then(own_code));
            these.targets.push(resolved(&record.resolved_targets));
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
            &self.provider_code,
        ]
    }
}

/// Records that say no more than that an attempt delivered.
#[derive(Default)]
pub(super) struct Deliveries<'a> {
    leases: Leases,
    targets: Vec<Option<String>>,
    provider_message_id: Vec<Text<'a>>,
    target: Vec<&'a str>,
    duration: Vec<i32>,
    code: Vec<Text<'a>>,
    detail: Vec<Text<'a>>,
}

impl<'a> Deliveries<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            let (Some(attempt), Ended::Delivered { provider_message_id }) =
                (record.delivery(), &record.ended)
            else {
                continue;
            };
            these.leases.add(record);
            these.targets.push(resolved(&record.resolved_targets));
            these
                .provider_message_id
                .push(provider_message_id.as_deref().map(without_nul));
            these.target.push(&attempt.target);
            these
                .duration
                .push(i32::try_from(attempt.duration_ms).unwrap_or(i32::MAX));
            these.code.push(attempt.code.as_deref().map(without_nul));
            these.detail.push(attempt.detail.as_deref().map(without_nul));
        }
        these
    }

    pub fn len(&self) -> usize {
        self.target.len()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> List<'p> {
        vec![
            now,
            node,
            &self.leases.seq,
            &self.leases.token,
            &self.targets,
            &self.provider_message_id,
            &self.target,
            &self.duration,
            &self.code,
            &self.detail,
        ]
    }
}

/// As JSON text; none when there are none.
pub(in crate::postgres) fn resolved(targets: &[String]) -> Option<String> {
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
    provider_code: Vec<Text<'a>>,
    in_doubt: Vec<bool>,
}

impl<'a> Retries<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            if let Ended::Retry {
                after,
                unknown,
                cause,
            } = &record.ended
            {
                these.leases.add(record);
                these.wait.push(millis(*after));
                these.unknowns.push(i32::from(*unknown));
                these.code.push(without_nul(&cause.code));
                these.error.push(without_nul(&cause.error));
                these.provider_code.push(own_code(cause));
                these.in_doubt.push(record.in_doubt);
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
            &self.provider_code,
            &self.in_doubt,
        ]
    }
}

/// Records after which their row comes again, uncounted.
#[derive(Default)]
pub(super) struct Postponed<'a> {
    leases: Leases,
    wait: Vec<f64>,
    code: Vec<Cow<'a, str>>,
    error: Vec<Cow<'a, str>>,
    provider_code: Vec<Text<'a>>,
    in_doubt: Vec<bool>,
}

impl<'a> Postponed<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            if let Ended::Postpone { after, cause } = &record.ended {
                these.leases.add(record);
                these.wait.push(millis(*after));
                these.code.push(without_nul(&cause.code));
                these.error.push(without_nul(&cause.error));
                these.provider_code.push(own_code(cause));
                these.in_doubt.push(record.in_doubt);
            }
        }
        these
    }

    pub fn is_empty(&self) -> bool {
        self.wait.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>) -> List<'p> {
        vec![
            now,
            &self.leases.seq,
            &self.leases.token,
            &self.wait,
            &self.code,
            &self.error,
            &self.provider_code,
            &self.in_doubt,
        ]
    }
}

/// Records that put their row back into a lane that is held.
#[derive(Default)]
pub(super) struct Waits<'a> {
    leases: Leases,
    code: Vec<Cow<'a, str>>,
    error: Vec<Cow<'a, str>>,
    provider_code: Vec<Text<'a>>,
    in_doubt: Vec<bool>,
}

impl<'a> Waits<'a> {
    pub fn of(records: &[&'a AttemptRecord]) -> Self {
        let mut these = Self::default();
        for record in records {
            if let Ended::Wait { cause } = &record.ended {
                these.leases.add(record);
                these.code.push(without_nul(&cause.code));
                these.error.push(without_nul(&cause.error));
                these.provider_code.push(own_code(cause));
                these.in_doubt.push(record.in_doubt);
            }
        }
        these
    }

    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    pub fn params(&self) -> List<'_> {
        vec![
            &self.leases.seq,
            &self.leases.token,
            &self.code,
            &self.error,
            &self.provider_code,
            &self.in_doubt,
        ]
    }
}

/// What receipts are found by, of lanes that get any.
#[derive(Default)]
pub(super) struct Messages<'a> {
    lane: Vec<i64>,
    message_id: Vec<Cow<'a, str>>,
    seq: Vec<i64>,
    address: Vec<Cow<'a, str>>,
    generation: Vec<i32>,
}

impl<'a> Messages<'a> {
    pub fn add(&mut self, record: &'a AttemptRecord) {
        for sent in &record.messages {
            self.lane.push(sent.lane.0);
            self.message_id.push(without_nul(&sent.message_id));
            self.seq.push(record.lease.seq.0);
            self.address.push(without_nul(&sent.address));
            self.generation.push(sent.generation);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lane.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>) -> List<'p> {
        vec![
            now,
            &self.lane,
            &self.message_id,
            &self.seq,
            &self.address,
            &self.generation,
        ]
    }
}

/// What was said in attempts, of those of which it is kept.
#[derive(Default)]
pub(super) struct Transcripts {
    leases: Leases,
    said: Vec<String>,
}

impl Transcripts {
    pub fn add(&mut self, record: &AttemptRecord) {
        if let Some(said) = record.transcript() {
            self.leases.add(record);
            self.said.push(transcripts::written(said));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>) -> List<'p> {
        vec![now, &self.leases.seq, &self.leases.token, &self.said]
    }
}
