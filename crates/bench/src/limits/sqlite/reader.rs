//! Somebody who reads and does not finish: while the snapshot is open, the log cannot be emptied past it.

use super::{begin_read, open, sql};
use rusqlite::Connection;
use std::path::Path;
use store::Result;

/// Keeps a snapshot of the product's file open until it is dropped.
#[derive(Debug)]
pub struct Reader(#[allow(dead_code, reason = "held, not used")] Connection);

impl Reader {
    /// The snapshot is open when this returns.
    pub fn open(path: &Path) -> Result<Self> {
        let conn = open(path)?;
        begin_read(&conn)?;
        conn.query_row(sql::LOOK, [], |_| Ok(()))?;
        Ok(Self(conn))
    }
}
