//! Schedules that wait for their time, and what people do to them.

use super::{emit::event_id, publish::find_refused, rows, sql};
use crate::{
    Error, Result,
    audit::Entry,
    events::{
        CancelSchedules, DueSchedule, MayBeOvertaken, NextLook, Overtaken, READ_BYTES, SchedulesDue,
        SettleSchedule, as_ingested, extended, kept_error,
    },
    outbox::{Ingested, NewNotification},
    postgres::{
        audit,
        commit_retry::CommitRetry,
        failed::Failed,
        outbox::{ingest_columns::Item, ingest_write},
        rows::{parsed, to_json},
        session::{Db, Session},
        types::{At, millis},
    },
};
use domain::{
    Actor, AuditKind, EventId, EventStatus, LeaseToken, NotificationId, TenantId, event::ScheduledMessage,
};
use std::{collections::HashMap, time::Duration};

pub(super) async fn claim(
    db: &Db,
    token: LeaseToken,
    lease: Duration,
    limit: u32,
) -> Result<SchedulesDue, Failed> {
    let session = db.general().await?;
    let params: crate::postgres::session::Params<'_> = &[
        &db.now(),
        &token.0,
        &millis(lease),
        &i64::from(limit),
        &(READ_BYTES as i64),
    ];
    let claim = session.rows(sql::claim_schedules, params).await?;
    let seqs: Vec<i64> = claim.iter().map(|row| row.get("seq")).collect();
    let Some(found) = claim.first().map(|row| row.get::<_, i64>("found")) else {
        return Ok(SchedulesDue {
            rows: vec![],
            more: false,
        });
    };
    let mut held: HashMap<i64, LeaseToken> = claim
        .iter()
        .filter_map(|row| Some((row.get("seq"), LeaseToken(row.get::<_, Option<i64>>("held_by")?))))
        .collect();
    let mut events = HashMap::new();
    for row in session.rows(sql::event_of_schedule, &[&seqs]).await? {
        events.insert(row.get::<_, i64>("schedule_seq"), rows::event(&row)?);
    }
    let mut due = vec![];
    for row in session.rows(sql::claimed_schedules, &[&seqs]).await? {
        let schedule = rows::schedule(&row)?;
        if let Some(event) = events.remove(&schedule.seq) {
            due.push(DueSchedule {
                held_by: held.remove(&schedule.seq),
                schedule,
                event,
            });
        }
    }
    Ok(SchedulesDue {
        rows: due,
        more: found >= i64::from(limit) || found > seqs.len() as i64,
    })
}

pub(super) async fn settle(db: &Db, batch: &[SettleSchedule]) -> Result<(), Failed> {
    let columns: Vec<_> = batch.iter().map(|one| one.to.columns()).collect();
    let look_at = |look: &NextLook| match look {
        NextLook::At(at) => Some(At(*at)),
        NextLook::Never | NextLook::After(_) => None,
    };
    let look_after = |look: &NextLook| match look {
        NextLook::After(wait) => Some(millis(*wait)),
        NextLook::Never | NextLook::At(_) => None,
    };
    let seqs: Vec<_> = batch.iter().map(|one| one.seq).collect();
    let tokens: Vec<_> = batch.iter().map(|one| one.token.0).collect();
    let statuses: Vec<_> = columns.iter().map(|to| to.status.as_str()).collect();
    let due: Vec<_> = columns.iter().map(|to| to.due_at.map(At)).collect();
    let looks: Vec<_> = columns.iter().map(|to| look_at(&to.next_look)).collect();
    let waits: Vec<_> = columns.iter().map(|to| look_after(&to.next_look)).collect();
    let counted: Vec<_> = columns.iter().map(|to| to.counted).collect();
    let errors: Vec<_> = columns.iter().map(|to| to.error.as_deref()).collect();
    let keep: Vec<_> = columns.iter().map(|to| to.keeps_token).collect();
    // Publishing takes claims away at the same time, and the two may meet. Sent twice, the second finds no claim.
    let mut retry = CommitRetry::new("settle schedules");
    loop {
        let session = db.general().await?;
        let params: crate::postgres::session::Params<'_> = &[
            &db.now(),
            &seqs,
            &tokens,
            &statuses,
            &due,
            &looks,
            &waits,
            &counted,
            &errors,
            &keep,
        ];
        match session.exec(sql::settle_schedule, params).await {
            Ok(_) => return Ok(()),
            Err(failed) => retry.after(failed).await?,
        }
    }
}

pub(super) async fn cancel(db: &Db, cancel: &CancelSchedules) -> Result<Vec<NotificationId>, Failed> {
    let CancelSchedules {
        tenant,
        entity_type,
        entity_id,
        event_types,
        before,
        reason,
    } = cancel;
    let session = db.general().await?;
    let reason = kept_error(reason);
    session
        .exec(
            sql::cancel_schedules,
            &[
                &db.now(),
                &tenant.0,
                entity_type,
                entity_id,
                event_types,
                &reason,
                before,
            ],
        )
        .await?;
    let waiting = session
        .rows(
            sql::waiting_of_entity,
            &[&tenant.0, entity_type, entity_id, event_types, before],
        )
        .await?;
    Ok(waiting.iter().map(|row| NotificationId(row.get(0))).collect())
}

pub(super) async fn overtaken(db: &Db, candidates: &[MayBeOvertaken]) -> Result<Vec<Overtaken>, Failed> {
    let one_by_one: Vec<(&MayBeOvertaken, &str)> = candidates
        .iter()
        .flat_map(|one| one.cancelled_by.iter().map(move |by| (one, by.as_str())))
        .collect();
    fn column<'a, T>(
        all: &[(&'a MayBeOvertaken, &'a str)],
        value: impl Fn(&'a MayBeOvertaken) -> T,
    ) -> Vec<T> {
        all.iter().map(|(one, _)| value(one)).collect()
    }
    let session = db.general().await?;
    let found = session
        .rows(
            sql::overtaken,
            &[
                &column(&one_by_one, |one| one.seq),
                &column(&one_by_one, |one| one.tenant.0),
                &column(&one_by_one, |one| one.entity_type.as_str()),
                &column(&one_by_one, |one| one.entity_id.as_str()),
                &one_by_one.iter().map(|(_, by)| *by).collect::<Vec<_>>(),
            ],
        )
        .await?;
    let overtaken = found.iter().map(|row| Overtaken {
        seq: row.get("seq"),
        by_type: row.get("event_type"),
        by: event_id(row),
    });
    Ok(overtaken.collect())
}

/// One notification that the database refuses is told as refused; the others are made.
pub(super) async fn extend(
    db: &Db,
    schedule: (TenantId, EventId),
    messages: Vec<ScheduledMessage>,
    notifications: Vec<NewNotification>,
    actor: &Actor,
) -> Result<Option<Vec<Ingested>>, Failed> {
    let items: Vec<_> = notifications.into_iter().map(Item::new).collect();
    let mut refused = vec![None; items.len()];
    loop {
        match extend_once(db, schedule, &messages, &items, &refused, actor).await {
            Err(Failed::Data(reason)) => find_refused(db, &items, &mut refused, reason).await?,
            answer => return answer,
        }
    }
}

async fn extend_once(
    db: &Db,
    (tenant, id): (TenantId, EventId),
    messages: &[ScheduledMessage],
    items: &[Item],
    refused: &[Option<String>],
    actor: &Actor,
) -> Result<Option<Vec<Ingested>>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    // Two replays wait for each other, so that the second adds to what the first has made.
    let Some(row) = tx.opt(sql::lock_schedule, &[&tenant.0, &id.0]).await? else {
        return Ok(None);
    };
    let schedule = rows::schedule(&row)?;
    let both = || items.iter().zip(refused);
    let open: Vec<_> = both()
        .filter(|(_, why)| why.is_none())
        .map(|(item, _)| item)
        .collect();
    let found = ingest_write::ingest_in(db, &tx, &open).await?;
    let answer = |(item, why): (&Item, &Option<String>)| match why {
        Some(why) => Ingested::Refused(why.clone()),
        None => found.answer(item),
    };
    let answers: Vec<_> = both().map(answer).collect();
    let made = as_ingested(messages.to_vec(), &answers);
    let messages = to_json(&extended(schedule.messages, made))?;
    if tx.exec(sql::extend_schedule, &[&schedule.seq, &messages]).await? == 0 {
        return Err(Error::Conflict("the schedule was never published".into()).into());
    }
    audit::insert(db, &tx, [replayed(tenant, actor, &id.to_string())]).await?;
    tx.commit().await?;
    Ok(Some(answers))
}

pub(super) async fn replay(db: &Db, tenant: TenantId, id: EventId, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let params: crate::postgres::session::Params<'_> = &[&db.now(), &tenant.0, &id.0];
    let done = tx.exec(sql::replay_schedule, params).await? > 0;
    if done {
        audit::insert(db, &tx, [replayed(tenant, actor, &id.to_string())]).await?;
        tx.commit().await?;
    }
    Ok(done)
}

pub(super) async fn replay_event(db: &Db, seq: i64, actor: &Actor) -> Result<Option<EventStatus>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(standing) = tx.opt(sql::event_standing, &[&seq]).await? else {
        return Ok(None);
    };
    let status: EventStatus = parsed("outbox_messages", standing.get("status"))?;
    let tenant: Option<i32> = standing.get("tenant");
    if tx.exec(sql::replay_event, &[&seq]).await? > 0 {
        let id = event_id(&standing).to_string();
        let entry = tenant.map(|tenant| replayed(TenantId(tenant), actor, &id));
        audit::insert(db, &tx, entry).await?;
        tx.commit().await?;
    }
    Ok(Some(status))
}

fn replayed<'a>(tenant: TenantId, actor: &'a Actor, id: &'a str) -> Entry<'a> {
    Entry {
        target: Some(id),
        ..Entry::new(tenant, AuditKind::EventReplayed, actor)
    }
}
