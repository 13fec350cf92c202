//! Inside a transaction of rusqlite.

use crate::{Event, sqlite};
use rusqlite::{Connection, Error, params};

impl Event<'_> {
    /// Adds the event to the transaction this connection is in; answers with its id.
    pub fn emit_in(&self, conn: &Connection) -> Result<String, Error> {
        let p = self.parameters();
        let mut insert = conn.prepare_cached(sqlite::INSERT)?;
        insert.query_row(
            params![
                p.id,
                p.tenant,
                p.topic,
                p.event_type,
                p.entity_type,
                p.entity_id,
                p.payload,
                p.schema_version,
                p.correlation_id,
                p.due_at,
            ],
            |row| row.get(0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_there_when_its_transaction_commits_and_never_was_when_it_rolls_back() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sqlite::INSTALL).unwrap();
        let count = |conn: &Connection| -> i64 {
            conn.query_row("select count(*) from waypost_outbox", [], |row| row.get(0))
                .unwrap()
        };
        let event = Event::new("booking.confirmed", "1", "{}");
        let tx = conn.transaction().unwrap();
        event.emit_in(&tx).unwrap();
        tx.rollback().unwrap();
        assert_eq!(count(&conn), 0);
        let tx = conn.transaction().unwrap();
        let id = event.emit_in(&tx).unwrap();
        tx.commit().unwrap();
        assert!(crate::is_uuid(&id), "{id}");
        assert_eq!(count(&conn), 1);
    }
}
