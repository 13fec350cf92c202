//! A few read-only connections for queries. Each query sees one snapshot and is short, so that the log can be
//! moved into the file behind it.

use super::{closed, connection};
use crate::{Error, Result};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Semaphore;

const CONNECTIONS: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let idle = (0..CONNECTIONS)
            .map(|_| connection::reader(path))
            .collect::<Result<_>>()?;
        Ok(Self {
            path: path.to_owned(),
            idle: Arc::new(Mutex::new(idle)),
            permits: Arc::new(Semaphore::new(CONNECTIONS)),
        })
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (idle, path) = (self.idle.clone(), self.path.clone());
        let query = move || {
            let _permit = permit;
            let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            // A query that panicked took its connection with it.
            let conn = taken.map_or_else(|| connection::reader(&path), Ok)?;
            let answer = on_snapshot(&conn, work);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            answer
        };
        tokio::task::spawn_blocking(query)
            .await
            .map_err(Error::unavailable)?
    }

    /// Waits for the queries under way and closes their connections.
    pub(super) async fn close(&self) {
        let all = self.permits.acquire_many(CONNECTIONS as u32).await;
        self.permits.close();
        drop(all);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn on_snapshot<T>(conn: &Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    connection::begin_read(conn)?;
    let answer = work(conn);
    connection::rollback(conn)?;
    answer
}
