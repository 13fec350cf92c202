//! The pools, and the few ways in which a statement is run.
//!
//! Always true: a statement is prepared once per connection; no call waits longer than [`ANSWER_TIMEOUT`] for the server; a
//! connection that failed is never handed out again.

use super::{
    failed::Failed,
    outbox::claim_starts::ClaimStarts,
    server::{STATEMENT_TIMEOUT, Server, Use},
    sql,
    types::At,
};
use crate::{Error, Result};
use deadpool_postgres::{
    Client, GenericClient, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Transaction,
};
use domain::Clock;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio_postgres::{IsolationLevel, Row, types::ToSql};

/// The server ends a statement after [`STATEMENT_TIMEOUT`]; one that cannot even say so is given up.
const ANSWER_TIMEOUT: Duration = STATEMENT_TIMEOUT.saturating_add(Duration::from_secs(5));
/// For a free connection of the pool.
const POOL_TIMEOUT: Duration = Duration::from_secs(10);
/// For a new connection, all hosts together.
const CREATE_TIMEOUT: Duration = Duration::from_secs(8);

/// Whose clock decides what is due.
#[derive(Clone)]
pub enum StoreTime {
    /// The database server's: nodes whose clocks disagree still agree.
    Database,
    /// A clock that is given, for tests.
    Fixed(Arc<dyn Clock>),
}

impl fmt::Debug for StoreTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreTime::Database => "Database",
            StoreTime::Fixed(_) => "Fixed",
        })
    }
}

pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The pools of one node.
#[derive(Clone)]
pub(super) struct Db {
    general: Pool,
    ingest: Pool,
    claim: Pool,
    record: Pool,
    time: StoreTime,
    /// Names this node in `stats` and in signals.
    pub node: String,
    pub claim_starts: Arc<ClaimStarts>,
}

/// Connections that write ingest batches; more were slower.
pub(super) const INGEST_WRITERS: usize = 2;

impl Db {
    pub fn new(server: &Server, time: StoreTime, node: &str) -> Result<Db> {
        let pool = |for_use, size| {
            let fast = ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            };
            let manager = Manager::from_config(server.config(for_use), server.tls.clone(), fast);
            Pool::builder(manager)
                .max_size(size)
                .wait_timeout(Some(POOL_TIMEOUT))
                .create_timeout(Some(CREATE_TIMEOUT))
                .recycle_timeout(Some(CREATE_TIMEOUT))
                .runtime(Runtime::Tokio1)
                .build()
                .map_err(Error::unavailable)
        };
        Ok(Db {
            general: pool(Use::General, 8)?,
            ingest: pool(Use::Ingest, INGEST_WRITERS)?,
            claim: pool(Use::Claim, 3)?,
            record: pool(Use::Record, 6)?,
            time,
            node: node.to_owned(),
            claim_starts: Arc::default(),
        })
    }

    /// The `$now` of every statement: none means that the database looks at its own clock.
    pub fn now(&self) -> Option<At> {
        match &self.time {
            StoreTime::Database => None,
            StoreTime::Fixed(clock) => Some(At(clock.now())),
        }
    }

    pub async fn session(&self, for_use: Use) -> Result<Conn, Failed> {
        let pool = match for_use {
            Use::General | Use::Migrate => &self.general,
            Use::Ingest => &self.ingest,
            Use::Claim => &self.claim,
            Use::Record => &self.record,
        };
        Ok(Conn {
            client: Some(pool.get().await?),
            broken: AtomicBool::new(false),
        })
    }

    /// A session for people's doings.
    pub async fn general(&self) -> Result<Conn, Failed> {
        self.session(Use::General).await
    }

    pub fn close(&self) {
        for pool in [&self.general, &self.ingest, &self.claim, &self.record] {
            pool.close();
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

/// A connection of a pool. Each statement is its own transaction.
pub(super) struct Conn {
    client: Option<Client>,
    broken: AtomicBool,
}

/// A transaction. Dropped without [`Tx::commit`] it is rolled back.
pub(super) struct Tx<'a> {
    tx: Transaction<'a>,
    broken: &'a AtomicBool,
}

impl Conn {
    fn client(&self) -> &Client {
        self.client.as_ref().expect("taken only when dropped")
    }

    pub async fn begin(&mut self) -> Result<Tx<'_>, Failed> {
        self.begin_as(IsolationLevel::ReadCommitted, false).await
    }

    /// Everything read in it is of one moment.
    pub async fn snapshot(&mut self) -> Result<Tx<'_>, Failed> {
        let tx = self.begin_as(IsolationLevel::RepeatableRead, true).await?;
        // The moment comes after this: a queue that is compacted later than that would look empty.
        tx.exec(sql::lock_due, &[]).await?;
        Ok(tx)
    }

    async fn begin_as(&mut self, level: IsolationLevel, read_only: bool) -> Result<Tx<'_>, Failed> {
        let broken = &self.broken;
        let client = self.client.as_mut().expect("taken only when dropped");
        let starting = client
            .build_transaction()
            .isolation_level(level)
            .read_only(read_only)
            .start();
        let tx = answered(broken, starting).await?;
        Ok(Tx { tx, broken })
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if self.broken.load(Ordering::Relaxed)
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

impl Tx<'_> {
    pub async fn commit(self) -> Result<(), Failed> {
        answered(self.broken, self.tx.commit()).await
    }

    /// Lets go of its locks before the caller goes on. A dropped transaction is rolled back too, but a moment later,
    /// and a claim that comes in between would skip the rows it has locked.
    pub async fn rollback(self) -> Result<(), Failed> {
        answered(self.broken, self.tx.rollback()).await
    }
}

/// What a connection and a transaction have in common.
pub(super) trait Session: Sync {
    type Inner: GenericClient + Sync;

    fn inner(&self) -> (&Self::Inner, &AtomicBool);

    fn rows<'a>(
        &'a self,
        sql: &'static str,
        params: Params<'a>,
    ) -> impl Future<Output = Result<Vec<Row>, Failed>> + Send + 'a {
        async move {
            let (client, broken) = self.inner();
            answered(broken, async {
                let statement = client.prepare_cached(sql).await?;
                client.query(&statement, params).await
            })
            .await
        }
    }

    fn opt<'a>(
        &'a self,
        sql: &'static str,
        params: Params<'a>,
    ) -> impl Future<Output = Result<Option<Row>, Failed>> + Send + 'a {
        async move { Ok(self.rows(sql, params).await?.into_iter().next()) }
    }

    fn one<'a>(
        &'a self,
        sql: &'static str,
        params: Params<'a>,
    ) -> impl Future<Output = Result<Row, Failed>> + Send + 'a {
        async move {
            let row = self.opt(sql, params).await?;
            row.ok_or_else(|| Failed::Server("a row was expected and none came".into()))
        }
    }

    /// How many rows it changed.
    fn exec<'a>(
        &'a self,
        sql: &'static str,
        params: Params<'a>,
    ) -> impl Future<Output = Result<u64, Failed>> + Send + 'a {
        async move {
            let (client, broken) = self.inner();
            answered(broken, async {
                let statement = client.prepare_cached(sql).await?;
                client.execute(&statement, params).await
            })
            .await
        }
    }
}

impl Session for Conn {
    type Inner = Client;
    fn inner(&self) -> (&Client, &AtomicBool) {
        (self.client(), &self.broken)
    }
}

impl<'t> Session for Tx<'t> {
    type Inner = Transaction<'t>;
    fn inner(&self) -> (&Transaction<'t>, &AtomicBool) {
        (&self.tx, self.broken)
    }
}

/// Waits for the server, but not for ever.
async fn answered<T>(
    broken: &AtomicBool,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Failed> {
    let result = match tokio::time::timeout(ANSWER_TIMEOUT, work).await {
        Ok(result) => result.map_err(Failed::from),
        Err(_) => Err(Failed::timed_out(ANSWER_TIMEOUT)),
    };
    if let Err(Failed::Lost(_)) = &result {
        broken.store(true, Ordering::Relaxed);
    }
    result
}
