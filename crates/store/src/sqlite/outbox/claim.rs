//! Claiming: rows that are due get a token, and nobody else claims them before their lease ends; their due time stays.
//! Nothing else is locked.

use super::sql;
use crate::{
    Result,
    outbox::{Claimed, Claims, LaneWant, Lease},
    sqlite::{
        directory,
        query::notification,
        rows::{self, Columns, all, hold},
        writer::WriteSession,
    },
};
use domain::{Channel, Content, LaneId, LeaseToken, NotificationId, Seq, TenantId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use std::time::Duration;
use uuid::Uuid;

pub(super) fn claim_due(
    s: &mut WriteSession<'_>,
    wants: &[LaneWant],
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims> {
    let mut claims = nothing(s)?;
    for want in wants {
        if let Some(versions) = claimable(s, want.lane)? {
            take(s, want, versions, token, lease, &mut claims.rows)?;
        }
    }
    Ok(claims)
}

pub(super) fn claim_probe(
    s: &mut WriteSession<'_>,
    of: LaneId,
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims> {
    let mut claims = nothing(s)?;
    let params = params![of.0, s.now.as_millis()];
    let probed = all(s.conn, sql::lane_probe, params, |row| {
        Ok((versions(row)?, hold(row)?))
    })?;
    if let Some((versions, hold)) = probed.into_iter().next() {
        take(
            s,
            &LaneWant { lane: of, n: 1 },
            versions,
            token,
            lease,
            &mut claims.rows,
        )?;
        if !claims.rows.is_empty() {
            claims.probing = hold;
            s.conn
                .prepare_cached(sql::lane_probe_taken)?
                .execute(params![of.0, (s.now + lease).as_millis()])?;
        }
    }
    Ok(claims)
}

fn nothing(s: &WriteSession<'_>) -> Result<Claims> {
    Ok(Claims {
        now: Some(s.now),
        directory_version: s
            .conn
            .prepare_cached(directory::sql::directory_version)?
            .query_row([], |row| row.get(0))?,
        rows: vec![],
        probing: None,
    })
}

/// What a lane's rows are claimed at.
#[derive(Debug, Clone, Copy)]
struct Versions {
    config: i64,
    pauses: i64,
}

fn versions(row: &Row<'_>) -> rusqlite::Result<Versions> {
    Ok(Versions {
        config: row.get(0)?,
        pauses: row.get(1)?,
    })
}

/// The lane's versions, unless it is held or paused.
fn claimable(s: &WriteSession<'_>, lane: LaneId) -> Result<Option<Versions>> {
    let found = s
        .conn
        .prepare_cached(sql::lane_claimable)?
        .query_row(params![lane.0, s.now.as_millis()], versions)
        .optional()?;
    Ok(found)
}

fn take(
    s: &WriteSession<'_>,
    want: &LaneWant,
    versions: Versions,
    token: LeaseToken,
    lease: Duration,
    into: &mut Vec<Claimed>,
) -> Result<()> {
    let first = into.len();
    let mut with_recipients = vec![];
    let mut select = s.conn.prepare_cached(sql::claim_due)?;
    let mut due = select.query(params![want.lane.0, s.now.as_millis(), want.n])?;
    while let Some(row) = due.next()? {
        let (claimed, known) = claimed(row, want.lane, versions, token)?;
        if known {
            with_recipients.push(into.len());
        }
        into.push(claimed);
    }
    let mut update = s.conn.prepare_cached(sql::claim_row)?;
    let until = (s.now + lease).as_millis();
    for row in &into[first..] {
        update.execute((row.lease.seq.0, token.0, until, s.now.as_millis()))?;
    }
    for i in with_recipients {
        into[i].known = notification::recipients(s.conn, into[i].lease.seq)?;
    }
    Ok(())
}

/// Answers also whether anything is known about its recipients.
fn claimed(row: &Row<'_>, lane: LaneId, versions: Versions, token: LeaseToken) -> Result<(Claimed, bool)> {
    let mut column = Columns::of(row);
    let mut claimed = Claimed {
        lease: Lease {
            seq: Seq(column.next()?),
            token,
        },
        tenant: TenantId(column.next()?),
        id: NotificationId(Uuid::from_bytes(column.next()?)),
        lane,
        config_version: versions.config,
        pauses_version: versions.pauses,
        superseded: false,
        generation: column.next()?,
        attempts: column.next::<u32>()? + u32::from(column.next::<bool>()?),
        unknowns: column.next()?,
        interruptions: column.next()?,
        waiting_since: column.time()?,
        created_at: column.time()?,
        content: Box::new(Content {
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
        }),
        site: None,
        trace: None,
        known: vec![],
    };
    if let Some(extra) = column.text()? {
        let mut extra = rows::extra(Some(extra))?;
        extra.fill(&mut claimed.content);
        claimed.trace = extra.trace;
    }
    claimed.site = column.next()?;
    claimed.superseded = column.next()?;
    Ok((claimed, column.next()?))
}
