//! Claims, and what is done with a lease short of recording an outcome.
//!
//! Always true: a row is in at most one live claim (skip locked, then moved out of the due range); a claim may be
//! forgotten in a crash, which only makes its rows due again.

use super::{
    failed::Failed,
    record, rows,
    server::Use,
    session::{Db, Params, Session},
    sql,
    types::{millis, small},
};
use crate::{
    Result,
    outbox::{AttemptRecord, Claimed, Claims, Ended, LaneWaiting, LaneWant, LanesWaiting, Lease},
};
use domain::{LaneId, LeaseToken, NotificationId, RecipientResult, Seq, Target, TenantId};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;
use tokio_postgres::Row;

pub(super) async fn claim_due(
    db: &Db,
    wants: &[LaneWant],
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims, Failed> {
    let (lanes, counts): (Vec<i64>, Vec<i32>) = wants
        .iter()
        .map(|want| (want.lane.0, i32::try_from(want.n).unwrap_or(i32::MAX)))
        .unzip();
    let session = db.session(Use::Claim).await?;
    let params: Params<'_> = &[&db.now(), &lanes, &counts, &token.0, &millis(lease)];
    let found = match session.rows(sql::CLAIM_DUE, params).await {
        Err(Failed::Lost(cause)) => {
            tokio::spawn(undo(db.clone(), lanes, token, lease));
            return Err(Failed::Lost(cause));
        }
        found => found?,
    };
    let mut claims = claims(db, &session, &found, token).await?;
    let picked = found
        .iter()
        .find_map(|row| row.get::<_, Option<Vec<i64>>>("picked"));
    let place: HashMap<i64, usize> = picked.into_iter().flatten().zip(0..).collect();
    claims
        .rows
        .sort_by_key(|row| place.get(&row.lease.seq.0).copied());
    Ok(claims)
}

pub(super) async fn claim_probe(
    db: &Db,
    lane: LaneId,
    token: LeaseToken,
    lease: Duration,
) -> Result<Claims, Failed> {
    let session = db.session(Use::Claim).await?;
    let found = session
        .rows(sql::CLAIM_PROBE, &[&db.now(), &lane.0, &token.0, &millis(lease)])
        .await?;
    let mut claims = claims(db, &session, &found, token).await?;
    if let (Some(row), false) = (found.first(), claims.rows.is_empty()) {
        claims.probing = rows::hold(row)?;
    }
    Ok(claims)
}

/// Gives back what a claim took whose answer was lost. Without it the rows come back when the lease ends, but as
/// interrupted, and where a message costs money they would be parked for nothing.
async fn undo(db: Db, lanes: Vec<i64>, token: LeaseToken, lease: Duration) {
    let started = Instant::now();
    while started.elapsed() < lease {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Ok(session) = db.session(Use::Claim).await
            && session
                .exec(sql::CLAIM_UNDO, &[&db.now(), &lanes, &token.0])
                .await
                .is_ok()
        {
            return;
        }
    }
}

async fn claims(db: &Db, session: &impl Session, found: &[Row], token: LeaseToken) -> Result<Claims, Failed> {
    let mut claims = Claims::default();
    let (mut asked, mut unreadable) = (vec![], vec![]);
    for row in found {
        claims.now = Some(rows::time(row, "now"));
        claims.directory_version = row.get("directory_version");
        if let Some(seq) = row.get::<_, Option<i64>>("seq") {
            match claimed(row, Seq(seq), token) {
                Ok(claimed) => {
                    if may_have_results(row, &claimed) {
                        asked.push(seq);
                    }
                    claims.rows.push(claimed);
                }
                Err(error) => unreadable.push(park_unreadable(row, Seq(seq), token, &error)),
            }
        }
    }
    if !asked.is_empty() {
        let mut known: HashMap<Seq, Vec<RecipientResult>> = HashMap::new();
        for row in session.rows(sql::CLAIM_KNOWN, &[&asked]).await? {
            known
                .entry(Seq(row.get("seq")))
                .or_default()
                .push(rows::recipient(&row)?);
        }
        for claimed in &mut claims.rows {
            claimed.known = known.remove(&claimed.lease.seq).unwrap_or_default();
        }
    }
    if !unreadable.is_empty() {
        record::record(db, unreadable).await?;
    }
    Ok(claims)
}

/// A row that cannot be read cannot be sent; it must neither stop its neighbours nor come back for ever.
fn park_unreadable(row: &Row, seq: Seq, token: LeaseToken, error: &crate::Error) -> AttemptRecord {
    let id = NotificationId(row.get("id"));
    tracing::error!(notification.id = %id, error = error as &dyn std::error::Error, "a row cannot be read and is parked");
    AttemptRecord {
        lease: Lease { seq, token },
        tenant: TenantId(row.get("tenant")),
        id,
        ended: Ended::Park {
            code: "CORRUPT".into(),
            error: error.to_string(),
            resolved_targets: vec![],
        },
        recipients: vec![],
        attempt: None,
        after_interruption: false,
    }
}

/// Results are kept where there is more than one recipient, and only an attempt leaves any: one that was counted,
/// one in an earlier generation, one that was cut off, or one that ended in a wait (which leaves its code).
fn may_have_results(row: &Row, claimed: &Claimed) -> bool {
    let several = match &claimed.target {
        Target::List(_) => true,
        Target::Recipients(to) => to.len() > 1,
        Target::Provider => false,
    };
    several
        && (claimed.attempts > 0
            || claimed.generation > 0
            || claimed.interruptions > 0
            || row.get::<_, Option<&str>>("code").is_some())
}

fn claimed(row: &Row, seq: Seq, token: LeaseToken) -> Result<Claimed> {
    Ok(Claimed {
        lease: Lease { seq, token },
        tenant: TenantId(row.get("tenant")),
        id: NotificationId(row.get("id")),
        lane: LaneId(row.get("lane")),
        config_version: row.get::<_, Option<i64>>("config_version").unwrap_or_default(),
        generation: row.get("generation"),
        attempts: small(row.get("attempts")),
        unknowns: small(row.get("unknowns")),
        interruptions: small(row.get::<_, i32>("claims") - 1),
        waiting_since: rows::time(row, "waiting_since"),
        created_at: rows::time(row, "created_at"),
        expires_at: rows::time_opt(row, "expires_at"),
        channel: rows::channel(row)?,
        target: rows::target(row)?,
        subject: row.get("subject"),
        body: row.get("body"),
        type_data: row.get("type_data"),
        extra: rows::extra(row)?,
        site: row.get("site"),
        known: vec![],
    })
}

pub(super) async fn lanes_waiting(db: &Db) -> Result<LanesWaiting, Failed> {
    let session = db.session(Use::Claim).await?;
    let found = session.rows(sql::LANES_WAITING, &[&db.now()]).await?;
    let first = found
        .first()
        .ok_or_else(|| Failed::Server("no clock in the answer".into()))?;
    let mut waiting = LanesWaiting {
        now: rows::time(first, "now"),
        directory_version: first.get("directory_version"),
        lanes: vec![],
    };
    for row in &found {
        if let Some(lane) = row.get::<_, Option<i64>>("lane_id") {
            waiting.lanes.push(LaneWaiting {
                lane: LaneId(lane),
                next_due: rows::time(row, "due_at"),
                next_probe: rows::time_opt(row, "next_probe"),
                held: row.get("held"),
                not_before: rows::time_opt(row, "not_before"),
            });
        }
    }
    Ok(waiting)
}

/// In the order of their rows, as everybody takes locks.
fn columns(leases: &[Lease]) -> (Vec<i64>, Vec<i64>) {
    let mut leases = leases.to_vec();
    leases.sort_unstable();
    leases.iter().map(|l| (l.seq.0, l.token.0)).unzip()
}

pub(super) async fn release(db: &Db, leases: &[Lease]) -> Result<(), Failed> {
    let (seqs, tokens) = columns(leases);
    let session = db.session(Use::Claim).await?;
    session.exec(sql::RELEASE, &[&db.now(), &seqs, &tokens]).await?;
    Ok(())
}

pub(super) async fn renew(db: &Db, leases: &[Lease], lease: Duration) -> Result<Vec<Lease>, Failed> {
    let (seqs, tokens) = columns(leases);
    let session = db.session(Use::Claim).await?;
    let found = session
        .rows(sql::RENEW, &[&db.now(), &seqs, &tokens, &millis(lease)])
        .await?;
    let held = found.iter().map(|row| Lease {
        seq: Seq(row.get(0)),
        token: LeaseToken(row.get(1)),
    });
    Ok(held.collect())
}
