//! The [`Failover`] trait on SQLite.

mod sql;

use super::{
    SqliteStore, audit,
    directory::{changed, must_be_live},
    rows::{self, Columns, all},
    writer::WriteSession,
};
use crate::{
    Result,
    audit::Entry,
    failover::{
        EXAMINED_ROWS, Examined, FailingLane, Failover, MOVED_ROWS, MovableRow, MovableRows, MovedRow, Place,
        RowMove, moved_in_words, switched_in_words,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, AuditStatus, Channel, Content, HoldReason, LaneId, NotificationId, ProviderId, Seq,
    TenantId, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

#[async_trait]
impl Failover for SqliteStore {
    async fn failover_channels(&self, tenant: TenantId) -> Result<Vec<Channel>> {
        self.read(move |conn| channels(conn, tenant)).await
    }

    async fn put_failover(
        &self,
        tenant: TenantId,
        channel: Channel,
        on: bool,
        actor: &Actor,
    ) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| put(s, tenant, channel, on, &actor)).await
    }

    async fn failing_lanes(&self) -> Result<Vec<FailingLane>> {
        let now = self.clock.now();
        self.read(move |conn| all(conn, sql::failing_lanes, [now.as_millis()], failing_lane))
            .await
    }

    async fn movable_rows(&self, lane: LaneId, after: Option<Place>) -> Result<MovableRows> {
        let now = self.clock.now();
        self.read(move |conn| movable(conn, lane, after, now)).await
    }

    async fn move_rows(&self, from: LaneId, moves: Vec<RowMove>) -> Result<Vec<MovedRow>> {
        self.write(moves.len(), move |s| move_rows(s, from, &moves)).await
    }

    async fn lend_probe_row(&self, lane: LaneId) -> Result<bool> {
        self.write(1, move |s| lend(s, lane)).await
    }
}

fn channels(conn: &Connection, tenant: TenantId) -> Result<Vec<Channel>> {
    all(conn, sql::failover_channels, [tenant.0], |row| {
        rows::parse("channel_orders", &row.get::<_, String>(0)?)
    })
}

fn put(s: &WriteSession<'_>, tenant: TenantId, channel: Channel, on: bool, actor: &Actor) -> Result<bool> {
    must_be_live(s.conn, tenant)?;
    if channels(s.conn, tenant)?.contains(&channel) == on {
        return Ok(false);
    }
    s.conn
        .prepare_cached(sql::failover_put)?
        .execute(params![tenant.0, channel.as_str(), on])?;
    let (kind, words) = (AuditKind::ChannelChanged, switched_in_words(on));
    changed(s, tenant, kind, actor, channel.as_str(), words)?;
    Ok(true)
}

fn failing_lane(row: &Row<'_>) -> Result<FailingLane> {
    Ok(FailingLane {
        lane: LaneId(row.get(0)?),
        tenant: TenantId(row.get(1)?),
        channel: rows::parse("lanes", &row.get::<_, String>(2)?)?,
        provider: ProviderId::new(row.get::<_, String>(3)?),
        reason: rows::parse("lanes", &row.get::<_, String>(4)?)?,
        probe_due: row.get(5)?,
        has_rows: row.get(6)?,
    })
}

fn movable(conn: &Connection, lane: LaneId, after: Option<Place>, now: Timestamp) -> Result<MovableRows> {
    let (due_at, seq) = after.map_or((i64::MIN, 0), |place| (place.due_at.as_millis(), place.seq.0));
    let mut statement = conn.prepare_cached(sql::movable_rows)?;
    let mut found = statement.query(params![
        lane.0,
        due_at,
        seq,
        now.as_millis(),
        EXAMINED_ROWS,
        MOVED_ROWS
    ])?;
    let (mut movable, mut examined) = (vec![], None);
    while let Some(row) = found.next()? {
        let mut column = Columns::of(row);
        let looked_at: i64 = column.next()?;
        let last = (column.next::<Option<i64>>()?, column.next::<Option<i64>>()?);
        if let (Some(due_at), Some(seq)) = last {
            let last = Place {
                due_at: Timestamp::from_millis(due_at),
                seq: Seq(seq),
            };
            examined = Some(Examined {
                rows: looked_at,
                last,
                now,
            });
        }
        let (due_at, seq) = (column.next::<Option<i64>>()?, column.next::<Option<i64>>()?);
        if let (Some(due_at), Some(seq)) = (due_at, seq) {
            let place = Place {
                due_at: Timestamp::from_millis(due_at),
                seq: Seq(seq),
            };
            movable.push(movable_row(place, column)?);
        }
    }
    Ok(MovableRows::of(movable, examined))
}

fn movable_row(place: Place, mut column: Columns<'_>) -> Result<MovableRow> {
    let mut row = MovableRow {
        place,
        generation: column.next()?,
        left: match column.text()? {
            None => vec![],
            Some(json) => rows::from_json::<Vec<i64>>("due", json)?
                .into_iter()
                .map(LaneId)
                .collect(),
        },
        content: Content {
            expires_at: column.next::<Option<i64>>()?.map(Timestamp::from_millis),
            channel: Some(rows::parse::<Channel>(
                "notifications",
                column.text()?.unwrap_or_default(),
            )?),
            target: rows::target(column.text()?, column.text()?)?,
            subject: column.next()?,
            body: column.next()?,
            type_data: column.next()?,
            ..Content::default()
        },
    };
    if let Some(extra) = column.text()? {
        rows::extra(Some(extra))?.fill(&mut row.content);
    }
    Ok(row)
}

fn move_rows(s: &WriteSession<'_>, from: LaneId, moves: &[RowMove]) -> Result<Vec<MovedRow>> {
    let failing = s
        .conn
        .prepare_cached(sql::failing_lane)?
        .query_row([from.0], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    let Some((provider, reason)) = failing else {
        return Ok(vec![]);
    };
    let words = moved_in_words(&provider, rows::parse::<HoldReason>("lanes", &reason)?);
    let system = Actor::system();
    let mut moved = Vec::with_capacity(moves.len());
    for row in moves {
        if let Some((tenant, id)) = move_row(s, from, row)? {
            let to: String = s
                .conn
                .prepare_cached(sql::lane_provider)?
                .query_row([row.to.0], |row| row.get(0))?;
            let entry = Entry {
                seq: Some(row.seq),
                status: AuditStatus::Pending,
                target: Some(&to),
                code: Some(&reason),
                detail: Some(&words),
                ..Entry::new(tenant, AuditKind::NotifyMove, &system)
            };
            audit::insert(s, &entry)?;
            moved.push(MovedRow {
                tenant,
                id,
                to: row.to,
            });
        }
    }
    Ok(moved)
}

fn move_row(s: &WriteSession<'_>, from: LaneId, row: &RowMove) -> Result<Option<(TenantId, NotificationId)>> {
    let moved = s
        .conn
        .prepare_cached(sql::move_row)?
        .query_row(
            params![row.seq.0, row.generation, from.0, row.to.0, s.now.as_millis()],
            |row| {
                Ok((
                    TenantId(row.get(0)?),
                    NotificationId(Uuid::from_bytes(row.get(1)?)),
                ))
            },
        )
        .optional()?;
    if moved.is_some() {
        s.conn
            .prepare_cached(sql::move_recipients)?
            .execute(params![row.seq.0, row.generation])?;
    }
    Ok(moved)
}

fn lend(s: &WriteSession<'_>, lane: LaneId) -> Result<bool> {
    let siblings = all(s.conn, sql::sibling_lanes, [lane.0], |row| {
        Ok(row.get::<_, i64>(0)?)
    })?;
    let mut lend = s.conn.prepare_cached(sql::lend_probe_row)?;
    for sibling in siblings {
        if lend.execute(params![lane.0, sibling, s.now.as_millis(), EXAMINED_ROWS])? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
