//! The log of changes: what the other machine has not got yet, and letting go of what it has.

use super::{
    FLOOR,
    image::{self, Images, Seen},
    standing_of,
};
use crate::{
    Result,
    buffer::{Buffer, Shared, sql},
    sqlite::writer::WriteSession,
};
use domain::pair::{Changes, Table, Value};
use rusqlite::Connection;
use std::sync::{Arc, atomic::Ordering};

/// Lines of the log that are looked at for one answer.
const PAGE: u32 = 10_000;
/// Lines the other machine has are let go of by so many: each time is a commit.
const TRIMMED_BY: i64 = 10_000;
/// So many changes are kept for a machine that is away. After more it takes a whole copy.
pub const LOG_LIMIT: i64 = 1_000_000;

impl Buffer {
    /// The number of the last change.
    pub async fn head(&self) -> Result<i64> {
        self.read(head).await
    }

    /// What changed after this place, as the rows are now; none where the log does not go back so far, or not so far
    /// ahead. All of one snapshot; beyond about so many bytes it ends, and `to` says where.
    pub async fn changes(&self, after: i64, bytes: usize) -> Result<Option<Changes>> {
        let shared = self.shared.clone();
        self.read(move |conn| {
            let head = head(conn)?;
            if after < shared.replication.floor() || after > head {
                return Ok(None);
            }
            since(conn, after, head, bytes).map(Some)
        })
        .await
    }

    /// The other machine has everything up to here. Whether lines were let go of: not for a few, and all of them where it
    /// lacks more than `limit`.
    pub async fn trim_log(&self, has: i64, limit: i64) -> Result<bool> {
        let floor = self.shared.replication.floor();
        let head = self.head().await?;
        let away = head.saturating_sub(has.max(floor)) > limit;
        let upto = if away { head } else { has.min(head) };
        if !away && upto.saturating_sub(floor) < TRIMMED_BY {
            return Ok(false);
        }
        self.write_as_either(1, move |s, shared| trim(s, shared, upto))
            .await?;
        Ok(true)
    }

    /// Lets go of the whole log: the other machine takes a whole copy. Whether there was one.
    pub(in crate::buffer) async fn drop_log(&self) -> Result<bool> {
        let head = self.head().await?;
        if self.standing().is_none() || head <= self.shared.replication.floor() {
            return Ok(false);
        }
        self.try_write(1, |s, shared| {
            let head = self::head(s.conn)?;
            s.empty_log();
            trim(s, shared, head)
        })
        .await?;
        tracing::warn!(
            "no room on the disk: the log of changes is let go of, and the standby will need a whole copy"
        );
        Ok(true)
    }
}

pub(super) fn head(conn: &Connection) -> Result<i64> {
    Ok(conn
        .prepare_cached(sql::log_head)?
        .query_row([], |row| row.get(0))?)
}

/// The log begins after this number from now on.
pub(super) fn trim(s: &mut WriteSession<'_>, shared: &Arc<Shared>, upto: i64) -> Result<()> {
    s.conn.prepare_cached(sql::log_trim)?.execute([upto])?;
    set_floor(s, shared, upto)
}

pub(super) fn set_floor(s: &mut WriteSession<'_>, shared: &Arc<Shared>, floor: i64) -> Result<()> {
    s.conn
        .prepare_cached(sql::meta_set)?
        .execute([FLOOR, &floor.to_string()])?;
    let shared = shared.clone();
    s.after_commit(move || shared.replication.floor.store(floor, Ordering::SeqCst));
    Ok(())
}

fn since(conn: &Connection, after: i64, head: i64, most: usize) -> Result<Changes> {
    let mut changes = Changes {
        from: after,
        to: head,
        head,
        sequences: image::sequences(conn)?,
        turn: standing_of(conn)?.map(|standing| standing.history.rank()),
        ..Changes::default()
    };
    let mut page = conn.prepare_cached(sql::log_page)?;
    let mut lines = page.query([after, i64::from(PAGE)])?;
    let (mut images, mut seen) = (Images::of(conn), Seen::default());
    let (mut read, mut bytes, mut last) = (0, 0, after);
    while let Some(line) = lines.next()? {
        if bytes >= most {
            changes.to = last;
            return Ok(changes);
        }
        (read, last) = (read + 1, line.get(0)?);
        let Some(table) = Table::of_number(line.get(1)?) else {
            continue;
        };
        let key = image::value(line.get_ref(2)?);
        if !seen.insert(table, key) {
            continue;
        }
        match images.row(table, key)? {
            Some(row) => {
                bytes += row.weight();
                changes.rows.push((table, row));
            }
            None => {
                let key = Value::from(key);
                bytes += key.weight();
                changes.gone.push((table, key));
            }
        }
    }
    if read == PAGE {
        changes.to = last;
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{buffer::replication::turn::TRIGGERS_ON, schema::BUFFER};
    use refinery_core::Target;

    fn a_line(conn: &Connection) -> i64 {
        conn.execute(sql::meta_set, ["op", "1"]).unwrap();
        head(conn).unwrap()
    }

    fn migrated(conn: &mut Connection, to: Target) {
        BUFFER.runner().unwrap().set_target(to).run(conn).unwrap();
        conn.execute_batch(TRIGGERS_ON).unwrap();
    }

    #[test]
    fn a_number_is_never_given_twice_also_after_the_whole_log_was_let_go_of() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrated(&mut conn, Target::Latest);
        assert_eq!((a_line(&conn), a_line(&conn)), (1, 2));
        conn.execute(sql::log_trim, [2]).unwrap();
        assert_eq!(head(&conn).unwrap(), 2);
        assert_eq!(a_line(&conn), 3);
    }

    #[test]
    fn numbers_of_a_file_from_before_go_on_where_they_were() {
        for emptied in [false, true] {
            let mut conn = Connection::open_in_memory().unwrap();
            migrated(&mut conn, Target::Version(6));
            a_line(&conn);
            a_line(&conn);
            if emptied {
                conn.execute("delete from replication_log", []).unwrap();
            }
            migrated(&mut conn, Target::Latest);
            assert_eq!(head(&conn).unwrap(), 2, "emptied: {emptied}");
            assert_eq!(a_line(&conn), 3);
        }
    }
}
