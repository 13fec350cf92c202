//! An application that says in transactions of its own what happened.

use super::{Commit, connect, failed, sql};
use std::fmt;
use store::Result;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

pub struct Producer {
    client: Client,
    emit: Statement,
}

impl fmt::Debug for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Producer")
    }
}

impl Producer {
    pub async fn connect(url: &str) -> Result<Self> {
        let client = connect(url, Commit::Durable).await?;
        let emit = client.prepare(sql::EMIT).await.map_err(failed)?;
        Ok(Self { client, emit })
    }

    /// One transaction with one event; its id, once it is committed.
    pub async fn emit(&self, event_type: &str, entity: &str, payload: &str) -> Result<Uuid> {
        let row = self
            .client
            .query_one(&self.emit, &[&event_type, &entity, &payload])
            .await;
        Ok(row.map_err(failed)?.get(0))
    }
}
