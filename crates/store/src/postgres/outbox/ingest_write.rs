//! Writing one batch: one statement for all of it, and the ways back when that does not work.
//!
//! Always true: one bad item never fails its neighbours; an answer that was lost on the way is asked for again, not
//! guessed.

use super::{
    ingest_columns::{Columns, Item},
    ingest_found::Found,
    sql,
};
use crate::{
    Result,
    outbox::Ingested,
    postgres::{
        commit_retry::CommitRetry,
        failed::Failed,
        server::Use,
        session::{Db, Session, Tx},
    },
};
use domain::{Status, lock::lock};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use uuid::Uuid;

#[derive(Debug, Clone)]
pub(super) struct Writer {
    db: Db,
    /// The lanes that are known to be there; lanes are never deleted.
    lanes: Arc<Mutex<HashSet<i64>>>,
}

impl Writer {
    pub fn new(db: Db) -> Self {
        Self {
            db,
            lanes: Arc::default(),
        }
    }

    /// One answer per item, in order.
    pub async fn store(&self, items: &[Item]) -> Result<Vec<Ingested>> {
        let mut answers: Vec<Option<Ingested>> = vec![None; items.len()];
        let mut open = self.in_known_lanes(items, &mut answers).await?;
        // More than one round only when an id came twice and its first item was refused.
        while !open.is_empty() {
            let mut first_of: HashMap<(i32, Uuid), usize> = HashMap::new();
            let (firsts, again): (Vec<usize>, Vec<usize>) = open
                .into_iter()
                .partition(|i| *first_of.entry(items[*i].key()).or_insert(*i) == *i);
            store_distinct(&self.db, items, firsts, &mut answers).await?;
            open = vec![];
            for i in again {
                let first = first_of[&items[i].key()];
                if answers[first].as_ref().is_some_and(Ingested::is_new) {
                    answers[i] = Some(Ingested::Duplicate {
                        same_content: items[i].content_hash == items[first].content_hash,
                        status: Some(Status::Pending),
                    });
                } else {
                    open.push(i);
                }
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// A row in a lane that is not there would wait for ever unseen: it is refused.
    async fn in_known_lanes(&self, items: &[Item], answers: &mut [Option<Ingested>]) -> Result<Vec<usize>> {
        let asked = self.unknown(items);
        if !asked.is_empty() {
            let session = self.db.session(Use::Ingest).await?;
            let found = session.rows(sql::lane_exists, &[&asked]).await?;
            let mut lanes = lock(&self.lanes);
            lanes.extend(found.iter().map(|row| row.get::<_, i64>(0)));
        }
        let missing: HashSet<i64> = self.unknown(items).into_iter().collect();
        let (strange, known): (Vec<usize>, Vec<usize>) =
            (0..items.len()).partition(|i| missing.contains(&items[*i].lane()));
        for i in strange {
            answers[i] = Some(Ingested::Refused(format!("there is no lane {}", items[i].lane())));
        }
        Ok(known)
    }

    fn unknown(&self, items: &[Item]) -> Vec<i64> {
        let lanes = lock(&self.lanes);
        let unknown: HashSet<i64> = items
            .iter()
            .map(Item::lane)
            .filter(|lane| !lanes.contains(lane))
            .collect();
        unknown.into_iter().collect()
    }
}

/// On a data error the part is halved until the bad item stands alone.
async fn store_distinct(
    db: &Db,
    items: &[Item],
    firsts: Vec<usize>,
    answers: &mut [Option<Ingested>],
) -> Result<()> {
    let mut parts = vec![firsts];
    while let Some(part) = parts.pop() {
        let chosen: Vec<&Item> = part.iter().map(|i| &items[*i]).collect();
        match commit(db, &chosen).await {
            Ok(found) => {
                for i in part {
                    answers[i] = Some(found.answer(&items[i]));
                }
            }
            Err(Failed::Data(reason)) if part.len() == 1 => {
                answers[part[0]] = Some(Ingested::Refused(reason));
            }
            Err(Failed::Data(_)) => {
                let (left, right) = part.split_at(part.len() / 2);
                parts.push(right.to_vec());
                parts.push(left.to_vec());
            }
            Err(failed) => return Err(failed.into()),
        }
    }
    Ok(())
}

/// Commits a part. A connection that breaks meanwhile is asked about by sending the same again.
async fn commit(db: &Db, items: &[&Item]) -> Result<Found, Failed> {
    let (mut retry, started) = (CommitRetry::new("ingest"), Instant::now());
    loop {
        match once(db, items).await {
            Ok(mut found) => {
                db.claim_starts.stored(started.elapsed());
                // Rows that are younger than the first try were committed by it.
                found.ours_since = retry.maybe_committed().map(|age| age + Duration::from_secs(1));
                return Ok(found);
            }
            Err(failed) => retry.after(failed).await?,
        }
    }
}

/// Takes items in within a transaction that others have begun, all or nothing. No item may have the key of another, nor
/// supersede anything.
pub(in crate::postgres) async fn ingest_in(db: &Db, tx: &Tx<'_>, items: &[&Item]) -> Result<Found, Failed> {
    let mut found = Found::default();
    if items.is_empty() {
        return Ok(found);
    }
    let columns = Columns::of(items);
    let now = db.now();
    let (statement, params) = columns.statement(&now, &db.node);
    found.accept(&tx.rows(statement, &params).await?);
    ask_about_the_rest(db, tx, items, &mut found).await?;
    Ok(found)
}

/// What is known about the items that were not new.
async fn ask_about_the_rest(
    db: &Db,
    session: &impl Session,
    items: &[&Item],
    found: &mut Found,
) -> Result<(), Failed> {
    if found.accepted.len() == items.len() {
        return Ok(());
    }
    let old = items
        .iter()
        .map(|i| i.key())
        .filter(|key| !found.accepted.contains_key(key));
    let (tenants, ids): (Vec<i32>, Vec<Uuid>) = old.unzip();
    found.know(
        &session
            .rows(sql::ingest_known, &[&db.now(), &tenants, &ids])
            .await?,
    )
}

async fn once(db: &Db, items: &[&Item]) -> Result<Found, Failed> {
    let columns = Columns::of(items);
    let now = db.now();
    let (statement, params) = columns.statement(&now, &db.node);
    let mut session = db.session(Use::Ingest).await?;
    let replacing = columns.superseding();
    let mut found = Found::default();
    if replacing.is_empty() {
        found.accept(&session.rows(statement, &params).await?);
    } else {
        let tx = session.begin().await?;
        let (tenants, keys): (Vec<i32>, Vec<&str>) =
            replacing.iter().map(|i| (i.key().0, i.supersede_key())).unzip();
        tx.rows(sql::ingest_supersede_lock, &[&tenants, &keys]).await?;
        found.accept(&tx.rows(statement, &params).await?);
        let newest = found.newest_per_key(&replacing);
        let (mut tenants, mut keys, mut seqs, mut ids) = (vec![], vec![], vec![], vec![]);
        for ((tenant, key), (seq, id)) in newest {
            tenants.push(tenant);
            keys.push(key);
            seqs.push(seq);
            ids.push(id);
        }
        let params: crate::postgres::session::Params<'_> = &[&now, &db.node, &tenants, &keys, &seqs, &ids];
        found.replace(&tx.rows(sql::ingest_supersede, params).await?);
        tx.commit().await?;
    }
    ask_about_the_rest(db, &session, items, &mut found).await?;
    Ok(found)
}
