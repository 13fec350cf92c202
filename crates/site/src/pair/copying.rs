//! Bringing the copy up to date: by what changed, or as a whole in a file beside it.

use super::{Pair, Turn};
use domain::{
    lock::lock,
    pair::{Changes, Table, Value},
};
use link::peer::{HandIn, PeerSession, TakenIn};
use std::sync::Arc;
use store::{
    Buffer,
    buffer::{
        Options,
        replication::{self, as_waiting, has_ended, is_unheard},
    },
};

/// About what is read and sent at once.
pub(super) const PART_BYTES: usize = 2 << 20;

impl Pair {
    /// Fetches what changed after this place and writes it down, in words what that was.
    pub(super) async fn fetch(&self, session: &mut PeerSession, after: i64) -> Result<String, String> {
        let Some(changes) = session.changes(after).await? else {
            // Look again: its log has been let go of, or it is active no more.
            session.node = session.look().await?;
            return Ok("what changed is not in the log of the other machine any more".into());
        };
        let (n, to, head) = (changes.rows.len() + changes.gone.len(), changes.to, changes.head);
        if !self.is_of_our_turn(session, &changes).await? {
            return Ok("the active machine is in another turn".into());
        }
        if to > after || !self.standing().caught_up {
            let applied = self.buffer.apply(changes).await;
            applied.map_err(|e| self.cannot_write(&e))?;
        }
        self.copied_to(to, head);
        session.node.position = head;
        Ok(format!("{n} rows were copied"))
    }

    /// Whether the answer is of the turn that this file knows. The question may have come to the active one after it had gone on without
    /// this machine: with such rows the file would seem to have forked, and all of it would be copied again.
    async fn is_of_our_turn(&self, session: &mut PeerSession, changes: &Changes) -> Result<bool, String> {
        let ours = self.standing().history;
        if changes.turn == Some(ours.rank()) || (changes.turn.is_none() && changes.to == changes.from) {
            return Ok(true);
        }
        session.node = session.look().await?;
        Ok(changes.turn.is_none() && session.node.history == ours)
    }

    /// Makes a whole copy in a file beside the buffer. When it is complete the agent starts anew with it.
    pub(super) async fn copy_all(&self, session: &mut PeerSession, keep: bool) -> Result<String, String> {
        tracing::info!(
            peer = session.about.name,
            "a whole copy is made from the other machine"
        );
        // Until the copy has taken its place, this file lacks whatever happens meanwhile.
        let behind = self.buffer.falls_behind().await;
        behind.map_err(|e| self.cannot_write(&e))?;
        let side = self.open_side().await?;
        let copied = self.fill(session, &side).await;
        side.close().await;
        self.copying(None);
        let rows = copied?;
        tracing::info!(rows, "the copy is whole");
        self.turn.send_replace(Some(Turn::CopyIsWhole { keep }));
        Ok(format!("a whole copy of {rows} rows was made"))
    }

    async fn open_side(&self) -> Result<Arc<Buffer>, String> {
        let (buffer, clock) = (self.buffer.path().to_owned(), self.clock.clone());
        let (name, inline) = (self.settings.name.clone(), self.buffer.is_inline());
        let opened = tokio::task::spawn_blocking(move || {
            let options = Options {
                node: name,
                inline,
                ..Options::at(replication::side_file(&buffer)?)
            };
            Buffer::open(&options, clock)
        });
        let opened = opened.await.map_err(|e| e.to_string())?;
        opened.map(Arc::new).map_err(|e| domain::chain(&e))
    }

    /// Table by table, then what changed meanwhile; how many rows that were.
    async fn fill(&self, session: &mut PeerSession, side: &Buffer) -> Result<u64, String> {
        let broken = |e: store::Error| self.cannot_write(&e);
        let began = session.look().await?;
        // The copy is another file of the same machine: what was not known of that is not known of this.
        let joined = self.node().await?.joins(&began.history, began.vouches);
        let longest = self.buffer.longest_lease().await.map_err(broken)?;
        side.set_longest_lease(longest).await.map_err(broken)?;
        side.copy_begins(began.position, began.history.clone(), began.stale, joined)
            .await
            .map_err(broken)?;
        let mut rows = 0;
        for table in Table::ALL {
            let mut after = None;
            loop {
                let part = session.copy(table, after).await?;
                rows += part.rows.len() as u64;
                self.copying(Some(rows));
                side.put_part(table, part.rows).await.map_err(broken)?;
                after = part.next;
                if after.is_none() {
                    break;
                }
            }
        }
        let (mut position, mut followed) = (began.position, began);
        loop {
            // While a copy takes long the active one may go on without this machine, in another turn: what is fetched from here on is
            // of that. A file that did not know of the turn would seem to have forked, and all of it would be copied again.
            let now = session.look().await?;
            if (&now.history, now.stale, now.vouches) != (&followed.history, followed.stale, followed.vouches)
            {
                let joined = self.node().await?.joins(&now.history, now.vouches);
                let adopted = side.follow(now.history.clone(), now.stale, joined).await;
                adopted.map_err(broken)?;
                followed = now;
            }
            let gone = "what changed during the copy is not in its log any more";
            let changes = session.changes_beside(position).await?.ok_or(gone)?;
            if changes.turn.is_some_and(|turn| turn != followed.history.rank()) {
                continue;
            }
            let all = changes.are_all();
            position = changes.to;
            side.apply(changes).await.map_err(broken)?;
            if all {
                return Ok(rows);
            }
        }
    }

    /// [`Self::hand_in_ended`], unless this very file was told: a copy that does not come to its end is begun again and again, and
    /// each time the news would be put in once more.
    pub(super) async fn tell_ends_once(&self, session: &mut PeerSession, after: i64) -> Result<u64, String> {
        let to = session.node.id;
        let told = lock(&self.ends_told).filter(|(told, _)| *told == to);
        if let Some((_, rows)) = told {
            return Ok(rows);
        }
        let rows = self.hand_in_ended(session, after).await?;
        *lock(&self.ends_told) = Some((to, rows));
        Ok(rows)
    }

    /// Tells the other what became here of calls and writes after this change: what it still keeps of them it does not make again, and
    /// what it never had it knows. With them goes what central has not heard. How many rows that were.
    async fn hand_in_ended(&self, session: &mut PeerSession, after: i64) -> Result<u64, String> {
        let (mut place, mut told) = (after, 0);
        loop {
            let changes = self.buffer.changes(place, PART_BYTES).await;
            let Some(changes) = changes.map_err(|e| domain::chain(&e))? else {
                tracing::info!("the log does not go back so far: everything that has ended is told");
                return self.hand_in_all_ended(session).await;
            };
            let (all, to) = (changes.are_all(), changes.to);
            let mut handed = HandIn::default();
            for (table, row) in changes.rows {
                match table {
                    Table::Tracking if has_ended(&row) => handed.ended.push(row),
                    Table::Telemetry if is_unheard(&row) => handed.news.push(row),
                    _ => {}
                }
            }
            told += tell(session, handed).await?;
            if all || to <= place {
                return Ok(told);
            }
            place = to;
        }
    }

    /// The same of everything that is known to have ended: the other takes what it still keeps, or never had.
    async fn hand_in_all_ended(&self, session: &mut PeerSession) -> Result<u64, String> {
        let mut told = 0;
        for table in [Table::Tracking, Table::Telemetry] {
            let mut after = None;
            loop {
                let part = self.buffer.copy_part(table, after, PART_BYTES).await;
                let part = part.map_err(|e| domain::chain(&e))?;
                let rows = part.rows.into_iter();
                let handed = match table {
                    Table::Tracking => HandIn {
                        ended: rows.filter(has_ended).collect(),
                        ..HandIn::default()
                    },
                    _ => HandIn {
                        news: rows.filter(is_unheard).collect(),
                        ..HandIn::default()
                    },
                };
                told += tell(session, handed).await?;
                after = part.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(told)
    }

    /// Hands in what was accepted here from this place on: what waits or is parked, and before it what central has acknowledged and
    /// this machine still remembers, because central may be put back to before that. How many messages that were.
    pub(super) async fn hand_in(&self, session: &mut PeerSession, first: i64) -> Result<u64, String> {
        let remembered = self.hand_in_rows(session, Table::Tombstones, first).await?;
        if remembered.taken > 0 {
            tracing::info!(
                n = remembered.taken,
                "notifications that central acknowledged to this machine were handed in; the active one forwards them once more"
            );
        }
        let waiting = self.hand_in_rows(session, Table::Messages, first).await?;
        let (taken, known) = (waiting.taken, waiting.known + waiting.unreadable);
        if taken + known > 0 {
            tracing::warn!(
                n = taken,
                known,
                "messages that only this machine had were handed in to the active one"
            );
        }
        Ok(remembered.taken + taken + known)
    }

    async fn hand_in_rows(
        &self,
        session: &mut PeerSession,
        table: Table,
        first: i64,
    ) -> Result<TakenIn, String> {
        let mut after = Some(Value::Integer(first.saturating_sub(1)));
        let mut all = TakenIn::default();
        while let Some(place) = after {
            let part = self.buffer.copy_part(table, Some(place), PART_BYTES).await;
            let part = part.map_err(|e| domain::chain(&e))?;
            after = part.next;
            let messages = match table {
                Table::Tombstones => part.rows.iter().filter_map(as_waiting).collect(),
                _ => part.rows,
            };
            if !messages.is_empty() {
                let handed = HandIn {
                    messages,
                    ..HandIn::default()
                };
                let done = session.hand_in(handed).await?;
                all.taken += done.taken;
                all.known += done.known;
                all.unreadable += done.unreadable;
            }
        }
        Ok(all)
    }
}

/// Says so to the other, if there is anything to say; how many rows that were.
async fn tell(session: &mut PeerSession, handed: HandIn) -> Result<u64, String> {
    let rows = (handed.ended.len() + handed.news.len()) as u64;
    if rows > 0 {
        session.hand_in(handed).await?;
    }
    Ok(rows)
}
