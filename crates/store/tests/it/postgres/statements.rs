//! Every statement is prepared against a migrated schema: instead of checking SQL when compiling, when testing.

use super::Schema;
use crate::prepared::statements;
use domain::ManualClock;
use std::sync::Arc;

#[tokio::test]
async fn every_postgres_statement_is_one_and_fits_the_schema() {
    let schema = Schema::fresh();
    let _store = schema.open(&Arc::new(ManualClock::default()), "one").await;
    let admin = schema.admin().await;
    for (name, sql) in statements("src/postgres") {
        let prepared = admin.prepare(&sql).await;
        assert!(prepared.is_ok(), "{name}: {:?}", prepared.unwrap_err());
        // The body of a block is a text to the server.
        let outside = sql.split("$$").step_by(2).collect::<String>();
        assert!(
            !outside.trim_end().ends_with(';') && !outside.contains(";\n"),
            "{name}: one statement, no semicolon"
        );
    }
}
