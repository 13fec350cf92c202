//! The handle to the one thread that writes ([`super::writer_thread`]): sends it commands and waits for their answers.

use super::{
    checkpoint::Checkpointer,
    closed, connection,
    stats::Counts,
    writer_thread::{Task, Thread, Weighted},
};
use crate::{Error, Result};
use domain::{Clock, Timestamp};
use rusqlite::Connection;
use std::{
    fs::File,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};
use tokio::sync::{mpsc, oneshot, watch};

/// Commands that may wait; further callers wait to be let in.
const WAITING: usize = 1024;

/// What a command works with.
pub(super) struct Session<'a> {
    pub conn: &'a Connection,
    /// The store's clock, asked once for the command.
    pub now: Timestamp,
    pub counts: &'a mut Counts,
}

/// The handle to the writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    commands: Mutex<Option<mpsc::Sender<Weighted>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    poisoned: watch::Sender<bool>,
}

impl Writer {
    pub(super) fn start(path: &Path, clock: Arc<dyn Clock>, lock: Option<File>) -> Result<Self> {
        let (commands, waiting) = mpsc::channel(WAITING);
        let poisoned = watch::Sender::new(false);
        let thread = Thread {
            conn: connection::writer(path)?,
            clock,
            waiting,
            poisoned: poisoned.clone(),
            checkpointer: Checkpointer::start(path, poisoned.clone())?,
            _lock: lock,
        };
        let thread = std::thread::Builder::new()
            .name("waypost-writer".into())
            .spawn(move || thread.serve())
            .map_err(Error::unavailable)?;
        Ok(Self {
            commands: Mutex::new(Some(commands)),
            thread: Mutex::new(Some(thread)),
            poisoned,
        })
    }

    pub(super) fn poisoned(&self) -> watch::Receiver<bool> {
        self.poisoned.subscribe()
    }

    /// Commands that nobody has begun.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock_commands()
            .as_ref()
            .map_or(0, |c| c.max_capacity() - c.capacity())
    }

    /// Whether writes are still taken, and why not.
    pub(super) fn check(&self) -> Result<()> {
        if *self.poisoned.borrow() {
            Err(stopped())
        } else {
            Ok(())
        }
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.check()?;
        let (reply, answer) = oneshot::channel();
        let command = Box::new(Task {
            work,
            done: None,
            reply,
        });
        let commands = self.lock_commands().clone().ok_or_else(closed)?;
        let sent = commands.send(Weighted { weight, command }).await;
        sent.map_err(|_| stopped())?;
        // The thread answers everything it has taken, unless it died in between.
        answer
            .await
            .unwrap_or_else(|_| Err(Error::UnknownCommit("the writer stopped".into())))
    }

    /// Finishes what was sent and closes the file.
    pub(super) async fn close(&self) {
        self.lock_commands().take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn lock_commands(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Weighted>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lock_commands().take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// What later writes are told after the disk failed.
pub(super) fn stopped() -> Error {
    Error::unavailable("the writer stopped after an I/O error; what is on disk is unknown until a restart")
}
