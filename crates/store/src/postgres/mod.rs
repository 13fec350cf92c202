//! PostgreSQL: for more than one node, or for a database that others already look after.
//!
//! Each job has sessions of its own: two write what is ingested (grouped, [`outbox::ingest`]), a few claim without waiting
//! for the disk (`outbox::claim`), a few write outcomes (`outbox::record`), the rest serve people. One more listens ([`signals`]).
//!
//! Always true: leases and due times are compared with the database's clock; an answer that says "stored" was
//! committed with `synchronous_commit = on`; nothing waits for ever for a server that does not answer; every
//! statement is a file in the `sql/` of its job.

mod audit;
mod commit_retry;
mod directory;
mod events;
mod failed;
mod failover;
mod jobs;
mod maintenance;
mod migrate;
mod operator;
mod outbox;
mod query;
mod receipts;
mod rows;
mod server;
mod session;
mod signals;
mod sites;
mod sql;
mod stats;
mod suppressions;
mod templates;
pub(crate) mod tls;
mod types;
pub(crate) mod url;
mod users;

pub use migrate::migrate;
pub use session::StoreTime;

use crate::{Error, Result, loops::Loops};
use outbox::ingest::Ingest;
use receipts::Inbox;
use server::Server;
use session::Db;
use signals::SignalBus;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The store on PostgreSQL. Cheap to share as `Arc<dyn Store>`.
#[derive(Debug)]
pub struct PgStore {
    db: Db,
    ingest: Ingest,
    inbox: Inbox,
    signals: SignalBus,
    tasks: TaskTracker,
    stop: CancellationToken,
    loops: Loops,
}

impl PgStore {
    /// Connects, migrates if need be, and starts the group commit and the listener. `node` names this process among
    /// those that share the database; it uses up to 18 connections.
    ///
    /// `url` is a PostgreSQL URL, with several hosts if need be (the one that takes writes is used), and `schema` for
    /// where the tables live (`waypost` if not given). `sslmode=require` or stricter checks the certificate, against
    /// the public roots or `sslrootcert`.
    pub async fn open(url: &str, time: StoreTime, node: String) -> Result<PgStore> {
        let server = Server::parse(url)?;
        migrate::migrate_server(&server).await?;
        let db = Db::new(&server, time, &node)?;
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let loops = Loops::default();
        let ingest = Ingest::start(&db, &tasks, &stop, &loops);
        let signals = SignalBus::start(&db, &server, &tasks, &stop, &loops);
        tasks.close();
        Ok(PgStore {
            inbox: Inbox::of(&db),
            db,
            ingest,
            signals,
            tasks,
            stop,
            loops,
        })
    }

    /// The tasks that this store cannot do without.
    pub fn loops(&self) -> Loops {
        self.loops.clone()
    }
}

/// Connects and goes away again: whether the server is there and lets us in. Changes nothing.
pub async fn reach(url: &str) -> Result<()> {
    let server = Server::parse(url)?;
    server.connect(server::Use::General).await.map(drop)
}

/// The settings of a session of the store, for tests that look at plans.
#[doc(hidden)]
pub fn session_config(url: &str, hot: bool) -> Result<tokio_postgres::Config> {
    let for_use = if hot {
        server::Use::Record
    } else {
        server::Use::General
    };
    Ok(Server::parse(url)?.config(for_use))
}

/// Dropping the store without closing it still ends its tasks; what was queued is written first.
impl Drop for PgStore {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What later calls are told after `close`.
fn closed() -> Error {
    Error::unavailable("the store is closed")
}
