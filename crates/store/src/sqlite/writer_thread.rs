//! The thread that writes: it takes the commands that have gathered and runs them in one transaction.

use super::{
    checkpoint::Checkpointer,
    transaction::{Command, Core},
};
use tokio::sync::{mpsc, watch};

/// About how many rows one commit takes on before it answers.
const GROUP: usize = 5_000;

/// A command and about how many rows it touches.
pub(super) struct Weighted {
    pub weight: usize,
    pub command: Box<dyn Command>,
}

pub(super) struct Thread {
    pub core: Core,
    pub waiting: mpsc::Receiver<Weighted>,
    pub checkpointer: Checkpointer,
}

impl Thread {
    /// Runs until the last sender is gone.
    pub(super) fn serve(mut self) {
        let _guard = PoisonOnPanic(self.core.poisoned.clone());
        while let Some(first) = self.waiting.blocking_recv() {
            let mut weight = first.weight;
            let mut group = vec![first.command];
            while weight < GROUP
                && let Ok(next) = self.waiting.try_recv()
            {
                weight += next.weight;
                group.push(next.command);
            }
            self.core.run(group);
            if self.core.was_full() {
                self.checkpointer.shrink();
            } else {
                self.checkpointer.committed();
            }
        }
    }
}

/// A writer that dies of a bug is as good as one whose disk failed.
struct PoisonOnPanic(watch::Sender<bool>);

impl Drop for PoisonOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send_replace(true);
        }
    }
}
