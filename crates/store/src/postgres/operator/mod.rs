//! The [`Operator`] trait on PostgreSQL. Each statement names the state it expects; what it did not find, it lost.

mod sql;

use crate::{
    Error, Operator, Result,
    audit::Entry,
    operator::Acted,
    outbox::NewNotification,
    postgres::{
        PgStore, audit,
        failed::Failed,
        outbox::{
            self,
            ingest_columns::{Columns, Item},
        },
        rows,
        session::{Db, Params, Session},
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, AuditStatus, LaneId, NotificationId, Seq, Status, TenantId};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

#[async_trait]
impl Operator for PgStore {
    async fn requeue(
        &self,
        tenant: TenantId,
        ids: &[(NotificationId, LaneId)],
        actor: &Actor,
    ) -> Result<Vec<Acted>> {
        // Each id once, for the lane that is named first, in the order in which everybody takes locks.
        let mut lanes: BTreeMap<Uuid, i64> = BTreeMap::new();
        for (id, lane) in ids {
            lanes.entry(id.0).or_insert(lane.0);
        }
        let (once, lanes): (Vec<Uuid>, Vec<i64>) = lanes.into_iter().unzip();
        let now = self.db.now();
        let params: Params<'_> = &[&now, &tenant.0, &actor.as_str(), &once, &lanes];
        let asked: Vec<Uuid> = ids.iter().map(|(id, _)| id.0).collect();
        act(&self.db, sql::requeue_parked, params, tenant, &asked)
            .await
            .map_err(Failed::while_committing)
    }

    async fn discard_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>> {
        let (asked, once) = asked_once(ids);
        let now = self.db.now();
        let params: Params<'_> = &[&now, &self.db.node, &tenant.0, &actor.as_str(), &once, &note];
        act(&self.db, sql::discard_parked, params, tenant, &asked)
            .await
            .map_err(Failed::while_committing)
    }

    async fn cancel_noted(
        &self,
        tenant: TenantId,
        ids: &[NotificationId],
        actor: &Actor,
        note: Option<&str>,
    ) -> Result<Vec<Acted>> {
        let (asked, once) = asked_once(ids);
        let now = self.db.now();
        let params: Params<'_> = &[&now, &self.db.node, &tenant.0, &actor.as_str(), &once, &note];
        act(&self.db, sql::cancel_waiting, params, tenant, &asked)
            .await
            .map_err(Failed::while_committing)
    }

    async fn try_now(
        &self,
        tenant: TenantId,
        id: NotificationId,
        actor: &Actor,
    ) -> Result<(Acted, Option<LaneId>)> {
        try_now(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn resend(
        &self,
        tenant: TenantId,
        id: NotificationId,
        repeat: NewNotification,
        actor: &Actor,
    ) -> Result<Acted> {
        resend(&self.db, tenant, id, repeat, actor)
            .await
            .map_err(Failed::while_committing)
    }
}

/// The ids as they were asked for, and each once in the order in which everybody takes locks.
fn asked_once(ids: &[NotificationId]) -> (Vec<Uuid>, Vec<Uuid>) {
    let asked: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let mut once = asked.clone();
    once.sort_unstable();
    once.dedup();
    (asked, once)
}

async fn try_now(
    db: &Db,
    tenant: TenantId,
    id: NotificationId,
    actor: &Actor,
) -> Result<(Acted, Option<LaneId>), Failed> {
    let session = db.general().await?;
    let params: Params<'_> = &[&db.now(), &tenant.0, &actor.as_str(), &id.0];
    let moved = session.opt(sql::try_now, params).await?;
    let waits = match moved {
        None => session.opt(sql::lane_of, &[&tenant.0, &id.0]).await?,
        moved => moved,
    };
    if let Some(row) = waits {
        return Ok((Acted::Done, Some(LaneId(row.get(0)))));
    }
    let standing = session.opt(sql::status_of, &[&tenant.0, &vec![id.0]]).await?;
    let status = standing.map(|row| rows::status(row.get("status"))).transpose()?;
    Ok((status.flatten().map_or(Acted::NotFound, Acted::WrongState), None))
}

/// Apart from the group commit of ingest: the repeat and what is written on the one repeated are one transaction.
async fn resend(
    db: &Db,
    tenant: TenantId,
    id: NotificationId,
    repeat: NewNotification,
    actor: &Actor,
) -> Result<Acted, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(ended) = tx.opt(sql::ended_seq, &[&tenant.0, &id.0]).await? else {
        let standing = tx.opt(sql::status_of, &[&tenant.0, &vec![id.0]]).await?;
        let status = standing.map(|row| rows::status(row.get("status"))).transpose()?;
        return Ok(status.flatten().map_or(Acted::NotFound, Acted::WrongState));
    };
    let repeat_id = repeat.submission.id;
    if tx
        .opt(outbox::sql::lane_exists, &[&vec![repeat.lane.0]])
        .await?
        .is_none()
    {
        return Err(Error::Refused(format!("there is no lane {}", repeat.lane)).into());
    }
    let item = Item::new(repeat);
    let items = [&item];
    let columns = Columns::of(&items);
    let now = db.now();
    let (statement, params) = columns.statement(&now, &db.node);
    if tx.rows(statement, &params).await?.is_empty() {
        return Err(Error::Conflict(format!("{repeat_id} is known already")).into());
    }
    let detail = format!("as {repeat_id}");
    let entry = Entry {
        seq: Some(Seq(ended.get(0))),
        status: AuditStatus::Submitted,
        detail: Some(&detail),
        ..Entry::new(tenant, AuditKind::NotifyResend, actor)
    };
    audit::insert(db, &tx, [entry]).await?;
    tx.commit().await?;
    Ok(Acted::Done)
}

/// Runs an action that answers with the ids it was done to; the others are told what they are instead.
async fn act(
    db: &Db,
    action: &'static str,
    params: Params<'_>,
    tenant: TenantId,
    asked: &[Uuid],
) -> Result<Vec<Acted>, Failed> {
    let mut tries = 0;
    let session = db.general().await?;
    let done = loop {
        match session.rows(action, params).await {
            Ok(rows) => break rows,
            // Two people at the same rows: one of them goes again.
            Err(Failed::Busy(_)) if tries < 5 => tries += 1,
            Err(failed) => return Err(failed),
        }
    };
    let mut done: HashSet<Uuid> = done.iter().map(|row| row.get("id")).collect();
    let mut acted: Vec<Option<Acted>> = asked
        .iter()
        .map(|id| done.remove(id).then_some(Acted::Done))
        .collect();
    if acted.iter().any(Option::is_none) {
        let mut standing: HashMap<Uuid, Status> = HashMap::new();
        for row in session.rows(sql::status_of, &[&tenant.0, &asked]).await? {
            if let Some(status) = rows::status(row.get("status"))? {
                standing.insert(row.get("id"), status);
            }
        }
        for (acted, id) in acted.iter_mut().zip(asked) {
            acted.get_or_insert_with(|| {
                standing
                    .get(id)
                    .map_or(Acted::NotFound, |status| Acted::WrongState(*status))
            });
        }
    }
    Ok(acted.into_iter().flatten().collect())
}
