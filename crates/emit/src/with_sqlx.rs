//! Inside a transaction of sqlx, on PostgreSQL. (For SQLite there is rusqlite: a program has room for one SQLite library.)

use crate::{Event, postgres};
use sqlx::{Error, PgConnection};

impl Event<'_> {
    /// Adds the event to the transaction this connection is in (`&mut *tx`); answers with its id.
    pub async fn emit_with_sqlx(&self, conn: &mut PgConnection) -> Result<String, Error> {
        let p = self.parameters();
        sqlx::query_scalar(postgres::INSERT)
            .bind(p.id)
            .bind(p.tenant)
            .bind(p.topic)
            .bind(p.event_type)
            .bind(p.entity_type)
            .bind(p.entity_id)
            .bind(p.payload)
            .bind(p.schema_version)
            .bind(p.correlation_id)
            .bind(p.due_at)
            .fetch_one(conn)
            .await
    }
}
