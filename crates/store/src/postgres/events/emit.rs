//! Events into the outbox, and what is due of them.

use super::{rows, sql};
use crate::{
    Result,
    events::{Emitted, EventPlace, EventsDue, NewEvent, READ_BYTES, SettleEvent, kept_error},
    postgres::{
        commit_retry::CommitRetry,
        failed::Failed,
        rows::time,
        server::Use,
        session::{Db, Session},
        types::{At, millis},
    },
};
use domain::{EventId, event::limit};
use std::{collections::HashSet, time::Instant};
use uuid::Uuid;

pub(super) async fn emit(db: &Db, batch: &[NewEvent]) -> Result<Vec<Emitted>, Failed> {
    fn column<'a, T>(batch: &'a [NewEvent], value: impl Fn(&'a NewEvent) -> T) -> Vec<T> {
        batch.iter().map(value).collect()
    }
    let session = db.general().await?;
    let written = session
        .rows(
            sql::emit_event,
            &[
                &db.now(),
                &column(batch, |e| e.id.0),
                &column(batch, |e| e.tenant.as_str()),
                &column(batch, |e| e.topic.as_deref()),
                &column(batch, |e| e.event_type.as_str()),
                &column(batch, |e| e.entity_type.as_deref()),
                &column(batch, |e| e.entity_id.as_str()),
                &column(batch, |e| e.payload.as_str()),
                &column(batch, |e| e.schema_version),
                &column(batch, |e| e.correlation_id.as_deref()),
                &column(batch, |e| e.due_at.map(At)),
                &column(batch, |e| e.source.as_str()),
            ],
        )
        .await?;
    let mut written: HashSet<(String, Uuid)> = written.iter().map(|row| (row.get(0), row.get(1))).collect();
    let answer = |event: &NewEvent| Emitted {
        id: event.id,
        duplicate: !written.remove(&(event.tenant.clone(), event.id.0)),
    };
    Ok(batch.iter().map(answer).collect())
}

pub(super) async fn due(db: &Db, after: Option<EventPlace>, limit: u32) -> Result<EventsDue, Failed> {
    let session = db.session(Use::Record).await?;
    // A place that nobody wrote is before every other.
    let at = after.map(|place| place.next_attempt_at);
    let at = at.filter(|at| *at > rows::BEGINNING).map(At);
    let seq = after.map_or(i64::MIN, |place| place.seq);
    let start = Instant::now();
    let found = session
        .rows(
            sql::due_events,
            &[&db.now(), &at, &seq, &i64::from(limit), &(READ_BYTES as i64)],
        )
        .await?;
    let took = start.elapsed();
    let Some(first) = found.first() else {
        return Err(Failed::Server("the store did not tell the time".into()));
    };
    let due: Vec<_> = found
        .iter()
        .filter(|row| row.get::<_, Option<i64>>("seq").is_some())
        .collect();
    let there_are = first.get::<_, Option<i64>>("found").unwrap_or(0);
    let spent = due.iter().filter(|row| row.get("is_spent"));
    Ok(EventsDue {
        now: time(first, "now"),
        directory_version: first.get("directory_version"),
        more: there_are >= i64::from(limit) || there_are > due.len() as i64,
        spent: spent.map(|row| row.get("seq")).collect(),
        rows: due.into_iter().map(rows::event).collect::<Result<_>>()?,
        running: first.get::<_, Option<_>>("running").unwrap_or_default(),
        took,
    })
}

pub(super) async fn settle(db: &Db, batch: &[SettleEvent]) -> Result<(), Failed> {
    let (mut seqs, mut statuses, mut waits) = (vec![], vec![], vec![]);
    let (mut counted, mut errors) = (vec![], vec![]);
    for event in batch {
        let to = event.to.columns();
        seqs.push(event.seq);
        statuses.push(to.status.as_str());
        waits.push(millis(to.due_after));
        counted.push(to.counted);
        errors.push(kept_error(&event.error));
    }
    let longest = limit::ENTITY as i32;
    let params: crate::postgres::session::Params<'_> =
        &[&db.now(), &seqs, &statuses, &waits, &counted, &errors, &longest];
    // It takes claims away from schedules, and so does publishing: the two may meet. A commit whose answer was lost is not sent
    // again: what is tried again later stays Pending, and would be counted twice.
    let mut retry = CommitRetry::new("settle events");
    loop {
        match settle_once(db, params).await {
            Ok(()) => return Ok(()),
            Err(failed @ Failed::Busy(_)) => retry.after(failed).await?,
            Err(failed) => return Err(failed),
        }
    }
}

/// Whatever becomes of an event, it says that something happened to its entity: what waits of that is looked at again.
async fn settle_once(db: &Db, params: crate::postgres::session::Params<'_>) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let (mut tenants, mut kinds, mut entities) = (vec![], vec![], vec![]);
    for row in &tx.rows(sql::settle_event, params).await? {
        if let (Some(tenant), true) = (row.get::<_, Option<i32>>("tenant"), row.get("is_told")) {
            tenants.push(tenant);
            kinds.push(row.get::<_, String>("entity_type"));
            entities.push(row.get::<_, String>("entity_id"));
        }
    }
    if !tenants.is_empty() {
        let touched: crate::postgres::session::Params<'_> = &[&db.now(), &tenants, &kinds, &entities];
        tx.exec(sql::touch_schedules, touched).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The id of an event, from a row that names it.
pub(super) fn event_id(row: &tokio_postgres::Row) -> EventId {
    EventId(row.get("event_id"))
}
