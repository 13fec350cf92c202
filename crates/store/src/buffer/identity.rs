//! Which buffer this is: a name that is minted with the file and stays with it.

use super::{Buffer, sql};
use crate::{Error, Result};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

const BUFFER: &str = "buffer";

impl Buffer {
    /// Two agents that were given one site id differ in it. A copy of the file has the same one.
    pub fn id(&self) -> Uuid {
        self.shared.id
    }
}

/// The name in the file; a fresh one where there is none yet.
pub(super) fn of_file(conn: &Connection) -> Result<Uuid> {
    let kept: Option<String> = conn
        .prepare(sql::meta_get)?
        .query_row([BUFFER], |row| row.get(0))
        .optional()?;
    match kept {
        Some(text) => Uuid::try_parse(&text).map_err(|e| Error::corrupt("meta", format!("{BUFFER}: {e}"))),
        None => {
            let id = Uuid::new_v4();
            conn.prepare(sql::meta_set)?.execute([BUFFER, &id.to_string()])?;
            Ok(id)
        }
    }
}
