//! The [`Operator`] trait on SQLite. Each statement names the state it expects; what it did not find, it lost.

mod sql;

use crate::{
    Error, Operator, Result,
    audit::Entry,
    operator::Acted,
    outbox::{Ingested, NewNotification},
    sqlite::{
        SqliteStore, audit,
        outbox::{
            ingest::{self, Hashed},
            record::{self, Left, Outcome},
        },
        rows,
        stats::counts::Counted,
        writer::WriteSession,
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, AuditStatus, LaneId, NotificationId, Seq, Status, TenantId};
use rusqlite::{OptionalExtension, params};

/// The code of a row that a person cancelled while it waited.
const CANCELLED: &str = "CANCELLED";

#[async_trait]
impl Operator for SqliteStore {
    async fn requeue(
        &self,
        tenant: TenantId,
        ids: &[(NotificationId, LaneId)],
        actor: &Actor,
    ) -> Result<Vec<Acted>> {
        let (ids, actor) = (ids.to_vec(), actor.clone());
        self.write(ids.len(), move |s| {
            ids.iter()
                .map(|(id, lane)| requeue(s, tenant, *id, *lane, &actor))
                .collect()
        })
        .await
    }

    async fn discard_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>> {
        let (ids, actor, note) = (ids.to_vec(), actor.clone(), note.map(str::to_owned));
        self.write(ids.len(), move |s| {
            ids.iter()
                .map(|id| discard(s, tenant, *id, &actor, note.as_deref()))
                .collect()
        })
        .await
    }

    async fn cancel_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>> {
        let (ids, actor, note) = (ids.to_vec(), actor.clone(), note.map(str::to_owned));
        self.write(ids.len(), move |s| {
            ids.iter()
                .map(|id| cancel(s, tenant, *id, &actor, note.as_deref()))
                .collect()
        })
        .await
    }

    async fn try_now(
        &self,
        tenant: TenantId,
        id: NotificationId,
        actor: &Actor,
    ) -> Result<(Acted, Option<LaneId>)> {
        let actor = actor.clone();
        self.write(1, move |s| try_now(s, tenant, id, &actor)).await
    }

    async fn resend(
        &self,
        tenant: TenantId,
        id: NotificationId,
        repeat: NewNotification,
        actor: &Actor,
    ) -> Result<Acted> {
        let (actor, repeat_id) = (actor.clone(), repeat.submission.id);
        let repeat = [Hashed::from(repeat)];
        self.write(1, move |s| resend(s, tenant, id, repeat_id, &repeat, &actor))
            .await
    }
}

fn requeue(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: NotificationId,
    lane: LaneId,
    actor: &Actor,
) -> Result<Acted> {
    let parked = s
        .conn
        .prepare_cached(sql::requeue_parked)?
        .query_row(params![tenant.0, id.0.as_bytes()], |row| {
            let generation: i32 = row.get("generation")?;
            let last_attempt_at: Option<i64> = row.get("last_attempt_at")?;
            Ok((Seq(row.get("seq")?), generation, last_attempt_at))
        })
        .optional()?;
    let Some((seq, generation, last_attempt_at)) = parked else {
        return lost(s, tenant, id);
    };
    s.conn.prepare_cached(sql::requeue_due)?.execute(params![
        seq.0,
        lane.0,
        s.now.as_millis(),
        generation + 1,
        last_attempt_at
    ])?;
    let entry = Entry {
        seq: Some(seq),
        status: AuditStatus::Pending,
        ..Entry::new(tenant, AuditKind::NotifyRequeue, actor)
    };
    audit::insert(s, &entry)?;
    Ok(Acted::Done)
}

fn try_now(
    s: &WriteSession<'_>,
    tenant: TenantId,
    id: NotificationId,
    actor: &Actor,
) -> Result<(Acted, Option<LaneId>)> {
    let moved = s
        .conn
        .prepare_cached(sql::try_now)?
        .query_row(params![tenant.0, id.0.as_bytes(), s.now.as_millis()], |row| {
            Ok((Seq(row.get("seq")?), LaneId(row.get("lane")?)))
        })
        .optional()?;
    if let Some((seq, lane)) = moved {
        s.conn.prepare_cached(sql::try_now_recipients)?.execute([seq.0])?;
        let entry = Entry {
            seq: Some(seq),
            status: AuditStatus::Pending,
            ..Entry::new(tenant, AuditKind::NotifyTry, actor)
        };
        audit::insert(s, &entry)?;
        return Ok((Acted::Done, Some(lane)));
    }
    let waits = s
        .conn
        .prepare_cached(sql::lane_of)?
        .query_row(params![tenant.0, id.0.as_bytes()], |row| row.get(0).map(LaneId))
        .optional()?;
    match waits {
        Some(lane) => Ok((Acted::Done, Some(lane))),
        None => Ok((lost(s, tenant, id)?, None)),
    }
}

fn discard(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: NotificationId,
    actor: &Actor,
    note: Option<&str>,
) -> Result<Acted> {
    let parked = s
        .conn
        .prepare_cached(sql::discard_parked)?
        .query_row(params![tenant.0, id.0.as_bytes(), s.now.as_millis()], |row| {
            Ok((Seq(row.get("seq")?), row.get::<_, Option<String>>("site")?))
        })
        .optional()?;
    let Some((seq, site)) = parked else {
        return lost(s, tenant, id);
    };
    s.counts.one(s.now, tenant, site.as_deref(), Counted::Discarded);
    let entry = Entry {
        seq: Some(seq),
        status: AuditStatus::Discarded,
        detail: note,
        ..Entry::new(tenant, AuditKind::NotifyDeliver, actor)
    };
    audit::insert(s, &entry)?;
    Ok(Acted::Done)
}

fn cancel(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: NotificationId,
    actor: &Actor,
    note: Option<&str>,
) -> Result<Acted> {
    let waiting = s
        .conn
        .prepare_cached(sql::cancel_waiting)?
        .query_row(params![tenant.0, id.0.as_bytes()], Left::from_row)
        .optional()?;
    let Some(left) = waiting else {
        return lost(s, tenant, id);
    };
    let error = format!("cancelled by {actor}");
    let end = Outcome {
        code: Some(CANCELLED),
        error: Some(&error),
        ..Outcome::new(Status::Discarded)
    };
    record::end(s, &left, left.attempts, &end)?;
    let entry = Entry {
        seq: Some(left.seq),
        status: AuditStatus::Discarded,
        code: Some(CANCELLED),
        detail: note,
        ..Entry::new(tenant, AuditKind::NotifyDeliver, actor)
    };
    audit::insert(s, &entry)?;
    Ok(Acted::Done)
}

fn resend(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: NotificationId,
    repeat_id: NotificationId,
    repeat: &[Hashed],
    actor: &Actor,
) -> Result<Acted> {
    let ended = s
        .conn
        .prepare_cached(sql::ended_seq)?
        .query_row(params![tenant.0, id.0.as_bytes()], |row| row.get(0).map(Seq))
        .optional()?;
    let Some(seq) = ended else {
        return lost(s, tenant, id);
    };
    match ingest::ingest(s, repeat)?.pop() {
        Some(Ingested::Accepted | Ingested::Replaced(_)) => {}
        Some(Ingested::Refused(reason)) => return Err(Error::Refused(reason)),
        Some(Ingested::Duplicate { .. }) | None => {
            return Err(Error::Conflict(format!("{repeat_id} is known already")));
        }
    }
    let detail = format!("as {repeat_id}");
    let entry = Entry {
        seq: Some(seq),
        status: AuditStatus::Submitted,
        detail: Some(&detail),
        ..Entry::new(tenant, AuditKind::NotifyResend, actor)
    };
    audit::insert(s, &entry)?;
    Ok(Acted::Done)
}

/// What the row is instead.
fn lost(s: &WriteSession<'_>, tenant: TenantId, id: NotificationId) -> Result<Acted> {
    let status: Option<String> = s
        .conn
        .prepare_cached(sql::status_of)?
        .query_row(params![tenant.0, id.0.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(match status {
        Some(status) => Acted::WrongState(rows::parse("outcome", &status)?),
        None => Acted::NotFound,
    })
}
