//! What the other machine may ask.

use super::{Pair, copying::PART_BYTES, passing_on, taking_over::Cause};
use async_trait::async_trait;
use domain::pair::{Changes, Copied, Follower, NoPromise, Node, Rank, Relief, Role, Row, Table, Value};
use link::peer::{About, FOLLOW_WAIT, HandIn, NotSent, PeerHost, SendAnswered, SendAsked, TakenIn};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use store::buffer::{Recovered, replication::SCHEMA};
use uuid::Uuid;

/// This machine, as the other sees it.
#[derive(Debug)]
pub struct Host(pub Arc<Pair>);

fn words(error: store::Error) -> String {
    domain::chain(&error)
}

#[async_trait]
impl PeerHost for Host {
    fn about(&self) -> About {
        self.0.about()
    }

    async fn node(&self) -> Result<Node, String> {
        self.0.disk_answers()?;
        self.0.node().await
    }

    async fn met(&self, about: About, other: Node) -> Result<(), String> {
        self.0.disk_answers()?;
        if other.id == self.0.buffer.id() {
            return Err("its buffer is this one, or a copy of it: give it a file of its own".into());
        }
        if self.0.role() == Role::Active && about.schema < SCHEMA {
            return Err(format!(
                "{} runs Waypost {}, which does not understand the rows of this one: update the standby first",
                about.name, about.version
            ));
        }
        let ours = self.0.node().await?;
        let joins = other.joins(&ours.history, ours.vouches);
        // Before anything is shown: from here on the lease is needed for it.
        self.0.buffer.other_is_there(joins).await.map_err(words)?;
        self.0.look_at_lease();
        if ours.stale && ours.learns_from(&other) {
            self.0.learns.store(true, Ordering::SeqCst);
        } else if joins.is_some() {
            // Who would have told has lost its disk.
            self.0.learns.store(false, Ordering::SeqCst);
        }
        self.0.heard(Some(&about), &other);
        Ok(())
    }

    /// It runs: also where it only looks, because it is active itself.
    async fn asks(&self) -> Result<(), String> {
        self.0.asks_again();
        self.needs_lease_again().await
    }

    /// Waits a moment where nothing has changed. Asking for what comes after a place says that everything before is on the
    /// disk there.
    async fn changes(&self, _: Uuid, after: i64) -> Result<Option<Changes>, String> {
        self.0.disk_answers()?;
        if self.0.role() == Role::Active {
            let head = self.0.buffer.head().await.map_err(words)?;
            self.0.is_fetched(after, head);
            self.0.copied_to(after, head);
            self.0.standby_follows(after, head);
            if after == head {
                let _ = tokio::time::timeout(FOLLOW_WAIT, self.0.buffer.wake().changed()).await;
            }
            self.0.pacing.turn(head.saturating_sub(after)).await;
        }
        let changes = self.0.buffer.changes(after, PART_BYTES).await.map_err(words)?;
        self.shows_all().await?;
        Ok(changes)
    }

    async fn changes_beside(&self, after: i64) -> Result<Option<Changes>, String> {
        self.0.disk_answers()?;
        let changes = self.0.buffer.changes(after, PART_BYTES).await.map_err(words)?;
        self.0.is_copied();
        self.shows_all().await?;
        Ok(changes)
    }

    async fn copy(&self, table: Table, after: Option<Value>) -> Result<Copied, String> {
        self.0.disk_answers()?;
        let part = self.0.buffer.copy_part(table, after, PART_BYTES).await;
        self.0.is_copied();
        self.shows_all().await?;
        part.map_err(words)
    }

    async fn hand_in(&self, handed: HandIn) -> Result<TakenIn, String> {
        if self.0.role() != Role::Active {
            return Err("this machine is not the active one".into());
        }
        self.0.disk_answers()?;
        let done = self.take_handed_in(handed.messages).await?;
        let buffer = &self.0.buffer;
        let ended = buffer.take_ended(handed.ended).await.map_err(words)?;
        let news = buffer.take_news(handed.news).await.map_err(words)?;
        if ended > 0 {
            tracing::warn!(
                n = ended,
                news,
                "calls and writes that this machine did not know, or that waited here, were made by the other machine"
            );
        }
        Ok(TakenIn {
            taken: done.taken + ended,
            known: done.known,
            unreadable: done.lost,
        })
    }

    /// To its end, also when the other is gone in between.
    async fn step_down(&self) -> Result<Node, String> {
        self.0.disk_answers()?;
        let pair = self.0.clone();
        let done = tokio::spawn(async move { pair.hand_over_now().await });
        let done = done.await.map_err(|e| e.to_string())?;
        done.map_err(|why| domain::chain(&why))
    }

    async fn take_over(&self, why: Option<Relief>) -> Result<Node, String> {
        self.0.disk_answers()?;
        let why = match why {
            Some(why) => {
                self.0.relieves(why).await?;
                Cause::Trouble(why)
            }
            None => Cause::OtherMachine,
        };
        self.0.take_over(why).await.map_err(|why| why.to_string())
    }

    async fn promise(&self, turn: Rank, lease: Duration) -> Result<Duration, String> {
        self.0.disk_answers()?;
        let leases = self
            .0
            .leases()
            .ok_or("this machine has no central, and a person decides who is active")?;
        let standing = self.0.standing();
        let own = Follower {
            follows: standing.role == Role::Standby,
            rank: standing.history.rank(),
            caught_up: standing.caught_up && self.0.had_all_within(lease),
            confirmed: standing.joined.is_none(),
        };
        let promised = leases.promise(turn, lease, own);
        if promised == Err(NoPromise::Behind) {
            // On the disk before it is said: the active one may go on for as long as it holds its lease, and whoever takes over with this
            // copy would make that again.
            self.0.buffer.falls_behind().await.map_err(words)?;
        }
        if matches!(promised, Err(NoPromise::OtherTurn | NoPromise::NotConfirmed)) {
            self.0.looks_again.store(true, Ordering::SeqCst);
        }
        promised.map_err(|why| why.to_string())
    }

    /// To its end, also when the other is gone in between: then it sends the message again under its id.
    async fn send(&self, message: SendAsked) -> Result<SendAnswered, NotSent> {
        self.0.disk_answers().map_err(NotSent::NotTaken)?;
        let agent = self.0.agent.get().cloned().unwrap_or_default();
        let done = tokio::spawn(passing_on::take_in(agent, message));
        done.await
            .unwrap_or_else(|e| Err(NotSent::Unknown(e.to_string())))
    }
}

impl Host {
    /// What was read a moment ago is about to be sent: none of it is this machine's alone any more.
    async fn shows_all(&self) -> Result<(), String> {
        if self.0.role() == Role::Active {
            self.needs_lease_again().await?;
            let last = self.0.buffer.last_message().await.map_err(words)?;
            self.0.shows_up_to(last).await;
        }
        Ok(())
    }

    /// A person said that the other machine does not run, and it asks over the connection it had before: as if it had just been met.
    async fn needs_lease_again(&self) -> Result<(), String> {
        let standing = self.0.standing();
        if standing.sole {
            self.0.disk_answers()?;
            let joins = self.0.joins(&standing);
            self.0.buffer.other_is_there(joins).await.map_err(words)?;
            self.0.look_at_lease();
        }
        Ok(())
    }

    /// The other has it until it knows that this one has it: none of it is attempted without the lease.
    async fn take_handed_in(&self, messages: Vec<Row>) -> Result<Recovered, String> {
        let buffer = &self.0.buffer;
        let handing_in = self.0.own_attempts.hand_in();
        let done = buffer.take_handed_in(messages).await;
        let last = buffer.last_message().await.map_err(words)?;
        self.0.own_attempts.show(last);
        drop(handing_in);
        // What only this machine has may have been passed over meanwhile.
        buffer.wake().look_again();
        done.map_err(words)
    }
}
