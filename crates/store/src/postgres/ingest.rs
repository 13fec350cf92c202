//! Group commit: whoever ingests puts items into a queue; two writers take what waits and commit it at once.
//!
//! Always true: an item is answered `Accepted` only after the commit that holds it; one bad item never fails its
//! neighbours; an answer that was lost on the way is asked for again, not guessed.

use super::{
    failed::Failed,
    ingest_columns::{Columns, Item},
    ingest_found::Found,
    patience::Patience,
    server::Use,
    session::{Db, INGEST_WRITERS, Session},
    sql,
};
use crate::{
    Error, Result,
    outbox::{Ingested, NewNotification},
};
use domain::Status;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

/// Items in one statement, about; bodies are bounded too, since a message to the server has a largest size.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 8 << 20;

struct Request {
    items: Vec<Item>,
    answer: oneshot::Sender<Result<Vec<Ingested>>>,
}

#[derive(Debug)]
pub(super) struct Ingest {
    queue: mpsc::Sender<Request>,
}

impl Ingest {
    pub fn start(db: &Db, tasks: &TaskTracker, stop: &CancellationToken) -> Ingest {
        let (queue, waiting) = mpsc::channel(4_096);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..INGEST_WRITERS {
            let writer = Writer {
                db: db.clone(),
                waiting: waiting.clone(),
                stop: stop.clone(),
                lanes: HashSet::new(),
            };
            tasks.spawn(writer.run());
        }
        Ingest { queue }
    }

    pub async fn ingest(&self, batch: Vec<NewNotification>) -> Result<Vec<Ingested>> {
        let mut asked = vec![];
        let mut rest = batch.into_iter().map(Item::new).peekable();
        while rest.peek().is_some() {
            let mut bytes = 0;
            let mut items = vec![];
            while items.len() < BATCH && bytes < BATCH_BYTES {
                let Some(item) = rest.next() else { break };
                bytes += item.bytes();
                items.push(item);
            }
            let (answer, answered) = oneshot::channel();
            let request = Request { items, answer };
            self.queue.send(request).await.map_err(|_| super::closed())?;
            asked.push(answered);
        }
        let mut answers = vec![];
        for answered in asked {
            answers.extend(answered.await.map_err(|_| super::closed())??);
        }
        Ok(answers)
    }
}

struct Writer {
    db: Db,
    waiting: Arc<Mutex<mpsc::Receiver<Request>>>,
    stop: CancellationToken,
    /// The lanes that are known to be there; lanes are never deleted.
    lanes: HashSet<i64>,
}

impl Writer {
    async fn run(mut self) {
        loop {
            let requests = self.gather().await;
            if requests.is_empty() {
                return;
            }
            let (items, answers): (Vec<_>, Vec<_>) =
                requests.into_iter().map(|r| (r.items, r.answer)).unzip();
            let sizes: Vec<usize> = items.iter().map(Vec::len).collect();
            let items: Vec<Item> = items.into_iter().flatten().collect();
            match self.store(&items).await {
                Ok(results) => {
                    let mut results = results.into_iter();
                    for (answer, size) in answers.into_iter().zip(sizes) {
                        // Who no longer waits does not mind.
                        let _ = answer.send(Ok(results.by_ref().take(size).collect()));
                    }
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for answer in answers {
                        let _ = answer.send(Err(shared(&error)));
                    }
                }
            }
        }
    }

    /// What waits, up to about [`BATCH`] items. Empty when the store was closed and nothing is left.
    async fn gather(&self) -> Vec<Request> {
        let mut waiting = self.waiting.lock().await;
        let first = tokio::select! {
            first = waiting.recv() => first,
            () = self.stop.cancelled() => {
                waiting.close();
                waiting.recv().await
            }
        };
        let mut requests: Vec<Request> = first.into_iter().collect();
        let size = |r: &Request| (r.items.len(), r.items.iter().map(Item::bytes).sum::<usize>());
        let (mut items, mut bytes) = requests.first().map_or((0, 0), size);
        while items < BATCH
            && bytes < BATCH_BYTES
            && let Ok(request) = waiting.try_recv()
        {
            let (more, heavier) = size(&request);
            items += more;
            bytes += heavier;
            requests.push(request);
        }
        requests
    }

    /// One answer per item, in order.
    async fn store(&mut self, items: &[Item]) -> Result<Vec<Ingested>> {
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
                if answers[first] == Some(Ingested::Accepted) {
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
    async fn in_known_lanes(
        &mut self,
        items: &[Item],
        answers: &mut [Option<Ingested>],
    ) -> Result<Vec<usize>> {
        let unknown: HashSet<i64> = items
            .iter()
            .map(Item::lane)
            .filter(|l| !self.lanes.contains(l))
            .collect();
        if !unknown.is_empty() {
            let asked: Vec<i64> = unknown.into_iter().collect();
            let session = self.db.session(Use::Ingest).await?;
            let found = session.rows(sql::LANE_EXISTS, &[&asked]).await?;
            self.lanes.extend(found.iter().map(|row| row.get::<_, i64>(0)));
        }
        let (known, strange): (Vec<usize>, Vec<usize>) =
            (0..items.len()).partition(|i| self.lanes.contains(&items[*i].lane()));
        for i in strange {
            answers[i] = Some(Ingested::Refused(format!("there is no lane {}", items[i].lane())));
        }
        Ok(known)
    }
}

/// The same failure for everybody who waited for this commit.
fn shared(error: &Arc<Error>) -> Error {
    match &**error {
        Error::UnknownCommit(_) => Error::UnknownCommit(Box::new(error.clone())),
        _ => Error::Unavailable(Box::new(error.clone())),
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
    let mut patience = Patience::new("ingest");
    loop {
        match once(db, items).await {
            Ok(mut found) => {
                // Rows that are younger than the first try were committed by it.
                found.ours_since = patience.maybe_committed().map(|age| age + Duration::from_secs(1));
                return Ok(found);
            }
            Err(failed) => patience.after(failed).await?,
        }
    }
}

async fn once(db: &Db, items: &[&Item]) -> Result<Found, Failed> {
    let columns = Columns::of(items);
    let now = db.now();
    let params = columns.params(&now, &db.node);
    let mut session = db.session(Use::Ingest).await?;
    let replacing = columns.superseding();
    let mut found = Found::default();
    if replacing.is_empty() {
        found.accept(&session.rows(sql::INGEST, &params).await?);
    } else {
        let tx = session.begin().await?;
        let (tenants, keys): (Vec<i32>, Vec<&str>) =
            replacing.iter().map(|i| (i.key().0, i.supersede_key())).unzip();
        tx.rows(sql::INGEST_SUPERSEDE_LOCK, &[&tenants, &keys]).await?;
        found.accept(&tx.rows(sql::INGEST, &params).await?);
        let newest = found.newest_per_key(&replacing);
        let (mut tenants, mut keys, mut seqs, mut ids) = (vec![], vec![], vec![], vec![]);
        for ((tenant, key), (seq, id)) in newest {
            tenants.push(tenant);
            keys.push(key);
            seqs.push(seq);
            ids.push(id);
        }
        let params: super::session::Params<'_> = &[&now, &db.node, &tenants, &keys, &seqs, &ids];
        tx.rows(sql::INGEST_SUPERSEDE, params).await?;
        tx.commit().await?;
    }
    if found.accepted.len() < items.len() {
        let old = items
            .iter()
            .map(|i| i.key())
            .filter(|key| !found.accepted.contains_key(key));
        let (tenants, ids): (Vec<i32>, Vec<Uuid>) = old.unzip();
        found.know(&session.rows(sql::INGEST_KNOWN, &[&now, &tenants, &ids]).await?)?;
    }
    Ok(found)
}
