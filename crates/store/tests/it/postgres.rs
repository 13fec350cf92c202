//! The suite on PostgreSQL: a schema of its own for each case, on the server in `WAYPOST_TEST_POSTGRES`. Without a
//! server the cases fail, they never skip; `scripts/postgres start DIR` gives one, and its removal takes the schemas.
//! Below are the promises that only PostgreSQL makes: several nodes, broken connections, plans.

mod link;
mod long_reader;
mod nodes;
mod plans;
mod producers;
mod purge_races;
mod receipts;
mod repeats;
mod statements;
mod trouble;
mod upgrade;

use crate::harness::TestStore;
use domain::ManualClock;
use std::sync::Arc;
use store::postgres::{PgStore, StoreTime};
use tokio_postgres::{Client, NoTls};

fn server() -> String {
    std::env::var("WAYPOST_TEST_POSTGRES").expect(
        "set WAYPOST_TEST_POSTGRES to a PostgreSQL URL; `scripts/postgres start DIR` starts a server and prints one",
    )
}

/// A schema that nobody has used yet.
pub struct Schema {
    name: String,
    server: String,
}

impl Schema {
    pub fn fresh() -> Self {
        Self {
            name: format!("t_{}", uuid::Uuid::new_v4().simple()),
            server: server(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sessions carry the schema's name, so that a test can find its own.
    pub fn url(&self) -> String {
        self.url_at(&self.server)
    }

    fn url_at(&self, server: &str) -> String {
        let and = if server.contains('?') { '&' } else { '?' };
        format!("{server}{and}schema={0}&application_name={0}", self.name)
    }

    /// A node on the schema.
    pub async fn open(&self, clock: &Arc<ManualClock>, node: &str) -> PgStore {
        open(&self.url(), clock, node).await
    }

    /// A session of the test's own, to look and to break things.
    pub async fn admin(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await.unwrap();
        tokio::spawn(connection);
        let path = format!("set search_path to {}", self.name);
        client.batch_execute(&path).await.unwrap();
        client
    }
}

pub async fn open(url: &str, clock: &Arc<ManualClock>, node: &str) -> PgStore {
    PgStore::open(url, StoreTime::Fixed(clock.clone()), node.into())
        .await
        .expect("the store should open")
}

pub async fn open_test_store() -> TestStore {
    let clock = Arc::new(ManualClock::default());
    let store = Schema::fresh().open(&clock, "one").await;
    TestStore::new(Arc::new(store), clock, ())
}
