//! A few read-only connections for queries. Each query sees one snapshot and is short, so that the log can be
//! moved into the file behind it.

use super::{
    closed,
    connection::{self, Caches},
};
use crate::{Error, Result};
use domain::lock::lock;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use tokio::sync::Semaphore;

/// As many queries as a busy console asks at once.
pub(super) const CENTRAL: u32 = 4;

#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    caches: Caches,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    connections: u32,
    /// Queries run where they are asked for, not beside.
    inline: bool,
}

impl Readers {
    pub(crate) fn open(path: &Path, connections: u32, caches: Caches) -> Result<Self> {
        let idle = (0..connections)
            .map(|_| connection::reader(path, caches))
            .collect::<Result<_>>()?;
        Ok(Self {
            path: path.to_owned(),
            caches,
            idle: Arc::new(Mutex::new(idle)),
            permits: Arc::new(Semaphore::new(connections as usize)),
            connections,
            inline: false,
        })
    }

    /// For simulations: no other thread has a part in the answer.
    pub(crate) fn inline(self) -> Self {
        Self { inline: true, ..self }
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (idle, path, caches) = (self.idle.clone(), self.path.clone(), self.caches);
        let query = move || {
            let _permit = permit;
            let taken = lock(&idle).pop();
            // A query that panicked took its connection with it.
            let conn = taken.map_or_else(|| connection::reader(&path, caches), Ok)?;
            let answer = on_snapshot(&conn, work);
            lock(&idle).push(conn);
            answer
        };
        if self.inline {
            return query();
        }
        tokio::task::spawn_blocking(query)
            .await
            .map_err(Error::unavailable)?
    }

    /// Waits for the queries under way and closes their connections.
    pub(crate) async fn close(&self) {
        let all = self.permits.acquire_many(self.connections).await;
        self.permits.close();
        drop(all);
        lock(&self.idle).clear();
    }
}

fn on_snapshot<T>(conn: &Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    connection::begin_read(conn)?;
    let answer = work(conn);
    connection::rollback(conn)?;
    answer
}
