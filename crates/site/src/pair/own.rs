//! Messages that a standby accepted itself while the active one could not be reached. They are in a file beside its copy, and are
//! handed in when the active one is there, or taken in when this machine becomes it.
//!
//! Always true: what is accepted survives power loss, a whole copy and a change of roles; the file goes only when everything in it is
//! in the active one's.

use super::copying::PART_BYTES;
use domain::{
    Clock, TrackedOperationId,
    pair::{Row, Table, Value},
};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use store::{
    Buffer, Error, Result,
    buffer::{
        Enqueued, Message, MessageId, NewMessage, Options, Start, Tracking,
        replication::{own_file, remove_own_file},
    },
};
use tokio::sync::RwLock;

/// About how many bytes a standby keeps of its own.
const MOST_OWN_BYTES: u64 = 256 << 20;

/// The file beside the buffer, opened when it is needed.
#[derive(Debug)]
pub struct OwnRows {
    buffer: PathBuf,
    /// What this machine is called.
    node: String,
    /// As the buffer works.
    inline: bool,
    clock: Arc<dyn Clock>,
    file: RwLock<State>,
    /// How many there are, for those who look often.
    count: AtomicU64,
}

#[derive(Debug)]
enum State {
    /// There is none, or it has not been looked at.
    Shut,
    Open(Arc<Buffer>),
    /// The agent stops.
    Over,
}

/// The place of a row in the file.
pub(super) type Place = Value;

impl OwnRows {
    /// Those beside this buffer.
    pub fn beside(buffer: &Buffer, node: &str, clock: Arc<dyn Clock>) -> Self {
        Self {
            buffer: buffer.path().to_owned(),
            node: node.to_owned(),
            inline: buffer.is_inline(),
            clock,
            file: RwLock::new(State::Shut),
            count: AtomicU64::new(0),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Looks for what an earlier process accepted.
    pub async fn look(&self) -> Result<()> {
        if own_file(&self.buffer).exists() {
            self.open().await?;
        }
        Ok(())
    }

    async fn open(&self) -> Result<Arc<Buffer>> {
        let mut state = self.file.write().await;
        match &*state {
            State::Open(file) => return Ok(file.clone()),
            State::Over => return Err(Error::unavailable("the agent is stopping")),
            State::Shut => {}
        }
        let options = Options {
            node: self.node.clone(),
            inline: self.inline,
            max_bytes: MOST_OWN_BYTES,
            ..Options::at(own_file(&self.buffer))
        };
        let clock = self.clock.clone();
        let opened = tokio::task::spawn_blocking(move || Buffer::open(&options, clock));
        let file = Arc::new(opened.await.map_err(Error::unavailable)??);
        self.count.store(file.depth().waiting(), Ordering::Relaxed);
        *state = State::Open(file.clone());
        Ok(file)
    }

    pub(super) async fn opened(&self) -> Option<Arc<Buffer>> {
        match &*self.file.read().await {
            State::Open(file) => Some(file.clone()),
            State::Shut | State::Over => None,
        }
    }

    /// Keeps a message. When this says `New`, it survives power loss.
    pub async fn accept(&self, message: NewMessage) -> Result<Enqueued> {
        loop {
            {
                // Held until it is in: the file is not removed meanwhile.
                let state = self.file.read().await;
                if let State::Open(file) = &*state {
                    let done = file.enqueue(message, Start::Queued).await;
                    self.count.store(file.depth().waiting(), Ordering::Relaxed);
                    return done;
                }
            }
            self.open().await?;
        }
    }

    pub async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        match self.opened().await {
            Some(file) => file.message(id).await,
            None => Ok(None),
        }
    }

    pub async fn tracking(&self, id: TrackedOperationId) -> Result<Option<Tracking>> {
        match self.opened().await {
            Some(file) => file.tracking(id).await,
            None => Ok(None),
        }
    }

    /// The next messages behind this place, which those before it have left for good. None when there is nothing left: then the file
    /// is gone.
    pub(super) async fn behind(&self, place: Option<Place>) -> Result<Option<(Vec<Row>, Place)>> {
        let Some(file) = self.opened().await else {
            return Ok(None);
        };
        if let Some(found) = part(&file, place.clone()).await? {
            return Ok(Some(found));
        }
        let mut state = self.file.write().await;
        // One may have come since.
        if let Some(found) = part(&file, place).await? {
            return Ok(Some(found));
        }
        if let State::Open(file) = &*state {
            file.close().await;
        }
        *state = State::Shut;
        self.count.store(0, Ordering::Relaxed);
        remove_own_file(&self.buffer)?;
        Ok(None)
    }

    /// Takes everything into this buffer, which is the active one's. How many messages it did not know.
    pub async fn take_into(&self, buffer: &Buffer) -> Result<u64> {
        self.look().await?;
        let (mut taken, mut place) = (0, None);
        while let Some((rows, last)) = self.behind(place).await? {
            taken += buffer.take_handed_in(rows).await?.taken;
            place = Some(last);
        }
        if taken > 0 {
            tracing::warn!(
                n = taken,
                "messages that this machine accepted as the standby are its to send from here on"
            );
        }
        Ok(taken)
    }

    /// Closes the file; nothing is accepted any more.
    pub async fn close(&self) {
        let mut state = self.file.write().await;
        if let State::Open(file) = &*state {
            file.close().await;
        }
        *state = State::Over;
    }
}

async fn part(file: &Buffer, place: Option<Place>) -> Result<Option<(Vec<Row>, Place)>> {
    let part = file.copy_part(Table::Messages, place, PART_BYTES).await?;
    let last = part.rows.last().and_then(|row| row.first().map(Value::from));
    Ok(last.map(|last| (part.rows, last)))
}
