//! Claims, and what is done with a lease short of recording an outcome.
//!
//! Always true: a row is in at most one live claim (skip locked, then stepped over until `leased_until`; its due time
//! stays); a claim may be forgotten in a crash, after which its rows can be claimed at once.

use super::{compact, record, sql};
use crate::{
    Result,
    extra::Extra,
    outbox::{
        AttemptRecord, Cause, Chores, Claimed, Claims, Ended, LaneWaiting, LaneWant, LanesWaiting, Lease,
    },
    postgres::{
        failed::Failed,
        rows::{self, Columns},
        server::Use,
        session::{Db, Params, Session},
        types::{At, millis, small},
    },
};
use domain::{Content, LaneId, LeaseToken, NotificationId, RecipientResult, Seq, Target, TenantId};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;
use tokio_postgres::Row;

/// More rows of a lane than all nodes together ever have claimed at once.
const MOST_CLAIMED_ROWS: i64 = 20_000;

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
    let (since, begin_at) = (db.claim_starts.since(), db.claim_starts.places(&lanes));
    let params: Params<'_> = &[&db.now(), &lanes, &counts, &token.0, &millis(lease), &begin_at];
    let found = match session.rows(sql::claim_due, params).await {
        Err(Failed::Lost(cause)) => {
            tokio::spawn(undo(db.clone(), lanes, token, lease));
            return Err(Failed::Lost(cause));
        }
        found => found?,
    };
    if found.is_empty() {
        let nothing = session.one(sql::claim_nothing, &[&db.now()]).await?;
        return Ok(Claims {
            now: Some(rows::time(&nothing, "now")),
            directory_version: nothing.get("directory_version"),
            ..Claims::default()
        });
    }
    let claims = claims(db, &session, &found, token).await?;
    if let Some(now) = claims.now {
        let reached = found
            .iter()
            .map(|row| (row.get(LANE), row.get::<_, At>(DUE_AT).0));
        db.claim_starts.claimed(since, now, reached);
    }
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
        .rows(sql::claim_probe, &[&db.now(), &lane.0, &token.0, &millis(lease)])
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
                .exec(sql::claim_undo, &[&lanes, &token.0, &MOST_CLAIMED_ROWS])
                .await
                .is_ok()
        {
            db.claim_starts.came_back();
            return;
        }
    }
}

/// The places of some columns of a claim.
const LANES: usize = 3;
const VERSIONS: usize = 4;
const PAUSES: usize = 5;
const DUE_AT: usize = 6;
const SEQ: usize = 7;
const LANE: usize = 8;

/// The versions of each lane's configuration and of its pauses. A claim says them once, not with every row.
type LaneVersions = HashMap<i64, (i64, i64)>;

fn lane_versions(row: &Row) -> Option<LaneVersions> {
    let column = |place: usize| row.get::<_, Option<Vec<Option<i64>>>>(place);
    let of_lane = column(LANES)?
        .into_iter()
        .zip(column(VERSIONS)?)
        .zip(column(PAUSES)?);
    let known = of_lane.filter_map(|((lane, config), pauses)| Some((lane?, (config?, pauses?))));
    Some(known.collect())
}

async fn claims(db: &Db, session: &impl Session, found: &[Row], token: LeaseToken) -> Result<Claims, Failed> {
    let mut claims = Claims::default();
    let (mut asked, mut unreadable) = (vec![], vec![]);
    let versions = found.iter().find_map(lane_versions).unwrap_or_default();
    claims.rows.reserve(found.len());
    if let Some(any) = found.first() {
        claims.now = Some(rows::time(any, "now"));
        claims.directory_version = any.get("directory_version");
    }
    // In the order in which they are due.
    let mut found: Vec<(Option<At>, Option<i64>, &Row)> = found
        .iter()
        .map(|row| (row.get(DUE_AT), row.get(SEQ), row))
        .collect();
    found.sort_unstable_by_key(|(due_at, seq, _)| (due_at.map(|at| at.0), *seq));
    for (_, seq, row) in found {
        if let Some(seq) = seq {
            match claimed(row, &versions, Seq(seq), token) {
                Ok((claimed, code)) => {
                    if may_have_results(&claimed, code) {
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
        for row in session.rows(sql::claim_known, &[&asked]).await? {
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
        record::record(db, &unreadable).await?;
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
            cause: Cause::new("CORRUPT", error.to_string()),
        },
        resolved_targets: vec![],
        recipients: vec![],
        messages: vec![],
        attempt: None,
        after_interruption: false,
        in_doubt: false,
    }
}

/// Only an attempt leaves results, or a receipt while one was under way: one that was counted,
/// one in an earlier generation, one that was cut off, or one that ended in a wait (which leaves its code).
fn may_have_results(claimed: &Claimed, code: Option<&str>) -> bool {
    let named = claimed.content.target != Target::Provider;
    named && (claimed.attempts > 0 || claimed.generation > 0 || claimed.interruptions > 0 || code.is_some())
}

/// A row's columns in their order: looking for each by its name costs more than what is in it. With the code of its
/// last attempt.
fn claimed<'r>(
    row: &'r Row,
    versions: &LaneVersions,
    seq: Seq,
    token: LeaseToken,
) -> Result<(Claimed, Option<&'r str>)> {
    let mut column = Columns::after(row, SEQ);
    let lane: i64 = column.next();
    let site = column.next();
    let generation = column.next();
    let attempts = small(column.next());
    let unknowns = small(column.next());
    let interruptions = small(column.next::<i32>() - 1);
    let waiting_since = column.time();
    let code = column.next();
    let superseded = column.next();
    let (config_version, pauses_version) = versions.get(&lane).copied().unwrap_or_default();
    let mut claimed = Claimed {
        lease: Lease { seq, token },
        lane: LaneId(lane),
        config_version,
        pauses_version,
        superseded,
        site,
        generation,
        attempts,
        unknowns,
        interruptions,
        waiting_since,
        tenant: TenantId(column.next()),
        id: NotificationId(column.next()),
        created_at: column.time(),
        content: Box::new(Content {
            expires_at: column.next::<Option<At>>().map(|at| at.0),
            channel: Some(rows::parsed("notifications", column.next())?),
            target: Target::of(column.next(), column.json("notifications", "recipients")?),
            subject: column.next(),
            body: column.next(),
            type_data: column.next(),
            ..Content::default()
        }),
        trace: None,
        known: vec![],
    };
    if let Some(mut extra) = column.json::<Extra<'_>>("notifications", "extra")? {
        extra.fill(&mut claimed.content);
        claimed.trace = extra.trace;
    }
    Ok((claimed, code))
}

pub(super) async fn lanes_waiting(db: &Db) -> Result<LanesWaiting, Failed> {
    let session = db.session(Use::Claim).await?;
    let since = db.claim_starts.since();
    let found = session.rows(sql::lanes_waiting, &[&db.now()]).await?;
    let first = found
        .first()
        .ok_or_else(|| Failed::Server("no clock in the answer".into()))?;
    let mut waiting = LanesWaiting {
        now: rows::time(first, "now"),
        directory_version: first.get("directory_version"),
        lanes: vec![],
        chores: Chores {
            jobs: first.get("jobs"),
            counts: first.get("counts"),
            expired: first.get("expired"),
            failover: first.get("failover"),
            compact: compact::worth_it(first.get("size"), first.get("left")),
        },
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
    let lanes = waiting.lanes.iter().map(|lane| (lane.lane.0, lane.next_due));
    db.claim_starts
        .looked(since, first.get("gone"), waiting.now, lanes);
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
    let released = session.exec(sql::release, &[&seqs, &tokens]).await;
    db.claim_starts.came_back();
    released.map(drop)
}

pub(super) async fn renew(db: &Db, leases: &[Lease], lease: Duration) -> Result<Vec<Lease>, Failed> {
    let (seqs, tokens) = columns(leases);
    let session = db.session(Use::Claim).await?;
    let found = session
        .rows(sql::renew, &[&db.now(), &seqs, &tokens, &millis(lease)])
        .await?;
    let held = found.iter().map(|row| Lease {
        seq: Seq(row.get(0)),
        token: LeaseToken(row.get(1)),
    });
    Ok(held.collect())
}
