//! What is copied from the active to its standby: rows as they are now, of those that changed.

use super::{Rank, Row, Value};

/// The tables of a site's file that are copied, in the order in which a whole copy takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    Messages,
    Tombstones,
    Tracking,
    Events,
    Telemetry,
    Meta,
}

impl Table {
    pub const ALL: [Self; 6] = [
        Self::Messages,
        Self::Tombstones,
        Self::Tracking,
        Self::Events,
        Self::Telemetry,
        Self::Meta,
    ];

    /// As the log of changes and the wire have it; never changes its meaning.
    pub fn number(self) -> u32 {
        match self {
            Self::Messages => 1,
            Self::Tombstones => 2,
            Self::Tracking => 3,
            Self::Events => 4,
            Self::Telemetry => 5,
            Self::Meta => 6,
        }
    }

    pub fn of_number(number: i64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|table| i64::from(table.number()) == number)
    }
}

/// What changed between two places of the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// With these a copy that was at `from` is at `to`.
    pub from: i64,
    pub to: i64,
    /// The last change there was when this was read. Where `to` is less, there is more.
    pub head: i64,
    /// Keys of rows that are gone; taken away before the others are put in.
    pub gone: Vec<(Table, Value)>,
    pub rows: Vec<(Table, Row)>,
    /// The highest number that was ever given to a row of these tables.
    pub sequences: Vec<(Table, i64)>,
    /// The turn of the file when this was read: in a copy that has not heard of it, it would seem to have forked. None where the other
    /// machine does not say so yet.
    pub turn: Option<Rank>,
}

impl Changes {
    /// With these the copy is whole.
    pub fn are_all(&self) -> bool {
        self.to >= self.head
    }
}

/// A part of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Copied {
    pub rows: Vec<Row>,
    /// Where the next part begins; none after the last one.
    pub next: Option<Value>,
}
