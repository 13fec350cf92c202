//! The [`Operator`] trait on PostgreSQL. Each statement names the state it expects; what it did not find, it lost.

use super::{
    PgStore,
    failed::Failed,
    rows,
    session::{Db, Params, Session},
    sql,
};
use crate::{Operator, Result, operator::Acted};
use async_trait::async_trait;
use domain::{Actor, LaneId, NotificationId, Status, TenantId};
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
        act(&self.db, sql::REQUEUE_PARKED, params, tenant, &asked)
            .await
            .map_err(Failed::while_committing)
    }

    async fn discard(&self, tenant: TenantId, ids: &[NotificationId], actor: &Actor) -> Result<Vec<Acted>> {
        let asked: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let mut once = asked.clone();
        once.sort_unstable();
        once.dedup();
        let now = self.db.now();
        let params: Params<'_> = &[&now, &self.db.node, &tenant.0, &actor.as_str(), &once];
        act(&self.db, sql::DISCARD_PARKED, params, tenant, &asked)
            .await
            .map_err(Failed::while_committing)
    }

    async fn cancel(&self, tenant: TenantId, id: NotificationId, actor: &Actor) -> Result<Acted> {
        let now = self.db.now();
        let params: Params<'_> = &[&now, &self.db.node, &tenant.0, &actor.as_str(), &id.0];
        let acted = act(&self.db, sql::CANCEL_WAITING, params, tenant, &[id.0]).await;
        let acted = acted.map_err(Failed::while_committing)?;
        Ok(acted.first().copied().unwrap_or(Acted::NotFound))
    }
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
        for row in session.rows(sql::STATUS_OF, &[&tenant.0, &asked]).await? {
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
