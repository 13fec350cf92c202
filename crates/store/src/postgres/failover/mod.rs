//! The [`Failover`] trait on PostgreSQL.

mod sql;

use super::{
    PgStore,
    directory::{bump, log, must_be_live},
    failed::Failed,
    rows,
    session::{Db, Session},
    types::At,
};
use crate::{
    Result,
    failover::{
        EXAMINED_ROWS, Examined, FailingLane, Failover, MOVED_ROWS, MovableRow, MovableRows, MovedRow, Place,
        RowMove, moved_in_words, switched_in_words,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, Channel, Content, HoldReason, LaneId, NotificationId, ProviderId, Seq, TenantId,
};
use tokio_postgres::Row;

#[async_trait]
impl Failover for PgStore {
    async fn failover_channels(&self, tenant: TenantId) -> Result<Vec<Channel>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::failover_channels, &[&tenant.0]).await?;
        let channel = |row: &Row| rows::parsed("channel_orders", row.get(0));
        found.iter().map(channel).collect()
    }

    async fn put_failover(
        &self,
        tenant: TenantId,
        channel: Channel,
        on: bool,
        actor: &Actor,
    ) -> Result<bool> {
        put(&self.db, tenant, channel, on, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn failing_lanes(&self) -> Result<Vec<FailingLane>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::failing_lanes, &[&self.db.now()]).await?;
        found.iter().map(failing_lane).collect()
    }

    async fn movable_rows(&self, lane: LaneId, after: Option<Place>) -> Result<MovableRows> {
        let (due_at, seq) = after.map(|place| (At(place.due_at), place.seq.0)).unzip();
        let (examined, given) = (i64::from(EXAMINED_ROWS), i64::from(MOVED_ROWS));
        let session = self.db.general().await?;
        let found = session
            .rows(
                sql::movable_rows,
                &[&self.db.now(), &lane.0, &due_at, &seq, &examined, &given],
            )
            .await?;
        let mut movable = vec![];
        for row in &found {
            if let Some(place) = place(row, "due_at", "seq") {
                movable.push(movable_row(place, row)?);
            }
        }
        Ok(MovableRows::of(movable, found.first().and_then(examined_rows)))
    }

    async fn move_rows(&self, from: LaneId, moves: Vec<RowMove>) -> Result<Vec<MovedRow>> {
        Ok(move_rows(&self.db, from, &moves).await?)
    }

    async fn lend_probe_row(&self, lane: LaneId) -> Result<bool> {
        let most = i64::from(EXAMINED_ROWS);
        let session = self.db.general().await?;
        let lent = session
            .exec(sql::lend_probe_row, &[&self.db.now(), &lane.0, &most])
            .await?;
        self.db.claim_starts.came_back();
        Ok(lent > 0)
    }
}

async fn put(db: &Db, tenant: TenantId, channel: Channel, on: bool, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    must_be_live(&tx, tenant).await?;
    let known = tx.rows(sql::failover_channels, &[&tenant.0]).await?;
    if known.iter().any(|row| row.get::<_, &str>(0) == channel.as_str()) == on {
        return Ok(false);
    }
    tx.exec(sql::failover_put, &[&tenant.0, &channel.as_str(), &on])
        .await?;
    let (kind, words) = (AuditKind::ChannelChanged, switched_in_words(on));
    log(db, &tx, tenant, kind, actor, channel.as_str(), words).await?;
    tx.commit().await?;
    Ok(true)
}

fn failing_lane(row: &Row) -> Result<FailingLane> {
    Ok(FailingLane {
        lane: LaneId(row.get("lane_id")),
        tenant: TenantId(row.get("tenant")),
        channel: rows::parsed("lanes", row.get("channel"))?,
        provider: ProviderId::new(row.get::<_, &str>("provider")),
        reason: rows::parsed("lanes", row.get("hold_reason"))?,
        probe_due: row.get("probe_due"),
        has_rows: row.get("has_rows"),
    })
}

fn place(row: &Row, due_at: &str, seq: &str) -> Option<Place> {
    Some(Place {
        due_at: rows::time_opt(row, due_at)?,
        seq: Seq(row.get::<_, Option<i64>>(seq)?),
    })
}

fn examined_rows(row: &Row) -> Option<Examined> {
    Some(Examined {
        rows: row.get("examined"),
        last: place(row, "last_due_at", "last_seq")?,
        now: rows::time(row, "now"),
    })
}

fn movable_row(place: Place, row: &Row) -> Result<MovableRow> {
    let left: Option<Vec<i64>> = row.get("left_lanes");
    let mut content = Content {
        expires_at: rows::time_opt(row, "expires_at"),
        channel: Some(rows::channel(row)?),
        target: rows::target(row)?,
        subject: row.get("subject"),
        body: row.get("body"),
        type_data: row.get("type_data"),
        ..Content::default()
    };
    rows::extra(row)?.fill(&mut content);
    Ok(MovableRow {
        place,
        generation: row.get("generation"),
        left: left.unwrap_or_default().into_iter().map(LaneId).collect(),
        content,
    })
}

async fn move_rows(db: &Db, from: LaneId, moves: &[RowMove]) -> Result<Vec<MovedRow>, Failed> {
    let session = db.general().await?;
    let Some(failing) = session.opt(sql::failing_lane, &[&from.0]).await? else {
        return Ok(vec![]);
    };
    let reason: HoldReason = rows::parsed("lanes", failing.get("hold_reason"))?;
    let words = moved_in_words(failing.get("provider"), reason);
    let seqs: Vec<i64> = moves.iter().map(|row| row.seq.0).collect();
    let generations: Vec<i32> = moves.iter().map(|row| row.generation).collect();
    let lanes: Vec<i64> = moves.iter().map(|row| row.to.0).collect();
    let found = session
        .rows(
            sql::move_rows,
            &[&db.now(), &from.0, &seqs, &generations, &lanes, &words],
        )
        .await?;
    // They are due in their new lane since when they were due in the old one.
    db.claim_starts.came_back();
    let moved = found.iter().map(|row| MovedRow {
        tenant: TenantId(row.get("tenant")),
        id: NotificationId(row.get("id")),
        to: LaneId(row.get("lane")),
    });
    Ok(moved.collect())
}
