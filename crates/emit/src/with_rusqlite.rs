//! Inside a transaction of rusqlite.

use crate::{Event, sound, sqlite};
use rusqlite::{Connection, Error, params};

impl Event<'_> {
    /// Adds the event to the transaction this connection is in; answers with its id.
    pub fn emit_in(&self, conn: &Connection) -> Result<String, Error> {
        let mut insert = conn.prepare_cached(sqlite::INSERT)?;
        insert.query_row(
            params![
                self.sound_id(),
                self.tenant.map(|text| sound(text).into_owned()),
                self.topic.map(|text| sound(text).into_owned()),
                sound(self.event_type).as_ref(),
                self.entity_type.map(|text| sound(text).into_owned()),
                sound(self.entity_id).as_ref(),
                sound(self.payload).as_ref(),
                self.schema_version,
                self.correlation_id.map(|text| sound(text).into_owned()),
                self.sound_due_at(),
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
