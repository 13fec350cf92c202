//! Group commit: whoever ingests puts items into a queue; what has gathered there is committed at once. Who is alone commits
//! without the queue: there is nobody to share with, and every hand that a message goes through costs some microseconds.
//!
//! Always true: an item is answered `Accepted` only after the commit that holds it; nobody waits for others to come,
//! only for a commit that is under way.

use super::{ingest_columns::Item, ingest_write::Writer};
use crate::{
    Error, Result,
    loops::Loops,
    outbox::{Ingested, NewNotification},
    postgres::session::{Db, INGEST_WRITERS},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Items in one statement, about; bodies are bounded too, since a message to the server has a largest size.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 8 << 20;
/// With so many items waiting a second commit starts beside the first: the server writes down both with one flush. For
/// fewer it is not worth the processor.
const WORTH_ANOTHER: usize = 16;

/// After so many commits in a row that were one caller's, that caller is taken to be alone. Among many, one commit now and then
/// is a single one by chance.
const SINGLES: u32 = 4;

struct Request {
    items: Vec<Item>,
    answer: oneshot::Sender<Result<Vec<Ingested>>>,
}

#[derive(Debug)]
pub(in crate::postgres) struct Ingest {
    queue: mpsc::Sender<Request>,
    writer: Writer,
    alone: Arc<Alone>,
}

/// Whether the last commits were one caller's, and nobody has come since.
#[derive(Debug, Default)]
struct Alone {
    quiet: AtomicBool,
    /// Goes up with everybody who queues.
    queued: AtomicU64,
}

impl Alone {
    /// Whether this caller may commit by itself; the next one has to queue until it says it is over.
    fn begin(&self) -> Option<u64> {
        let queued = self.queued.load(Ordering::Acquire);
        self.quiet.swap(false, Ordering::AcqRel).then_some(queued)
    }

    /// A commit for one caller is over, which began when so many had queued.
    fn over(&self, queued: u64) {
        if self.queued.load(Ordering::Acquire) == queued {
            self.quiet.store(true, Ordering::Release);
        }
    }

    fn queue(&self) {
        self.queued.fetch_add(1, Ordering::AcqRel);
        self.quiet.store(false, Ordering::Release);
    }
}

impl Ingest {
    pub fn start(db: &Db, tasks: &TaskTracker, stop: &CancellationToken, loops: &Loops) -> Ingest {
        let (queue, waiting) = mpsc::channel(4_096);
        let (writer, alone) = (Writer::new(db.clone()), Arc::<Alone>::default());
        let grouping = Grouping {
            writer: writer.clone(),
            alone: alone.clone(),
            waiting,
            group: Group::default(),
            under_way: JoinSet::new(),
            received: 0,
            singles: 0,
        };
        let run = grouping.run(stop.clone());
        tasks.spawn(loops.watch_until("taking notifications in", stop.clone(), run));
        Ingest { queue, writer, alone }
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
            let all = asked.is_empty() && rest.peek().is_none();
            if all
                && !self.queue.is_closed()
                && let Some(queued) = self.alone.begin()
            {
                let answers = self.writer.store(&items).await;
                self.alone.over(queued);
                return answers;
            }
            self.alone.queue();
            let (answer, answered) = oneshot::channel();
            let request = Request { items, answer };
            self.queue
                .send(request)
                .await
                .map_err(|_| crate::postgres::closed())?;
            asked.push(answered);
        }
        let mut answers = vec![];
        for answered in asked {
            answers.extend(answered.await.map_err(|_| crate::postgres::closed())??);
        }
        Ok(answers)
    }
}

/// What waits for the next commit.
#[derive(Default)]
struct Group {
    requests: Vec<Request>,
    items: usize,
    bytes: usize,
}

impl Group {
    fn add(&mut self, request: Request) {
        self.items += request.items.len();
        self.bytes += request.items.iter().map(Item::bytes).sum::<usize>();
        self.requests.push(request);
    }

    fn is_full(&self) -> bool {
        self.items >= BATCH || self.bytes >= BATCH_BYTES
    }
}

struct Grouping {
    writer: Writer,
    alone: Arc<Alone>,
    waiting: mpsc::Receiver<Request>,
    group: Group,
    /// Commits, each with how many waited for it.
    under_way: JoinSet<usize>,
    /// Everybody who has queued so far.
    received: u64,
    /// Commits in a row that were one caller's.
    singles: u32,
}

impl Grouping {
    /// Returns when the store was closed and everything that was queued is answered.
    async fn run(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                request = self.waiting.recv(), if !self.group.is_full() => match request {
                    Some(request) => self.add(request),
                    None => break,
                },
                Some(over) = self.under_way.join_next() => {
                    if over.is_ok_and(|callers| callers > 1) {
                        self.singles = 0;
                        callers_come_back().await;
                    } else if self.under_way.is_empty() && self.group.requests.is_empty() {
                        self.singles += 1;
                        if self.singles >= SINGLES {
                            self.alone.over(self.received);
                        }
                    }
                }
                () = stop.cancelled(), if !self.waiting.is_closed() => self.waiting.close(),
            }
            while !self.group.is_full()
                && let Ok(request) = self.waiting.try_recv()
            {
                self.add(request);
            }
            self.commit_if_due();
        }
        while !self.group.requests.is_empty() || !self.under_way.is_empty() {
            self.commit_if_due();
            self.under_way.join_next().await;
        }
    }

    fn add(&mut self, request: Request) {
        self.received += 1;
        self.group.add(request);
    }

    fn commit_if_due(&mut self) {
        let due = match self.under_way.len() {
            0 => !self.group.requests.is_empty(),
            others => others < INGEST_WRITERS && (self.group.items >= WORTH_ANOTHER || self.group.is_full()),
        };
        if due {
            let group = std::mem::take(&mut self.group);
            self.under_way.spawn(commit(self.writer.clone(), group.requests));
        }
    }
}

/// Who was just answered often has more to send. The first one back would have the next commit to itself, and all the
/// others would wait for it; a turn later they share it.
async fn callers_come_back() {
    for _ in 0..2 {
        tokio::task::yield_now().await;
    }
}

async fn commit(writer: Writer, requests: Vec<Request>) -> usize {
    let callers = requests.len();
    let (items, answers): (Vec<_>, Vec<_>) = requests.into_iter().map(|r| (r.items, r.answer)).unzip();
    let sizes: Vec<usize> = items.iter().map(Vec::len).collect();
    let items: Vec<Item> = items.into_iter().flatten().collect();
    match writer.store(&items).await {
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
    callers
}

/// The same failure for everybody who waited for this commit.
fn shared(error: &Arc<Error>) -> Error {
    match &**error {
        Error::UnknownCommit(_) => Error::UnknownCommit(Box::new(error.clone())),
        _ => Error::Unavailable(Box::new(error.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_alone_commits_without_the_queue() {
        let alone = Alone::default();
        assert_eq!(alone.begin(), None, "nobody knows yet");
        alone.over(0);
        let begun = alone.begin();
        assert_eq!(begun, Some(0));
        assert_eq!(alone.begin(), None, "another one while that commit is under way");
        alone.over(0);
        assert!(alone.begin().is_some());
    }

    #[test]
    fn whoever_queued_meanwhile_ends_it() {
        let alone = Alone::default();
        alone.over(0);
        let begun = alone.begin().unwrap();
        alone.queue();
        alone.over(begun);
        assert_eq!(alone.begin(), None);
        alone.over(1);
        assert_eq!(alone.begin(), Some(1), "until that one is answered and alone");
    }
}
