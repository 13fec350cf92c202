//! Whose turn it is: becoming active, stepping down, and being no pair at all.

use super::{STANDING, image, log};
use crate::{
    Error, Result,
    buffer::{Buffer, Shared, sql},
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{
    lock::lock,
    pair::{HIGHEST_COUNTER, Node, Rank, Role, Standing, Table},
};
use rusqlite::Connection;
use std::sync::{Arc, atomic::Ordering};
use uuid::Uuid;

pub(super) const TRIGGERS_ON: &str = include_str!("triggers_on.sql");
const TRIGGERS_OFF: &str = include_str!("triggers_off.sql");
/// Numbers of changes begin anew, above all others, with every turn: what central hears of a new active is newer than what
/// it heard of the one before, also where this machine had not got all of that.
const TURN_BITS: u32 = 40;
const _: () = assert!(HIGHEST_COUNTER <= (i64::MAX >> TURN_BITS) as u64);

impl Buffer {
    /// This file is one of a pair. One that holds something goes on being active; an empty one waits for a copy, or for
    /// somebody to say that it is to begin, and so does one that was made for a damaged one: the other may have taken over.
    pub async fn join_pair(&self) -> Result<Standing> {
        let whole = self.set_aside.is_none();
        self.write_as_either(1, move |s, shared| {
            if let Some(standing) = super::standing_of(s.conn)? {
                return Ok(standing);
            }
            let used: i64 = s
                .conn
                .prepare_cached(sql::highest_op)?
                .query_row([], |row| row.get(0))?;
            if used > 0 && whole {
                // Nothing of what happened before is in the log.
                let head = log::head(s.conn)?.saturating_add(1);
                s.conn.prepare_cached(sql::log_mark)?.execute([head])?;
                let standing = Standing {
                    position: head,
                    sole: true,
                    ..Standing::empty()
                };
                return begin_turn(s, shared, standing, TurnToBegin::Above(0));
            }
            let standing = Standing::empty();
            write(s, shared, standing.clone())?;
            Ok(standing)
        })
        .await
    }

    /// This file is none of a pair (any more): no log is kept. Refused for the copy of a standby, whose messages the active
    /// one sends.
    pub async fn leave_pair(&self) -> Result<()> {
        if let Some(standing) = self.standing()
            && standing.role == Role::Standby
            && standing.history.last().is_some()
        {
            return Err(Error::unavailable(
                "the buffer is the copy of a standby, and what is in it is the active one's to send; start it with \
                 site.replication.peer and promote it, or begin with another file (site.database)",
            ));
        }
        if self.standing().is_none() && !self.read(is_logging).await? {
            return Ok(());
        }
        self.write_as_either(1, |s, shared| {
            stop_logging(s, shared)?;
            s.conn.prepare_cached(sql::meta_set)?.execute([STANDING, ""])?;
            let shared = shared.clone();
            s.after_commit(move || {
                shared.replication.is_standby.store(false, Ordering::SeqCst);
                *lock(&shared.replication.standing) = None;
            });
            Ok(())
        })
        .await
    }

    /// Becomes the active one, with a turn above every counter that is `known`. With `sole` a person has said that no other
    /// machine runs; one that is active and had to hold something until then begins a turn by that as well. When this returns, it is so after a crash as well.
    pub async fn promote(&self, known: u64, sole: bool) -> Result<Standing> {
        self.write_as_either(1, move |s, shared| {
            let before = standing(s.conn)?;
            let sole = sole || (before.sole && before.role == Role::Active);
            let stale = before.stale && !sole;
            let goes_on = (before.stale && !stale) || (sole && !before.sole);
            let before = Standing {
                stale,
                sole,
                joined: None,
                ..before
            };
            match before.role {
                // From here on it attempts without a lease what the other machine knows, and may have attempted: whoever meets it
                // later, and central, must see that as a turn. In the old one the other would be given the lease as if it had everything.
                Role::Active if goes_on => {
                    let position = log::head(s.conn)?;
                    begin_turn(
                        s,
                        shared,
                        Standing { position, ..before },
                        TurnToBegin::Above(known),
                    )
                }
                Role::Active => {
                    write(s, shared, before.clone())?;
                    Ok(before)
                }
                Role::Standby => begin_turn(s, shared, before, TurnToBegin::Above(known)),
            }
        })
        .await
    }

    /// Begins the turn that central gave: a standby becomes active by it, an active one goes on without its standby. An error where this
    /// file has handed over, or followed somebody, since it was `asked` for. A stale one whose file began empty keeps that in
    /// mind: what it may have made itself before, nobody can tell it.
    pub async fn take_turn(&self, asked: &Standing, rank: Rank, stale: bool) -> Result<Standing> {
        let asked = (asked.role, asked.history.rank());
        self.write_as_either(1, move |s, shared| {
            let before = standing(s.conn)?;
            if (before.role, before.history.rank()) != asked {
                return Err(Error::unavailable(
                    "this machine is not what it was when it asked for the turn",
                ));
            }
            let position = match before.role {
                Role::Active => log::head(s.conn)?,
                Role::Standby => before.position,
            };
            let stale = stale || before.stale;
            let joined = before.joined.filter(|_| stale);
            let before = Standing {
                position,
                stale,
                joined,
                ..before
            };
            begin_turn(s, shared, before, TurnToBegin::Given(rank))
        })
        .await
    }

    /// The other machine is there: what is in this file may be in its own from here on. Where nobody had anything of this file until
    /// now, nobody can have made anything of it: this one vouches for the other, which joins under that id.
    pub async fn other_is_there(&self, joins: Option<Uuid>) -> Result<()> {
        self.change_standing(move |standing| Standing {
            sole: false,
            vouches: joins.filter(|_| standing.sole).or(standing.vouches),
            ..standing
        })
        .await
    }

    /// Central has confirmed this machine's turn since the other one joined under this id.
    pub async fn vouch_for(&self, id: Uuid) -> Result<()> {
        self.change_standing(move |standing| match standing.role {
            Role::Active => Standing {
                vouches: Some(id),
                ..standing
            },
            Role::Standby => standing,
        })
        .await
    }

    /// This copy lacks more than what changed a moment ago: whoever takes over with it may not make what it inherits.
    pub async fn falls_behind(&self) -> Result<()> {
        self.change_standing(|standing| match standing.role {
            Role::Standby => Standing {
                caught_up: false,
                ..standing
            },
            Role::Active => standing,
        })
        .await
    }

    /// The other machine follows, and has handed in what only it had.
    pub async fn other_follows(&self) -> Result<()> {
        self.change_standing(|standing| Standing {
            stale: false,
            ..standing
        })
        .await
    }

    async fn change_standing(
        &self,
        change: impl Fn(Standing) -> Standing + Send + Sync + 'static,
    ) -> Result<()> {
        match self.standing() {
            Some(now) if change(now.clone()) != now => {}
            _ => return Ok(()),
        }
        self.write_as_either(1, move |s, shared| write(s, shared, change(standing(s.conn)?)))
            .await
    }

    /// The highest place that was ever given to a message.
    pub async fn last_message(&self) -> Result<i64> {
        self.read(last_message).await
    }

    /// How many messages are here from this place on, counted up to this many.
    pub async fn messages_from(&self, seq: i64, most: u32) -> Result<u64> {
        let count = move |conn: &Connection| {
            let found: i64 = conn
                .prepare_cached(sql::messages_from)?
                .query_row([seq, most.into()], |row| row.get(0))?;
            Ok(found.max(0).unsigned_abs())
        };
        self.read(count).await
    }

    /// Is active no more. Its log stays until it follows somebody, so that whoever takes over can get all of it.
    pub async fn step_down(&self) -> Result<Standing> {
        let done = self
            .write_as_either(1, |s, shared| {
                shared.replication.is_standby.store(true, Ordering::SeqCst);
                let standing = Standing {
                    role: Role::Standby,
                    position: log::head(s.conn)?,
                    caught_up: true,
                    sole: false,
                    vouches: None,
                    ..standing(s.conn)?
                };
                write(s, shared, standing.clone())?;
                Ok(standing)
            })
            .await;
        if done.is_err() {
            self.shared.replication.is_standby.store(false, Ordering::SeqCst);
        }
        done
    }

    /// As the other machine sees this one.
    pub async fn node(&self) -> Result<Node> {
        let (id, shared) = (self.id(), self.shared.clone());
        self.read(move |conn| {
            let standing = standing(conn)?;
            let head = log::head(conn)?;
            Ok(Node {
                id,
                role: standing.role,
                position: match standing.role {
                    Role::Active => head,
                    Role::Standby => standing.position,
                },
                history: standing.history,
                stale: standing.stale,
                joined: standing.joined,
                vouches: standing.vouches,
                floor: shared.replication.floor(),
            })
        })
        .await
    }
}

/// As the file has it, with what commands of the same transaction have made of it.
pub(super) fn standing(conn: &Connection) -> Result<Standing> {
    super::standing_of(conn)?.ok_or_else(|| Error::unavailable("this file is none of a pair"))
}

pub(super) fn write(s: &mut WriteSession<'_>, shared: &Arc<Shared>, standing: Standing) -> Result<()> {
    s.conn
        .prepare_cached(sql::meta_set)?
        .execute([STANDING, &columns::json(&standing)])?;
    let shared = shared.clone();
    s.after_commit(move || {
        let standby = standing.role == Role::Standby;
        shared.replication.is_standby.store(standby, Ordering::SeqCst);
        *lock(&shared.replication.standing) = Some(standing);
    });
    Ok(())
}

/// Which turn is begun.
#[derive(Debug, Clone, Copy)]
enum TurnToBegin {
    /// One above every counter that is known.
    Above(u64),
    /// The one that central gave.
    Given(Rank),
}

fn begin_turn(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    standing: Standing,
    turn: TurnToBegin,
) -> Result<Standing> {
    let position = standing.position;
    if !is_logging(s.conn)? {
        if log::head(s.conn)? < position {
            s.conn.prepare_cached(sql::log_mark)?.execute([position])?;
        }
        log::trim(s, shared, position)?;
        s.conn.execute_batch(TRIGGERS_ON)?;
    }
    let first_message = match standing.caught_up {
        true => last_message(s.conn)?.saturating_add(1),
        false => first_lacking(&standing, last_message(s.conn)?),
    };
    let first = position.saturating_add(1);
    let history = match turn {
        TurnToBegin::Above(known) => standing
            .history
            .with_turn(Uuid::new_v4(), known, first, first_message),
        TurnToBegin::Given(rank) => standing.history.with_given_turn(rank, first, first_message),
    };
    let counter = history.rank().0.min(HIGHEST_COUNTER).cast_signed();
    let op = counter << TURN_BITS;
    let above = op.max(shared.ops.fetch_max(op, Ordering::SeqCst));
    s.conn
        .prepare_cached(sql::meta_set)?
        .execute(["op", &above.to_string()])?;
    let standing = Standing {
        role: Role::Active,
        history,
        position,
        caught_up: true,
        ..standing
    };
    write(s, shared, standing.clone())?;
    Ok(standing)
}

/// From where on messages may be missing in a copy that is not whole. Places were given ahead of what has come: everything of the
/// turn that the copy ends in may be missing, and whoever has it hands it in by its id.
fn first_lacking(standing: &Standing, last: i64) -> i64 {
    let mut turns = standing.history.epochs().iter().rev();
    let ends_in = turns.find(|epoch| epoch.first <= standing.position);
    match (ends_in, standing.history.last()) {
        (Some(epoch), _) => epoch.first_message,
        (None, Some(_)) => 0,
        (None, None) => last.saturating_add(1),
    }
}

fn last_message(conn: &Connection) -> Result<i64> {
    let sequences = image::sequences(conn)?;
    let messages = sequences.iter().find(|(table, _)| *table == Table::Messages);
    Ok(messages.map_or(0, |(_, last)| *last))
}

/// Ends the log: triggers and all lines of it.
pub(super) fn stop_logging(s: &mut WriteSession<'_>, shared: &Arc<Shared>) -> Result<()> {
    if is_logging(s.conn)? {
        s.conn.execute_batch(TRIGGERS_OFF)?;
    }
    let head = log::head(s.conn)?;
    log::trim(s, shared, head)
}

fn is_logging(conn: &Connection) -> Result<bool> {
    Ok(conn
        .prepare_cached(sql::log_is_on)?
        .query_row([], |row| row.get(0))?)
}
