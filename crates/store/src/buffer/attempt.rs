//! Attempts: whose turn it is, beginning them, and writing down what came of them.
//!
//! Always true: every write names the attempt it belongs to and the state it expects.

use super::{
    Buffer, Shared,
    damage::{self, NoMessages},
    message::{Attempted, Message, MessageStatus, Recorded, Step, TargetDue},
    rows,
    salvage::Cell,
    sql,
    told::{self, ReportScope},
};
use crate::{
    Result,
    sqlite::{connection, error, rows as columns, writer::WriteSession},
};
use domain::site::Category;
use rusqlite::{Params, Row, params};
use std::sync::Arc;
use tracing::warn;

/// What the sweep finds targets by.
const DUE_INDEX: &str = "idx_sf_messages_due";

/// What stands where a target should, and why it is none.
struct NoTarget {
    category: Cell,
    target: Cell,
    why: String,
}

fn target_due(row: &Row<'_>) -> Result<TargetDue> {
    Ok(TargetDue {
        category: rows::category(row)?,
        target: row.get("target")?,
        due_at: columns::time(row, "due_at")?,
    })
}

impl Buffer {
    /// Every target with something to try, and when. Notifications are here only if they have a limit.
    pub async fn targets_due(&self) -> Result<Vec<TargetDue>> {
        let (targets, no_targets) = self.look_for_targets().await?;
        if no_targets.is_empty() {
            return Ok(targets);
        }
        // First the index alone may be damaged: what stands in the table is still what it was.
        self.write(1, |s, _| Ok(connection::reindex(s.conn, DUE_INDEX)?))
            .await?;
        let (targets, no_targets) = self.look_for_targets().await?;
        if !no_targets.is_empty() {
            self.write(1, move |s, shared| {
                let mut rows = vec![];
                for no_target in &no_targets {
                    let mut places = s.conn.prepare_cached(sql::places_of_target)?;
                    let named = params![no_target.category, no_target.target];
                    for seq in places.query_map(named, |row| row.get(0))? {
                        rows.push((seq?, no_target.why.clone()));
                    }
                }
                damage::set_rows_aside(s, shared, &rows)
            })
            .await?;
        }
        Ok(targets)
    }

    /// The targets, and those in whose name or category a bit has turned over.
    async fn look_for_targets(&self) -> Result<(Vec<TargetDue>, Vec<NoTarget>)> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql::targets_due)?;
            let mut found = statement.query([])?;
            let (mut targets, mut no_targets) = (vec![], vec![]);
            while let Some(row) = found.next()? {
                match target_due(row) {
                    Ok(target) => targets.push(target),
                    Err(why) => no_targets.push(NoTarget {
                        category: row.get_ref("category")?.into(),
                        target: row.get_ref("target")?.into(),
                        why: why.to_string(),
                    }),
                }
            }
            Ok((targets, no_targets))
        })
        .await
    }

    /// How many wait for this target.
    pub async fn waiting_for(&self, category: Category, target: &str) -> Result<u64> {
        let target = target.to_owned();
        self.read(move |conn| {
            let mut count = conn.prepare_cached(sql::count_of_target)?;
            Ok(
                count.query_row(params![rows::category_number(category), target], |row| {
                    columns::count(row, 0)
                })?,
            )
        })
        .await
    }

    /// Begins attempts on up to `n` messages that are due, the longest due first. When this returns, they are
    /// written down as begun; each has to be given to [`Buffer::record`].
    pub async fn claim_due(&self, category: Category, target: &str, n: u32) -> Result<Vec<Message>> {
        self.claim_due_from(category, target, n, 0).await
    }

    /// The same of messages that were taken in at this place or later.
    pub async fn claim_due_from(
        &self,
        category: Category,
        target: &str,
        n: u32,
        first: i64,
    ) -> Result<Vec<Message>> {
        let target = target.to_owned();
        self.write(n as usize, move |s, shared| {
            let number = rows::category_number(category);
            let params = params![number, target, s.now.as_millis(), n, first];
            let (claimed, no_messages) = those(s, sql::claim_due, params)?;
            damage::set_rows_aside(s, shared, &no_messages)?;
            Ok(claimed)
        })
        .await
    }

    /// Attempts that began before this process did and never came to an end.
    pub async fn interrupted(&self) -> Result<Vec<Message>> {
        self.write(1, |s, shared| {
            let (interrupted, no_messages) = those(s, sql::interrupted, [])?;
            damage::set_rows_aside(s, shared, &no_messages)?;
            Ok(interrupted)
        })
        .await
    }

    /// Writes down what attempts came to, each with its tracking, its event and its news for central. Where there is no
    /// room at all, without event and news: a call that was made is not to be made again for want of them.
    pub async fn record(&self, batch: Vec<Attempted>) -> Result<Vec<Recorded>> {
        let batch = Arc::new(batch);
        let done = self.record_and_tell(&batch, ReportScope::Everywhere).await;
        if !done.as_ref().is_err_and(error::is_full) {
            return done;
        }
        let done = self.record_and_tell(&batch, ReportScope::InTracking).await;
        if done.is_ok() {
            metrics::counter!("waypost_site_telemetry_failed_total").increment(batch.len() as u64);
            warn!(
                n = batch.len(),
                "there is no room for news of what attempts came to; central is not told"
            );
        }
        done
    }

    async fn record_and_tell(
        &self,
        batch: &Arc<Vec<Attempted>>,
        scope: ReportScope,
    ) -> Result<Vec<Recorded>> {
        let batch = batch.clone();
        self.write(batch.len(), move |s, shared| {
            batch
                .iter()
                .map(|attempted| record(s, shared, attempted, scope))
                .collect()
        })
        .await
    }
}

/// The messages a statement leads to, and rows that are no messages any more.
pub(super) fn those(
    s: &WriteSession<'_>,
    sql: &str,
    params: impl Params,
) -> Result<(Vec<Message>, NoMessages)> {
    let mut statement = s.conn.prepare_cached(sql)?;
    let mut found = statement.query(params)?;
    let (mut messages, mut no_messages) = (vec![], vec![]);
    while let Some(row) = found.next()? {
        match rows::message(row) {
            Ok(message) => messages.push(message),
            Err(why) => no_messages.push((row.get("seq")?, why.to_string())),
        }
    }
    Ok((messages, no_messages))
}

/// The one row a conditional write changed; none when somebody else was first.
pub(super) fn one(s: &WriteSession<'_>, sql: &str, params: impl Params) -> Result<Option<Message>> {
    let mut statement = s.conn.prepare_cached(sql)?;
    let mut found = statement.query(params)?;
    let message = found.next()?.map(rows::message).transpose()?;
    // To the end: only then the statement has done all of its work.
    while found.next()?.is_some() {}
    Ok(message)
}

fn record(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
    scope: ReportScope,
) -> Result<Recorded> {
    let op = shared.op();
    let changed = match &attempted.step {
        Step::Delivered => delivered(s, shared, attempted)?,
        Step::Failed { .. } => failed(s, shared, attempted)?,
        Step::Retry { .. } => retry(s, shared, attempted, op)?,
        Step::Park { .. } => park(s, shared, attempted, op)?,
        Step::Released => released(s, shared, attempted, op)?,
    };
    let Some(message) = changed else {
        return Ok(Recorded::Lost);
    };
    told::track(s, attempted, &message, op)?;
    if scope == ReportScope::Everywhere {
        told::tell(s, shared, attempted, &message, op)?;
    }
    Ok(Recorded::Done)
}

fn delivered(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
) -> Result<Option<Message>> {
    let ticket = attempted.ticket;
    let gone = one(s, sql::attempted_delivered, params![ticket.seq, ticket.attempt])?;
    if let Some(message) = &gone {
        leaves(s, shared, message, MessageStatus::Pending);
    }
    Ok(gone)
}

fn failed(s: &mut WriteSession<'_>, shared: &Arc<Shared>, attempted: &Attempted) -> Result<Option<Message>> {
    delivered(s, shared, attempted)
}

/// Counts a message out of the gauge once it is gone.
pub(super) fn leaves(s: &mut WriteSession<'_>, shared: &Arc<Shared>, message: &Message, from: MessageStatus) {
    let (shared, category, bytes) = (shared.clone(), message.category, message.payload_bytes as i64);
    s.after_commit(move || shared.gauge.add(category, from, -1, -bytes));
}

fn retry(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
    op: i64,
) -> Result<Option<Message>> {
    let Step::Retry { after, error, count } = &attempted.step else {
        return Ok(None);
    };
    let (ticket, due_at) = (attempted.ticket, s.now + *after);
    let wake = shared.clone();
    s.after_commit(move || wake.wake.due_at(due_at));
    one(
        s,
        sql::attempted_retry,
        params![
            ticket.seq,
            ticket.attempt,
            count.tries(),
            error,
            due_at.as_millis(),
            count.interrupted(),
            s.now.as_millis(),
            op
        ],
    )
}

fn park(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
    op: i64,
) -> Result<Option<Message>> {
    let Step::Park { error, count, .. } = &attempted.step else {
        return Ok(None);
    };
    let ticket = attempted.ticket;
    let parked = one(
        s,
        sql::attempted_parked,
        params![
            ticket.seq,
            ticket.attempt,
            count.tries(),
            error,
            s.now.as_millis(),
            op
        ],
    )?;
    if let Some(message) = &parked {
        let (shared, category) = (shared.clone(), message.category);
        s.after_commit(move || {
            shared
                .gauge
                .moved(category, MessageStatus::Pending, MessageStatus::Parked);
        });
    }
    Ok(parked)
}

fn released(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    attempted: &Attempted,
    op: i64,
) -> Result<Option<Message>> {
    let ticket = attempted.ticket;
    let params = params![ticket.seq, ticket.attempt, s.now.as_millis(), op];
    let free = one(s, sql::attempt_released, params)?;
    let shared = shared.clone();
    s.after_commit(move || shared.wake.ring_due());
    Ok(free)
}
