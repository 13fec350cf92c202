//! A real store that goes away with its test: SQLite in a temporary folder, or a schema of its own on PostgreSQL.

use domain::{Clock, ManualClock};
use std::sync::Arc;
use store::{
    Store,
    postgres::{PgStore, StoreTime},
    sqlite::SqliteStore,
};
use tempfile::TempDir;

/// Which database a case runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    /// The server in `WAYPOST_TEST_POSTGRES`; without one the case fails, it never skips.
    Postgres,
}

/// Keeps the folder alive as long as the store is in use.
#[derive(Debug)]
pub struct TempStore {
    pub store: Arc<dyn Store>,
    pub clock: Arc<ManualClock>,
    pub folder: TempDir,
}

impl TempStore {
    /// A fresh store on a clock that stands still until it is moved.
    pub fn open() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let clock = Arc::new(ManualClock::default());
        let ticking: Arc<dyn Clock> = clock.clone();
        let store = SqliteStore::open(&folder.path().join("waypost.db"), ticking).expect("a fresh store");
        Self {
            store: Arc::new(store),
            clock,
            folder,
        }
    }

    /// The same on either database.
    pub async fn open_on(database: Database) -> Self {
        match database {
            Database::Sqlite => Self::open(),
            Database::Postgres => Self::open_postgres().await,
        }
    }

    async fn open_postgres() -> Self {
        let clock = Arc::new(ManualClock::default());
        let time = StoreTime::Fixed(clock.clone());
        let store = PgStore::open(&fresh_schema(), time, "one".into()).await;
        Self {
            store: Arc::new(store.expect("a fresh store")),
            clock,
            folder: TempDir::new().expect("a temporary folder"),
        }
    }
}

/// A schema that nobody has used yet, as the URL of a store. The server's removal takes it.
pub fn fresh_schema() -> String {
    let server = std::env::var("WAYPOST_TEST_POSTGRES").expect(
        "set WAYPOST_TEST_POSTGRES to a PostgreSQL URL; `scripts/postgres start DIR` starts a server and prints one",
    );
    let and = if server.contains('?') { '&' } else { '?' };
    format!("{server}{and}schema=t_{}", uuid::Uuid::new_v4().simple())
}
