//! Claiming: rows that are due get a token and become due again when the lease ends. Nothing else is locked.

use super::{directory::all, providers::hold, rows, sql, writer::Session};
use crate::{
    Result,
    outbox::{Claimed, Claims, LaneWant, Lease},
};
use domain::{Channel, LaneId, LeaseToken, Seq, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::Duration;

pub(super) fn claim_due(
    s: &mut Session<'_>,
    wants: &[LaneWant],
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims> {
    let mut claims = nothing(s)?;
    for want in wants {
        if let Some(version) = claimable(s, want.lane)? {
            take(s, want, version, token, lease, &mut claims.rows)?;
        }
    }
    Ok(claims)
}

pub(super) fn claim_probe(
    s: &mut Session<'_>,
    of: LaneId,
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims> {
    let mut claims = nothing(s)?;
    let params = params![of.0, s.now.as_millis()];
    let probed = all(s.conn, sql::lane_probe, params, |row| {
        Ok((row.get(0)?, hold(row)?))
    })?;
    if let Some((version, hold)) = probed.into_iter().next() {
        take(
            s,
            &LaneWant { lane: of, n: 1 },
            version,
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

fn nothing(s: &Session<'_>) -> Result<Claims> {
    Ok(Claims {
        now: Some(s.now),
        directory_version: s
            .conn
            .prepare_cached(sql::directory_version)?
            .query_row([], |row| row.get(0))?,
        rows: vec![],
        probing: None,
    })
}

/// The lane's config version, unless it is held or paused.
fn claimable(s: &Session<'_>, lane: LaneId) -> Result<Option<i64>> {
    let version = s
        .conn
        .prepare_cached(sql::lane_claimable)?
        .query_row(params![lane.0, s.now.as_millis()], |row| row.get(0))
        .optional()?;
    Ok(version)
}

fn take(
    s: &Session<'_>,
    want: &LaneWant,
    config_version: i64,
    token: LeaseToken,
    lease: Duration,
    into: &mut Vec<Claimed>,
) -> Result<()> {
    let first = into.len();
    let mut select = s.conn.prepare_cached(sql::claim_due)?;
    let mut due = select.query(params![want.lane.0, s.now.as_millis(), want.n])?;
    while let Some(row) = due.next()? {
        into.push(claimed(row, want.lane, config_version, token)?);
    }
    let mut update = s.conn.prepare_cached(sql::claim_row)?;
    let until = (s.now + lease).as_millis();
    for row in &mut into[first..] {
        let seq = row.lease.seq;
        update.execute(params![seq.0, token.0, until, s.now.as_millis()])?;
        row.known = rows::recipients(s.conn, seq)?;
    }
    Ok(())
}

fn claimed(row: &Row<'_>, lane: LaneId, config_version: i64, token: LeaseToken) -> Result<Claimed> {
    let interrupted: bool = row.get("interrupted")?;
    Ok(Claimed {
        lease: Lease {
            seq: Seq(row.get("seq")?),
            token,
        },
        tenant: TenantId(row.get("tenant")?),
        id: rows::id(row, "id")?,
        lane,
        config_version,
        generation: row.get("generation")?,
        attempts: row.get::<_, u32>("attempts")? + u32::from(interrupted),
        unknowns: row.get("unknowns")?,
        interruptions: row.get("claims")?,
        waiting_since: rows::time(row, "waiting_since")?,
        created_at: rows::time(row, "created_at")?,
        expires_at: rows::optional_time(row, "expires_at")?,
        channel: rows::parse::<Channel>("notifications", &row.get::<_, String>("channel")?)?,
        target: rows::target(row)?,
        subject: row.get("subject")?,
        body: row.get("body")?,
        type_data: row.get("type_data")?,
        extra: rows::extra(row)?,
        site: row.get("site")?,
        known: vec![],
    })
}
