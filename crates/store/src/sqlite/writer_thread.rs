//! The thread that writes: it takes the commands that have gathered and runs them in one transaction.

use super::{
    checkpoint::Log,
    transaction::{Command, Core},
    under_way::UnderWay,
};
use std::time::{Duration, Instant};
use tokio::sync::{
    mpsc::{self, error::TryRecvError},
    watch,
};

/// About how many rows one commit takes on before it answers.
const GROUP_COMMIT_ROWS: usize = 5_000;

/// How long callers take to come back with more; a fraction of a commit.
const CALLER_RETURN_TIME: Duration = Duration::from_micros(50);

/// A command and about how many rows it touches.
pub(super) struct Weighted {
    pub weight: usize,
    pub command: Box<dyn Command>,
}

pub(super) struct Thread {
    pub core: Core,
    pub waiting: mpsc::Receiver<Weighted>,
    pub log: Log,
    pub under_way: UnderWay,
}

impl Thread {
    /// Runs until the last sender is gone.
    pub(super) fn serve(mut self) {
        let _guard = PoisonOnPanic(self.core.poisoned.clone());
        let mut last = 0;
        while let Some(first) = self.next() {
            self.under_way.begins();
            let group = self.gather(first, last);
            last = group.len();
            self.core.run(group);
            self.core.keep_short(&mut self.log);
            self.under_way.ends();
        }
    }
}

impl Thread {
    /// The next command; none when the last sender is gone. Looks for a moment before it sleeps: being woken takes about as
    /// long as a caller takes to come back.
    fn next(&mut self) -> Option<Weighted> {
        let until = Instant::now() + CALLER_RETURN_TIME;
        loop {
            match self.waiting.try_recv() {
                Ok(first) => return Some(first),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if Instant::now() > until => return self.waiting.blocking_recv(),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }

    /// What is there to be committed together. Callers who were answered a moment ago often have more: for as many as
    /// there were last time it waits a little, or the first one back would have a commit to itself.
    fn gather(&mut self, first: Weighted, last: usize) -> Vec<Box<dyn Command>> {
        let (mut weight, mut group) = (first.weight, vec![first.command]);
        let mut patience = None;
        while weight < GROUP_COMMIT_ROWS {
            match self.waiting.try_recv() {
                Ok(next) => {
                    weight += next.weight;
                    group.push(next.command);
                }
                Err(_) if group.len() < last => {
                    let until = *patience.get_or_insert_with(|| Instant::now() + CALLER_RETURN_TIME);
                    if Instant::now() > until {
                        break;
                    }
                    std::thread::yield_now();
                }
                Err(_) => break,
            }
        }
        group
    }
}

/// A writer that dies of a bug is as good as one whose disk failed.
struct PoisonOnPanic(watch::Sender<bool>);

impl Drop for PoisonOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("the thread that writes panicked; nothing is acknowledged from here on");
            self.0.send_replace(true);
        }
    }
}
