//! Inside a transaction of tokio-postgres.

use crate::{Event, postgres};
use tokio_postgres::{Error, GenericClient};

impl Event<'_> {
    /// Adds the event to the transaction; answers with its id.
    pub async fn emit(&self, tx: &impl GenericClient) -> Result<String, Error> {
        let p = self.parameters();
        let row = tx
            .query_one(
                postgres::INSERT,
                &[
                    &p.id,
                    &p.tenant,
                    &p.topic,
                    &p.event_type,
                    &p.entity_type,
                    &p.entity_id,
                    &p.payload,
                    &p.schema_version,
                    &p.correlation_id,
                    &p.due_at,
                ],
            )
            .await?;
        Ok(row.get(0))
    }
}
