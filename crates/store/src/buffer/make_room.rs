//! Making room on a full disk, and finding out that there is some again.
//!
//! Always true: what is kept for getting messages out is not given to new ones; messages are taken again only after so
//! much as was refused could be written.

use super::{Buffer, forget, room::needed, sql};
use crate::{
    Result,
    sqlite::{connection, error, writer::WriteSession},
};
use rusqlite::params;
use std::sync::atomic::Ordering;

/// Pages given back in one commit: few enough that the log has room for what has to be moved.
const GIVEN_BACK: u32 = 256;
/// Commits of giving back before others get their turn.
const GIVEN_BACK_TIMES: u32 = 16;
/// So many free pages are kept for messages to come.
const FREE_PAGES_KEPT: u64 = 4_096;
/// The least that gives way at once.
const GIVES_WAY: u64 = 1 << 20;
/// What is written to find out whether there is room.
const TRIAL: &str = "room_seen_at";

impl Buffer {
    /// The disk is full: lets go of what is remembered, so that its pages can be used again. Whether it is worth trying
    /// again; of many who ask at once, one does it for all.
    pub(super) async fn make_room(&self, payload: usize) -> bool {
        let room = &self.shared.room;
        let before = room.made_times.load(Ordering::SeqCst);
        let _made = room.made.lock().await;
        if room.made_times.load(Ordering::SeqCst) != before {
            return true;
        }
        if self.drop_log().await.is_ok_and(|dropped| dropped) {
            room.made_times.fetch_add(1, Ordering::SeqCst);
            return true;
        }
        let bytes = needed(payload).saturating_mul(2).max(GIVES_WAY);
        let freed = self
            .try_write(1, move |s, shared| {
                s.empty_log();
                forget::give_way(s, shared, bytes)
            })
            .await;
        let is_made = freed.is_ok_and(|freed| freed > 0);
        // Where nothing was left to give, those who wait here are not to try in vain.
        room.made_times.fetch_add(u64::from(is_made), Ordering::SeqCst);
        is_made
    }

    /// After a full disk: tries whether there is room again, and takes messages from then on if there is. What central
    /// acknowledged and pages that hold nothing are given up for it.
    pub async fn look_for_room(&self) -> Result<()> {
        self.still_there().await?;
        if self.shared.room.has_disk() {
            return self.give_back().await;
        }
        while !self.try_for_room().await? {}
        self.shared.room.has_room();
        // What could not be parked meanwhile is come across again.
        self.shared.wake.ring_rewind();
        Ok(())
    }

    /// Whether a message fits beside the reserve. False when something was given up and it is to be tried again.
    async fn try_for_room(&self) -> Result<bool> {
        let was_kept = self.shared.room.is_reserve_kept();
        let tried = self
            .try_write(1, |s, shared| {
                if let Err(full) = shared.room.keep_reserve() {
                    s.empty_log();
                    return match connection::give_pages_back(s.conn, GIVEN_BACK)? {
                        0 => Err(full),
                        _ => Ok(false),
                    };
                }
                try_out(s, shared.room.trial())?;
                Ok(true)
            })
            .await;
        match tried {
            Ok(true) => {
                let settled = self.try_write(1, |s, shared| {
                    shared.room.settle_reserve()?;
                    try_out(s, 0)
                });
                settled.await.map(|()| true)
            }
            Err(full) if error::is_full(&full) => {
                // What was let go for those who get messages out stays with them.
                if !was_kept && let Some(reserve) = &self.shared.room.reserve {
                    reserve.release();
                }
                let freed = self
                    .try_write(1, |s, shared| {
                        s.empty_log();
                        forget::give_way(s, shared, GIVES_WAY)
                    })
                    .await?;
                match freed {
                    0 => Err(full),
                    _ => Ok(false),
                }
            }
            tried => tried,
        }
    }

    /// Gives the disk what an empty buffer does not need. Nobody waits for it: only while nothing else is to be done.
    async fn give_back(&self) -> Result<()> {
        for _ in 0..GIVEN_BACK_TIMES {
            if self.shared.gauge.depth().waiting() > 0 || self.read(free_pages).await? <= FREE_PAGES_KEPT {
                return Ok(());
            }
            let given = self
                .write(1, |s, _| {
                    s.empty_log();
                    Ok(connection::give_pages_back(s.conn, GIVEN_BACK)?)
                })
                .await?;
            if given == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The path still leads to the file that is open. Where it does not, a commit finds out what to do about it.
    async fn still_there(&self) -> Result<()> {
        match self.file.still_at(&self.path) {
            Ok(()) => Ok(()),
            Err(_) => self.write(1, |_, _| Ok(())).await,
        }
    }

    /// For tests: behaves as if the disk had room for so many pages in all.
    #[doc(hidden)]
    pub async fn limit_pages(&self, pages: Option<u32>) -> Result<()> {
        self.writer
            .write(1, move |s| {
                connection::limit_pages(s.conn, pages.unwrap_or(u32::MAX >> 1))?;
                Ok(())
            })
            .await
    }
}

/// Writes so many bytes, in place of those of the last time.
fn try_out(s: &WriteSession<'_>, bytes: usize) -> Result<()> {
    let mut set = s.conn.prepare_cached(sql::meta_set)?;
    set.execute(params![
        TRIAL,
        format!("{} {}", s.now.as_millis(), "x".repeat(bytes))
    ])?;
    Ok(())
}

fn free_pages(conn: &rusqlite::Connection) -> Result<u64> {
    Ok(connection::free_pages(conn)?)
}
