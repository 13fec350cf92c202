//! Inside a transaction of tokio-postgres.

use crate::{Event, postgres, sound};
use tokio_postgres::{Error, GenericClient};

impl Event<'_> {
    /// Adds the event to the transaction; answers with its id.
    pub async fn emit(&self, tx: &impl GenericClient) -> Result<String, Error> {
        let text = |value: Option<&str>| value.map(|value| sound(value).into_owned());
        let row = tx
            .query_one(
                postgres::INSERT,
                &[
                    &self.sound_id(),
                    &text(self.tenant),
                    &text(self.topic),
                    &sound(self.event_type).as_ref(),
                    &text(self.entity_type),
                    &sound(self.entity_id).as_ref(),
                    &sound(self.payload).as_ref(),
                    &self.schema_version,
                    &text(self.correlation_id),
                    &self.sound_due_at(),
                ],
            )
            .await?;
        Ok(row.get(0))
    }
}
