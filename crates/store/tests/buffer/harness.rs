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
