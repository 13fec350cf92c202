//! Taking in: one row of content and one row that waits, in one step, or nothing.

use super::{
    record::{self, Left, Outcome},
    sql,
};
use crate::{
    Result,
    audit::Entry,
    outbox::{Ingested, NewNotification, nul_in_json},
    sqlite::{
        audit,
        bind::execute,
        columns::{self, Made},
        error::is_refusal,
        rows,
        stats::counts::Counted,
        writer::WriteSession,
    },
};
use domain::{Actor, AuditKind, AuditStatus, LaneId, NotificationId, Status, Submission, settle::SUPERSEDED};
use rusqlite::{Row, params};
use std::collections::HashSet;

/// An item with what can be made of it before the writer's turn.
pub(in crate::sqlite) struct Hashed {
    item: NewNotification,
    made: Made,
    /// The column whose JSON no text column holds.
    unfit: Option<&'static str>,
}

impl From<NewNotification> for Hashed {
    fn from(item: NewNotification) -> Self {
        Self {
            made: Made::of(&item.submission),
            unfit: nul_in_json(&item.submission),
            item,
        }
    }
}

pub(in crate::sqlite) fn ingest(s: &mut WriteSession<'_>, batch: &[Hashed]) -> Result<Vec<Ingested>> {
    let mut content = s.conn.prepare_cached(sql::ingest_notification)?;
    let mut due = s.conn.prepare_cached(sql::ingest_due)?;
    let mut spent = s.conn.prepare_cached(sql::ingest_spent)?;
    let mut lanes = HashSet::new();
    let mut answers = Vec::with_capacity(batch.len());
    for Hashed { item, made, unfit } in batch {
        let NewNotification { submission, lane } = item;
        if !lane_exists(s, &mut lanes, *lane)? {
            answers.push(Ingested::Refused(format!("there is no lane {lane}")));
            continue;
        }
        if let Some(column) = unfit {
            answers.push(Ingested::Refused(unfit_in_words(column)));
            continue;
        }
        let id = submission.id.0;
        if spent.query_row((submission.tenant.0, id.as_bytes()), |row| row.get(0))? {
            answers.push(Ingested::Duplicate {
                same_content: true,
                status: None,
            });
            continue;
        }
        answers.push(match columns::insert(s, &mut content, submission, made) {
            Ok(1) => {
                let seq = s.conn.last_insert_rowid();
                let replaced = match &submission.content.supersedes_key {
                    Some(key) => supersede(s, submission, key)?,
                    None => vec![],
                };
                let site = submission.provenance.site.as_deref();
                let waiting_since = submission.content.send_at.map_or(s.now, |at| at.max(s.now));
                execute!(&mut due;
                    seq,
                    submission.tenant.0,
                    lane.0,
                    site,
                    waiting_since.as_millis(),
                    &submission.content.supersedes_key,
                    submission.content.expires_at.map(|t| t.as_millis()),
                )?;
                s.counts.one(s.now, submission.tenant, site, Counted::Accepted);
                match replaced.is_empty() {
                    true => Ingested::Accepted,
                    false => Ingested::Replaced(replaced),
                }
            }
            Ok(_) => known(s, submission, made.hash)?,
            // A statement that a CHECK refuses undoes itself alone; its neighbours never notice.
            Err(error) if is_refusal(&error) => Ingested::Refused(in_words(&error)),
            Err(error) => return Err(error.into()),
        });
    }
    Ok(answers)
}

/// A constraint is named like the column it guards.
fn in_words(refusal: &rusqlite::Error) -> String {
    let words = refusal.to_string();
    match words.strip_prefix("CHECK constraint failed: ") {
        Some(column) => unfit_in_words(column),
        None => words,
    }
}

fn unfit_in_words(column: &str) -> String {
    format!("{column} is too long or has a NUL character in it")
}

/// Lanes are never deleted, so one look per lane and batch is enough.
fn lane_exists(s: &WriteSession<'_>, seen: &mut HashSet<LaneId>, lane: LaneId) -> Result<bool> {
    if seen.contains(&lane) {
        return Ok(true);
    }
    let exists = s
        .conn
        .prepare_cached(sql::lane_exists)?
        .query_row([lane.0], |row| row.get(0))?;
    if exists {
        seen.insert(lane);
    }
    Ok(exists)
}

fn known(s: &WriteSession<'_>, submission: &Submission, hash: i64) -> Result<Ingested> {
    let (first, status) = s
        .conn
        .prepare_cached(sql::ingest_known)?
        .query_row(params![submission.tenant.0, submission.id.0.as_bytes()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
    Ok(Ingested::Duplicate {
        same_content: first == hash,
        status: Some(rows::parse::<Status>("outcome", &status)?),
    })
}

/// Discards what waits under the same key: the newer one says it all. Answers with what is gone.
fn supersede(s: &mut WriteSession<'_>, newer: &Submission, key: &str) -> Result<Vec<NotificationId>> {
    let left = |row: &Row<'_>| Ok((Left::from_row(row)?, rows::id(row, "id")?));
    let replaced: Vec<_> = s
        .conn
        .prepare_cached(sql::ingest_supersede)?
        .query_map(params![newer.tenant.0, key, s.now.as_millis()], left)?
        .collect::<rusqlite::Result<_>>()?;
    s.conn
        .prepare_cached(sql::ingest_supersede_leased)?
        .execute(params![newer.tenant.0, key])?;
    let mut gone = Vec::with_capacity(replaced.len());
    for (left, id) in replaced {
        gone.push(id);
        let error = format!("replaced by {}", newer.id);
        let end = Outcome {
            code: Some(SUPERSEDED),
            error: Some(&error),
            ..Outcome::new(Status::Discarded)
        };
        record::end(s, &left, left.attempts, &end)?;
        audit::insert(
            s,
            &Entry {
                seq: Some(left.seq),
                status: AuditStatus::Discarded,
                code: Some(SUPERSEDED),
                detail: Some(&error),
                ..Entry::new(left.tenant, AuditKind::NotifyDeliver, &Actor::system())
            },
        )?;
    }
    Ok(gone)
}
