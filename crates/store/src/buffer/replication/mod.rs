//! The other machine of a site: which rows changed ([`log`]), as they are now ([`image`]), put into the other file
//! ([`apply`]); what a machine hands in that was active as well ([`apply`], [`ended`]); and whose turn it is ([`turn`]).
//!
//! Leaves to others: who follows whom (`domain::pair`), the wire (`link::peer`), when (`site::pair`).
//! Always true: a change and its line in the log are one commit; a copy and the place it has reached are one commit; the log
//! holds keys, never content; without another machine nothing of this costs anything.

mod ahead;
mod apply;
mod ended;
mod image;
mod log;
mod remembered;
mod swap;
mod turn;

pub use ended::{has_ended, is_unheard};
pub use image::SCHEMA;
pub use log::LOG_LIMIT;
pub use remembered::as_waiting;
pub use swap::{own_file, put_in_place, remove_own_file, side_file};

use super::{Buffer, Shared, sql};
use crate::{
    Error, Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{
    lock::lock,
    pair::{Role, Standing},
};
use rusqlite::{Connection, OptionalExtension};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

/// Where this file stands in its pair.
const STANDING: &str = "pair";
/// The longest lease that this machine gave or asked for and that may still run, in milliseconds.
const LONGEST_LEASE: &str = "longest_lease_ms";
/// Changes up to here are not in the log.
const FLOOR: &str = "log_floor";

/// What commands on the writer know about the pair.
#[derive(Debug)]
pub(super) struct Replication {
    standing: Mutex<Option<Standing>>,
    floor: AtomicI64,
    /// Set by the very command that makes it a standby: whatever waits behind that command is not done any more.
    is_standby: AtomicBool,
}

impl Replication {
    pub(super) fn read(conn: &Connection) -> Result<Self> {
        let floor = kept(conn, FLOOR)?
            .map(|text| {
                text.parse()
                    .map_err(|e| Error::corrupt("meta", format!("{FLOOR}: {e}")))
            })
            .transpose()?;
        let standing = standing_of(conn)?;
        Ok(Self {
            is_standby: AtomicBool::new(standing.as_ref().is_some_and(|s| s.role == Role::Standby)),
            standing: Mutex::new(standing),
            floor: AtomicI64::new(floor.unwrap_or(0)),
        })
    }

    pub(super) fn is_standby(&self) -> bool {
        self.is_standby.load(Ordering::SeqCst)
    }

    fn standing(&self) -> Option<Standing> {
        lock(&self.standing).clone()
    }

    fn floor(&self) -> i64 {
        self.floor.load(Ordering::SeqCst)
    }
}

impl Buffer {
    /// Where this file stands in its pair; none where there is no pair.
    pub fn standing(&self) -> Option<Standing> {
        self.shared.replication.standing()
    }

    /// The longest lease that this machine may have given or asked for, as it was last written down; none where it never was.
    pub async fn longest_lease(&self) -> Result<Duration> {
        let kept = self.read(|conn| kept(conn, LONGEST_LEASE)).await?;
        // What cannot be read is taken for the longest there is by whoever asks.
        let ms = kept.map_or(0, |text| text.parse().unwrap_or(u64::MAX));
        Ok(Duration::from_millis(ms))
    }

    /// Writes that down, before any such lease is given or asked for.
    pub async fn set_longest_lease(&self, lease: Duration) -> Result<()> {
        let ms = lease.as_millis().to_string();
        self.write_as_either(1, move |s, _| {
            s.conn
                .prepare_cached(sql::meta_set)?
                .execute([LONGEST_LEASE, &ms])?;
            Ok(())
        })
        .await
    }

    /// Runs a command that a standby may run as well: those of this folder.
    pub(super) async fn write_as_either<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut WriteSession<'_>, &Arc<Shared>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = self.shared.clone();
        self.writer.write(weight, move |s| work(s, &shared)).await
    }
}

/// Rows of this file had to be set aside. A copy is not whole any more, whatever its place says: the next look makes a whole one.
pub(super) fn copy_lacks_rows(conn: &Connection) -> Result<()> {
    let Some(standing) = standing_of(conn)?.filter(|standing| standing.role == Role::Standby) else {
        return Ok(());
    };
    let lacking = Standing {
        caught_up: false,
        // Before every log.
        position: -1,
        ..standing
    };
    conn.prepare_cached(sql::meta_set)?
        .execute([STANDING, &columns::json(&lacking)])?;
    Ok(())
}

/// What whoever wants to change a copy is told.
pub(super) fn standby() -> Error {
    Error::unavailable(
        "this machine is the standby of its site: its buffer is a copy that only the active one changes",
    )
}

fn standing_of(conn: &Connection) -> Result<Option<Standing>> {
    kept(conn, STANDING)?
        .map(|text| columns::from_json("meta", &text))
        .transpose()
}

/// Nothing is what a pair leaves behind that is none any more.
fn kept(conn: &Connection, key: &str) -> Result<Option<String>> {
    let mut get = conn.prepare_cached(sql::meta_get)?;
    let text: Option<String> = get.query_row([key], |row| row.get(0)).optional()?;
    Ok(text.filter(|text| !text.is_empty()))
}
