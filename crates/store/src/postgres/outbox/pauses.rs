//! What is not to be asked for in a lane for a while, narrower than the lane.

use super::{lanes, sql};
use crate::{
    outbox::{MAX_PAUSES, NewPause, Pauses},
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Session},
        types::millis,
    },
};
use domain::LaneId;

pub(super) async fn add(db: &Db, lane: LaneId, pauses: &[NewPause]) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let now = db.now();
    tx.exec(sql::pauses_changed, &[&lane.0]).await?;
    tx.exec(sql::pauses_over, &[&now, &lane.0]).await?;
    let kept: i64 = tx.one(sql::pauses_count, &[&lane.0]).await?.get(0);
    let room = MAX_PAUSES.saturating_sub(kept.unsigned_abs());
    let room = usize::try_from(room).unwrap_or(usize::MAX).min(pauses.len());
    let (kept, too_many) = pauses.split_at(room);
    let keys: Vec<i64> = kept.iter().map(|pause| pause.key).collect();
    let waits: Vec<f64> = kept.iter().map(|pause| millis(pause.wait)).collect();
    let reasons: Vec<&str> = kept.iter().map(|pause| pause.reason.as_str()).collect();
    tx.exec(sql::pause_add, &[&now, &lane.0, &keys, &waits, &reasons])
        .await?;
    tx.commit().await?;
    if let Some(longest) = too_many.iter().map(|pause| pause.wait).max() {
        lanes::pause(db, lane, longest).await?;
    }
    Ok(())
}

pub(super) async fn of(db: &Db, lane: LaneId) -> Result<Pauses, Failed> {
    let session = db.general().await?;
    let found = session.rows(sql::pauses_of, &[&db.now(), &lane.0]).await?;
    let version = found.first().map(|row| row.get("pauses_version"));
    let paused = found.iter().filter_map(|row| {
        let key = row.get::<_, Option<i64>>("key")?;
        Some((key, rows::time_opt(row, "until")?))
    });
    Ok(Pauses {
        version: version.unwrap_or_default(),
        until: paused.collect(),
    })
}
