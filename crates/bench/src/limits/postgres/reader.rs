//! Somebody who reads and does not finish: a report that runs for ten minutes, a forgotten session.

use super::{Commit, connect, failed, sql};
use store::{Error, Result};
use tokio::{sync::oneshot, task::JoinHandle};
use tokio_postgres::IsolationLevel;

/// Keeps a snapshot open until it is closed; while it is open, no row that it might see can be cleaned away.
#[derive(Debug)]
pub struct Reader {
    end: oneshot::Sender<()>,
    session: JoinHandle<Result<()>>,
}

impl Reader {
    /// The snapshot is open when this returns.
    pub async fn open(url: &str) -> Result<Self> {
        let mut client = connect(url, Commit::Durable).await?;
        let (end, ended) = oneshot::channel::<()>();
        let (opened, open) = oneshot::channel();
        let session = tokio::spawn(async move {
            let start = client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start();
            let snapshot = start.await.map_err(failed)?;
            snapshot.query(sql::LOOK, &[]).await.map_err(failed)?;
            let _ = opened.send(());
            let _ = ended.await;
            // Fails if the server has thrown the session out meanwhile.
            snapshot.query(sql::LOOK, &[]).await.map_err(failed)?;
            snapshot.commit().await.map_err(failed)
        });
        match open.await {
            Ok(()) => Ok(Self { end, session }),
            Err(_) => Err(session
                .await
                .map_err(Error::unavailable)?
                .err()
                .unwrap_or_else(|| Error::unavailable("no snapshot"))),
        }
    }

    /// An error if the snapshot was not there until now.
    pub async fn close(self) -> Result<()> {
        drop(self.end);
        self.session.await.map_err(Error::unavailable)?
    }
}
