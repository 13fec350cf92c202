//! Puts an event into the transaction of the application it happened in: when that commits, Waypost finds the event;
//! when it rolls back, there never was one.
//!
//! This is all an application needs of Waypost, and the one place with SQL besides `store`. The statements are plain text
//! ([`postgres`], [`sqlite`]) for any driver; the features `tokio-postgres` and `rusqlite` run them inside a transaction
//! of that driver:
//!
//! ```ignore
//! let tx = client.transaction().await?;
//! tx.execute("update bookings set status = 'Confirmed' where id = $1", &[&id]).await?;
//! emit::Event::new("booking.confirmed", &id.to_string(), &payload).emit(&tx).await?;
//! tx.commit().await?;
//! ```
//!
//! Leaves to others: reading the outbox, and everything after it (`central`).
//! Always true: nothing an event says makes the statement fail, so no booking is rolled back for it; what is wrong with
//! an event is found out later and shown as a row.

#[cfg(feature = "rusqlite")]
mod with_rusqlite;
#[cfg(feature = "tokio-postgres")]
mod with_tokio_postgres;

use std::borrow::Cow;

/// For an outbox on PostgreSQL: Waypost's own database, or an application's after `waypost event install`.
pub mod postgres {
    /// Ten parameters, all text but the eighth (integer) and the tenth (milliseconds): see [`crate::Event`].
    pub const INSERT: &str = include_str!("sql/insert_postgres.sql");
    /// Makes the outbox in an application's own database; harmless where it is there.
    pub const INSTALL: &str = include_str!("sql/install_postgres.sql");
}

/// For an outbox in an application's own SQLite file.
pub mod sqlite {
    /// The same parameters as on PostgreSQL.
    pub const INSERT: &str = include_str!("sql/insert_sqlite.sql");
    /// Makes the outbox; harmless where it is there.
    pub const INSTALL: &str = include_str!("sql/install_sqlite.sql");
}

/// Something that happened. What is none takes the outbox's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// A UUID; a new one if left out. The same id again is the same event.
    pub id: Option<&'a str>,
    /// By its name, or by the application's own id where the event source maps it.
    pub tenant: Option<&'a str>,
    pub topic: Option<&'a str>,
    pub event_type: &'a str,
    /// What the event type says if left out.
    pub entity_type: Option<&'a str>,
    pub entity_id: &'a str,
    /// A JSON object, as text.
    pub payload: &'a str,
    pub schema_version: Option<i32>,
    pub correlation_id: Option<&'a str>,
    /// Not before, in milliseconds since 1970; what the event type says if left out.
    pub due_at: Option<i64>,
}

impl<'a> Event<'a> {
    pub fn new(event_type: &'a str, entity_id: &'a str, payload: &'a str) -> Self {
        Self {
            id: None,
            tenant: None,
            topic: None,
            event_type,
            entity_type: None,
            entity_id,
            payload,
            schema_version: None,
            correlation_id: None,
            due_at: None,
        }
    }

    /// A time that every database can hold.
    #[cfg(any(feature = "rusqlite", feature = "tokio-postgres"))]
    fn sound_due_at(&self) -> Option<i64> {
        const YEAR_9999: i64 = 253_402_300_799_000;
        self.due_at.map(|at| at.clamp(0, YEAR_9999))
    }

    /// An id that is none is left out: the event is a new one.
    #[cfg(any(feature = "rusqlite", feature = "tokio-postgres"))]
    fn sound_id(&self) -> Option<&'a str> {
        self.id.filter(|id| is_uuid(id))
    }
}

/// Whether this is a UUID in its usual spelling.
pub fn is_uuid(text: &str) -> bool {
    let dash = |i: usize| matches!(i, 8 | 13 | 18 | 23);
    text.len() == 36
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| if dash(i) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Text that every database can hold: PostgreSQL knows no NUL.
pub fn sound(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_database_can_hold_is_replaced_and_never_refused() {
        assert_eq!(sound("a\0b"), "a\u{fffd}b");
        assert!(is_uuid("0197c0de-0000-7000-8000-000000000001"));
        assert!(!is_uuid("12345") && !is_uuid("0197c0de-0000-7000-8000-00000000000é"));
    }
}
