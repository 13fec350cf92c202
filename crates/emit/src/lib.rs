//! Puts an event into the transaction of the application it happened in: when that commits, Waypost finds the event;
//! when it rolls back, there never was one.
//!
//! This is all an application needs of Waypost, and the one place with SQL besides `store`. The statements are plain text
//! ([`postgres`], [`sqlite`]) for any driver; the features `tokio-postgres`, `sqlx` (PostgreSQL) and `rusqlite` run them inside
//! a transaction of that driver ([`Event`]'s `emit`, `emit_with_sqlx`, `emit_in`):
//!
//! ```ignore
//! let tx = client.transaction().await?;
//! tx.execute("update bookings set status = 'Confirmed' where id = $1", &[&id]).await?;
//! emit::Event::new("booking.confirmed", &id.to_string(), &payload).emit(&tx).await?;
//! tx.commit().await?;
//! ```
//!
//! Any other driver binds [`Event::parameters`] in their order.
//!
//! Leaves to others: reading the outbox, and everything after it (`central`).
//! Always true: nothing an event says makes the statement fail, so no booking is rolled back for it; what is wrong with
//! an event is found out later and shown as a row.

#[cfg(feature = "rusqlite")]
mod with_rusqlite;
#[cfg(feature = "sqlx")]
mod with_sqlx;
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

    /// What the statements take, as every database can hold it.
    pub fn parameters(&self) -> Parameters<'a> {
        const YEAR_9999: i64 = 253_402_300_799_000;
        Parameters {
            // An id that is none is left out: the event is a new one.
            id: self.id.filter(|id| is_uuid(id)),
            tenant: self.tenant.map(sound),
            topic: self.topic.map(sound),
            event_type: sound(self.event_type),
            entity_type: self.entity_type.map(sound),
            entity_id: sound(self.entity_id),
            payload: sound(self.payload),
            schema_version: self.schema_version,
            correlation_id: self.correlation_id.map(sound),
            due_at: self.due_at.map(|at| at.clamp(0, YEAR_9999)),
        }
    }
}

/// The ten parameters of [`postgres::INSERT`] and [`sqlite::INSERT`], in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters<'a> {
    pub id: Option<&'a str>,
    pub tenant: Option<Cow<'a, str>>,
    pub topic: Option<Cow<'a, str>>,
    pub event_type: Cow<'a, str>,
    pub entity_type: Option<Cow<'a, str>>,
    pub entity_id: Cow<'a, str>,
    pub payload: Cow<'a, str>,
    pub schema_version: Option<i32>,
    pub correlation_id: Option<Cow<'a, str>>,
    pub due_at: Option<i64>,
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
        let event = Event {
            id: Some("12345"),
            topic: Some("a\0"),
            due_at: Some(i64::MAX),
            ..Event::new("x", "1", "{}")
        };
        let p = event.parameters();
        assert_eq!((p.id, p.topic.as_deref()), (None, Some("a\u{fffd}")));
        assert!(p.due_at.is_some_and(|at| at < i64::MAX));
        assert!(is_uuid("0197c0de-0000-7000-8000-000000000001"));
        assert!(!is_uuid("12345") && !is_uuid("0197c0de-0000-7000-8000-00000000000é"));
    }
}
