//! A buffer in a folder that goes away with it.

use domain::{
    ManualClock,
    site::{Category, DatabaseIdentity},
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use store::{
    Buffer,
    buffer::{Enqueued, Message, MessageId, NewMessage, Options, Origin, Start, Ticket},
};
use tempfile::TempDir;
use uuid::Uuid;

pub struct Place {
    pub folder: TempDir,
    pub clock: Arc<ManualClock>,
    pub options: Options,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            options: Options::at(folder.path().join("sf.db")),
            folder,
            clock: Arc::new(ManualClock::default()),
        }
    }

    pub fn file(&self) -> PathBuf {
        self.options.path.clone()
    }

    pub fn open(&self) -> Buffer {
        Buffer::open(&self.options, self.clock.clone()).unwrap()
    }
}

pub fn identity(epoch: &str) -> DatabaseIdentity {
    DatabaseIdentity {
        id: Uuid::nil(),
        epoch: epoch.into(),
    }
}

pub fn a_message(category: Category, target: &str) -> NewMessage {
    NewMessage {
        id: MessageId(Uuid::now_v7()),
        category,
        target: target.into(),
        payload: format!("{{\"to\":\"{target}\"}}"),
        summary: None,
        max_retries: if category == Category::Notification { 0 } else { 50 },
        retry_interval: Duration::from_secs(30),
        origin: Origin::default(),
        content_hash: 7,
    }
}

pub async fn put(buffer: &Buffer, message: NewMessage) -> Ticket {
    match buffer.enqueue(message, Start::Queued).await.unwrap() {
        Enqueued::New(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

pub async fn get(buffer: &Buffer, id: MessageId) -> Option<Message> {
    buffer.message(id).await.unwrap()
}

/// Changes the bytes of one payload in the file itself, which nobody has open: the row, its page and every index of
/// SQLite stay well-formed.
pub fn flip(file: &std::path::Path, payload: &str, damaged: &[u8]) {
    assert_eq!(payload.len(), damaged.len());
    let mut bytes = std::fs::read(file).unwrap();
    let places: Vec<_> = bytes
        .windows(payload.len())
        .enumerate()
        .filter(|(_, found)| *found == payload.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "{payload:?} is not in the file");
    for at in places {
        bytes[at..at + damaged.len()].copy_from_slice(damaged);
    }
    std::fs::write(file, bytes).unwrap();
}

/// The file as a kill would leave it, its log beside it.
pub fn as_killed(place: &Place, to: &std::path::Path) {
    for suffix in ["-wal", ""] {
        let with = |path: &std::path::Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            name
        };
        std::fs::copy(with(&place.file()), with(to)).unwrap();
    }
}
