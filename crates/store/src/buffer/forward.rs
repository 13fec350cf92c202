//! Notifications on their way to central: which are next, and which central has.

use super::{
    Buffer, Shared,
    damage::{self, NoMessages},
    event::{self, About, What},
    forget,
    message::{MessageStatus, Waiting},
    rows, sql,
    telemetry::{self, News},
};
use crate::{
    Error, Result,
    sqlite::{error, rows as columns, writer::WriteSession},
};
use domain::site::{Category, DatabaseIdentity, OperationEvent, OperationStatus};
use rusqlite::{OptionalExtension, params};
use std::sync::Arc;

/// Where an acknowledgement came from is kept here.
pub(super) const CENTRAL: &str = "central";

/// About what is handed over at once.
const BATCH_BYTES: usize = 1 << 20;
/// Notifications cleared by one commit on a full disk: few enough that the log has room for them without growing.
const PIECE: usize = 50;

/// What is kept of a notification that central has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// All of it, until it is certain that central still has it.
    Content,
    /// That it was handed over, and when.
    End,
    Nothing,
}

/// Central's answers about a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handed {
    /// On central's disk.
    pub acked: Vec<i64>,
    /// Central will never take these, and why.
    pub refused: Vec<(i64, String)>,
}

impl Handed {
    fn pieces(&self, size: usize) -> Vec<Handed> {
        let acked = self.acked.chunks(size).map(|acked| Handed {
            acked: acked.to_vec(),
            refused: vec![],
        });
        let refused = self.refused.chunks(size).map(|refused| Handed {
            acked: vec![],
            refused: refused.to_vec(),
        });
        acked.chain(refused).collect()
    }
}

impl Buffer {
    /// Notifications that wait behind this place, oldest first; no more than `limit`, and no further one once their
    /// payloads have come to `bytes`.
    pub async fn forwardable(&self, after: i64, limit: u32, bytes: usize) -> Result<Vec<Waiting>> {
        let mut after = after;
        loop {
            let (messages, no_messages) = self.look_forward(after, limit, bytes).await?;
            let Some((last, _)) = no_messages.last() else {
                return Ok(messages);
            };
            let last = *last;
            let moved = self
                .write(no_messages.len(), move |s, shared| {
                    damage::set_rows_aside(s, shared, &no_messages)
                })
                .await;
            match moved {
                Ok(()) => {}
                // They stay where they are until there is room, and the others go.
                Err(full) if error::is_full(&full) => after = last,
                Err(error) => return Err(error),
            }
            if !messages.is_empty() {
                return Ok(messages);
            }
        }
    }

    /// What waits, and rows that are no messages any more.
    async fn look_forward(&self, after: i64, limit: u32, bytes: usize) -> Result<(Vec<Waiting>, NoMessages)> {
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::forwardable)?;
            let mut found = statement.query(params![after, limit])?;
            let (mut messages, mut no_messages) = (vec![], vec![]);
            let mut gathered = 0;
            while gathered < bytes
                && let Some(row) = found.next()?
            {
                match rows::waiting(row) {
                    Ok(waiting) => {
                        gathered += waiting.payload.len();
                        messages.push(waiting);
                    }
                    Err(why) => no_messages.push((row.get(0)?, why.to_string())),
                }
            }
            Ok((messages, no_messages))
        })
        .await
    }

    /// Clears what central has, and parks what it will never take. `by` is the database that answered: if another
    /// one has been met since, the answer proves nothing any more, and nothing is cleared. Says whether it was.
    ///
    /// On a full disk it takes no room: content is not remembered then, and in the worst case not even the end. What
    /// central refused stays then, and is handed over once more when there is room to park it.
    pub async fn handed_over(&self, by: &DatabaseIdentity, handed: Handed) -> Result<bool> {
        let by: Arc<str> = columns::json(by).into();
        if self.shared.room.has_disk() {
            let mut done = self.hand_over(&by, handed.clone(), Kept::Content).await;
            if done.as_ref().is_err_and(error::is_full) && self.make_room(BATCH_BYTES).await {
                done = self.hand_over(&by, handed.clone(), Kept::Content).await;
            }
            if !done.as_ref().is_err_and(error::is_full) {
                return done;
            }
        }
        for piece in handed.pieces(PIECE) {
            let mut done = self.hand_over_lean(&by, &piece).await;
            if self.shared.room.released(&done) {
                done = self.hand_over_lean(&by, &piece).await;
            }
            match done {
                Ok(true) => {}
                Err(full) if error::is_full(&full) && piece.acked.is_empty() => stays(&full),
                done => return done,
            }
        }
        Ok(true)
    }

    async fn hand_over_lean(&self, by: &Arc<str>, piece: &Handed) -> Result<bool> {
        match self.hand_over(by, piece.clone(), Kept::End).await {
            Err(full) if error::is_full(&full) => self.hand_over(by, piece.clone(), Kept::Nothing).await,
            done => done,
        }
    }

    async fn hand_over(&self, by: &Arc<str>, handed: Handed, kept: Kept) -> Result<bool> {
        let by = by.clone();
        let weight = handed.acked.len() + handed.refused.len();
        self.try_write(weight, move |s, shared| {
            if central(s)?.as_deref() != Some(&*by) {
                return Ok(false);
            }
            clear(s, shared, &handed.acked, kept)?;
            for (seq, why) in &handed.refused {
                park(s, shared, *seq, why)?;
            }
            Ok(true)
        })
        .await
    }

    /// Parks a notification that cannot be forwarded at all; whether that could be written. On a full disk it waits, and
    /// is come across again when there is room.
    pub async fn park_forward(&self, seq: i64, why: &str) -> Result<bool> {
        let why = why.to_owned();
        let parked = self.write(1, move |s, shared| park(s, shared, seq, &why)).await;
        match parked {
            Err(full) if error::is_full(&full) => {
                stays(&full);
                Ok(false)
            }
            parked => parked.map(|()| true),
        }
    }
}

fn stays(full: &Error) {
    tracing::warn!(
        error = domain::chain(full),
        "there is no room for parking notifications; they wait until there is, and others go on"
    );
}

/// The database that was met last, as it is kept.
pub(super) fn central(s: &WriteSession<'_>) -> Result<Option<String>> {
    let mut get = s.conn.prepare_cached(sql::meta_get)?;
    Ok(get.query_row([CENTRAL], |row| row.get(0)).optional()?)
}

fn clear(s: &mut WriteSession<'_>, shared: &Arc<Shared>, acked: &[i64], kept: Kept) -> Result<()> {
    if acked.is_empty() {
        return Ok(());
    }
    let places = columns::json(&acked);
    // On a full disk there is no room for news; that it arrived is at central anyway.
    if kept == Kept::Content {
        for message in super::attempt::those(s, sql::told_of, [&places])?.0 {
            let op = shared.op();
            let news = News::of(&message, OperationEvent::Delivered, OperationStatus::Delivered);
            telemetry::write(s, shared, op, news)?;
        }
    }
    let before = shared.ops(acked.len());
    let mut emptied = 0;
    if kept == Kept::End {
        emptied = s
            .conn
            .prepare_cached(sql::acked_bytes)?
            .query_row([&places], |row| row.get::<_, i64>(0))?;
        s.conn.prepare_cached(sql::empty_acked)?.execute([&places])?;
    }
    let bury = match kept {
        Kept::Content => Some(sql::bury_acked),
        Kept::End => Some(sql::bury_emptied),
        Kept::Nothing => None,
    };
    if let Some(bury) = bury {
        s.conn
            .prepare_cached(bury)?
            .execute(params![places, s.now.as_millis(), before])?;
    }
    let mut remove = s.conn.prepare_cached(sql::remove_acked)?;
    let mut removed = remove.query([&places])?;
    let (mut gone, mut bytes) = (0, emptied);
    while let Some(row) = removed.next()? {
        gone += 1;
        bytes += row.get::<_, i64>(0)?;
    }
    drop(removed);
    drop(remove);
    if gone == 0 {
        return Ok(());
    }
    if kept != Kept::Nothing {
        event::write(
            s,
            What::Delivered,
            Category::Notification,
            CENTRAL,
            About::many(gone),
        )?;
    }
    if kept == Kept::End {
        forget::shorter(s, shared, s.now.as_millis(), gone)?;
    }
    let (shared, gone) = (shared.clone(), gone as i64);
    s.after_commit(move || {
        shared
            .gauge
            .add(Category::Notification, MessageStatus::Pending, -gone, -bytes);
        if kept == Kept::Content {
            shared.gauge.remember(gone, bytes);
        }
    });
    Ok(())
}

fn park(s: &mut WriteSession<'_>, shared: &Arc<Shared>, seq: i64, why: &str) -> Result<()> {
    let op = shared.op();
    let parked = super::attempt::one(s, sql::park_forward, params![seq, why, s.now.as_millis(), op])?;
    if let Some(message) = parked {
        let about = About::one(message.id).because(why);
        event::write(s, What::Parked, message.category, &message.target, about)?;
        let news = News {
            error: Some(why),
            ..News::of(
                &message,
                OperationEvent::PermanentFailure,
                OperationStatus::Parked,
            )
        };
        telemetry::write(s, shared, op, news)?;
        let shared = shared.clone();
        s.after_commit(move || {
            shared.gauge.moved(
                Category::Notification,
                MessageStatus::Pending,
                MessageStatus::Parked,
            );
        });
    }
    Ok(())
}
