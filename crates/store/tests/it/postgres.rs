//! The suite on PostgreSQL: a schema of its own for each case, on the server in `WAYPOST_TEST_POSTGRES`. Without a
//! server the cases fail, they never skip; `scripts/postgres start DIR` gives one, and its removal takes the schemas.

use crate::harness::TestStore;
use domain::ManualClock;
use std::sync::Arc;
use store::postgres::{PgStore, StoreTime};

/// The URL of a schema that nobody has used yet.
pub fn fresh_url() -> String {
    let server = std::env::var("WAYPOST_TEST_POSTGRES").expect(
        "set WAYPOST_TEST_POSTGRES to a PostgreSQL URL; `scripts/postgres start DIR` starts a server and prints one",
    );
    let and = if server.contains('?') { '&' } else { '?' };
    format!("{server}{and}schema=t_{}", uuid::Uuid::new_v4().simple())
}

pub async fn open_test_store() -> TestStore {
    let clock = Arc::new(ManualClock::default());
    let store = open(&fresh_url(), &clock, "one").await;
    TestStore::new(Arc::new(store), clock, ())
}

/// A node on a schema that others may use too.
pub async fn open(url: &str, clock: &Arc<ManualClock>, node: &str) -> PgStore {
    PgStore::open(url, StoreTime::Fixed(clock.clone()), node.into())
        .await
        .expect("the store should open")
}
