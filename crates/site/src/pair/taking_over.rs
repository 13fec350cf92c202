//! Taking over because a person says so, here or at the other machine, or because that is in trouble.
//!
//! Leaves to others: what the other does to hand over ([`super::handover`]), taking over from one that is gone ([`super::renewing`]).

use super::{NotNow, Pair, Turn};
use domain::{
    Actor,
    pair::{Meeting, Node, Plan, Relief, Role},
};
use link::peer::PeerSession;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// How long whoever takes over fetches what the other still has.
const FETCH_TIME: Duration = Duration::from_secs(30);
/// Changes a copy may lack when the other hands over: nothing is sent until it has them.
const MOST_BEHIND: i64 = 50_000;
/// How long somebody who wants to take over waits for a fetch that is under way.
const BUSY_TIME: Duration = Duration::from_secs(60);
/// How soon the other, which starts anew, is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Why a machine takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Somebody said so here.
    Person {
        /// And that the other machine does not run, if it cannot be asked.
        force: bool,
    },
    /// Somebody said so at the other machine.
    OtherMachine,
    /// The other is in trouble.
    Trouble(Relief),
}

impl Cause {
    fn words(self) -> String {
        match self {
            Self::Person { force: false } => "`promote` was said here".into(),
            Self::Person { force: true } => "`promote --force` was said here".into(),
            Self::OtherMachine => "`demote` was said at the other machine".into(),
            Self::Trouble(why) => format!("the other machine handed over by itself: {why}"),
        }
    }

    fn is_forced(self) -> bool {
        self == Self::Person { force: true }
    }
}

impl Pair {
    /// Makes this machine the active one. The other one hands over if it is active, and nothing is sent twice or lost. Where
    /// it cannot be asked, or has more than this one, only `force` does it: then it must be certain that it does not run.
    /// Once begun it goes on to its end, whether or not anybody waits for it.
    pub async fn promote(self: &Arc<Self>, force: bool) -> Result<Node, NotNow> {
        self.take_over(Cause::Person { force }).await
    }

    pub(super) async fn take_over(self: &Arc<Self>, why: Cause) -> Result<Node, NotNow> {
        let pair = self.clone();
        let done = tokio::spawn(async move { pair.take_over_now(why).await });
        done.await.unwrap_or_else(|e| Err(NotNow::Failed(e.to_string())))
    }

    async fn take_over_now(&self, why: Cause) -> Result<Node, NotNow> {
        let force = why.is_forced();
        let busy = timeout(BUSY_TIME, self.busy.lock()).await;
        let _busy =
            busy.map_err(|_| NotNow::Failed("a whole copy is being made; wait until it is".into()))?;
        if self.role() == Role::Active {
            if force {
                self.buffer.promote(0, true).await?;
                self.look_at_lease();
                self.has_taken_over(why).await;
            }
            return Ok(self.buffer.node().await?);
        }
        let (known, sole) = match self.ask().await {
            Ok(session) => (self.take_from(session, force).await?, false),
            Err(_) if force => (0, true),
            Err(why) => {
                return Err(NotNow::Unsafe(format!(
                    "the other machine cannot be asked ({why}); where it is certain that it does not run, force it"
                )));
            }
        };
        // The first turn of all, in an empty file: nobody has anything of it.
        let first = known == 0 && self.standing().history.last().is_none();
        let standing = self.buffer.promote(known, sole || first).await?;
        if let Some(leases) = self.leases() {
            // To nobody: the other has stepped down, or a person said that it does not run.
            leases.released();
        }
        tracing::warn!(
            epoch = standing.history.rank().0,
            force,
            "this machine takes over"
        );
        self.has_taken_over(why).await;
        // Before the buffer is closed for the new turn.
        let node = self.buffer.node().await?;
        self.turn.send_replace(Some(Turn::Changed));
        Ok(node)
    }

    /// In the event log of the site, with who said so.
    async fn has_taken_over(&self, why: Cause) {
        let actor = match why {
            Cause::Person { .. } => Some(Actor::new("local")),
            Cause::OtherMachine | Cause::Trouble(_) => None,
        };
        self.log_takeover(&why.words(), actor.as_ref()).await;
    }

    /// The roles have changed. That this cannot be told does not undo it.
    pub(super) async fn log_takeover(&self, why: &str, actor: Option<&Actor>) {
        if let Some(leases) = self.leases() {
            leases.roles_change();
        }
        if let Err(error) = self.buffer.took_over(why, actor).await {
            tracing::warn!(
                error = domain::chain(&error),
                "the event log does not say that this machine took over"
            );
        }
    }

    /// Has the other machine hand over, or makes sure that it has nothing that this one lacks. The highest counter it knows.
    async fn take_from(&self, mut session: PeerSession, force: bool) -> Result<u64, NotNow> {
        let ours = self.node().await.map_err(NotNow::Failed)?;
        let theirs = session.node.clone();
        let joined = ours.joined.filter(|id| theirs.vouches != Some(*id));
        if joined.is_some() && self.leases().is_some() && !force {
            return Err(NotNow::Unsafe(
                "this machine has a new disk, and central has not confirmed since that nothing was made before that the other does not \
                 know of; wait until it has, or force it"
                    .into(),
            ));
        }
        if theirs.role == Role::Active {
            match ours.meets(&theirs) {
                Meeting::Follow(Plan::Changes { after })
                    if theirs.position.saturating_sub(after) <= MOST_BEHIND => {}
                _ => {
                    return Err(NotNow::Failed(
                        "the copy of this machine is not complete; wait until it is".into(),
                    ));
                }
            }
            self.adopts_turns_of(&theirs).await?;
            let stepped_down = self.has_other_step_down(&mut session).await;
            let stepped_down = stepped_down.map_err(NotNow::Failed)?;
            // Central may have given it a turn meanwhile, which this one would be stale without.
            self.adopts_turns_of(&stepped_down).await?;
            self.fetch_rest(session, &stepped_down).await?;
            return Ok(stepped_down.history.rank().0);
        }
        let has_more = (theirs.history.rank(), theirs.position) > (ours.history.rank(), ours.position);
        if has_more && !force {
            return Err(NotNow::Unsafe(
                "neither machine is active and the other one has more than this one: promote that one".into(),
            ));
        }
        Ok(theirs.history.rank().0)
    }

    /// Everything that is here came from the other machine, and so do its turns.
    async fn adopts_turns_of(&self, other: &Node) -> Result<(), NotNow> {
        let ours = self.node().await.map_err(NotNow::Failed)?;
        if ours.history != other.history {
            let joined = ours.joins(&other.history, other.vouches);
            self.buffer
                .follow(other.history.clone(), other.stale, joined)
                .await?;
        }
        Ok(())
    }

    /// The other steps down once everything it has is here: what it still writes down until then is fetched meanwhile.
    async fn has_other_step_down(&self, session: &mut PeerSession) -> Result<Node, String> {
        let beside = session.clone();
        tokio::select! {
            stepped_down = session.step_down() => stepped_down,
            never = self.goes_on_fetching(beside) => match never {},
        }
    }

    async fn goes_on_fetching(&self, mut session: PeerSession) -> Infallible {
        loop {
            let position = self.standing().position;
            let fetched = self.fetch(&mut session, position).await;
            let adopted = self.adopts_turns_of(&session.node).await;
            if fetched.is_err() || adopted.is_err() || self.standing().position == position {
                sleep(ASK_AGAIN).await;
            }
        }
    }

    /// Everything the other had when it stepped down. It starts anew meanwhile, and is asked until it is there.
    async fn fetch_rest(&self, mut session: PeerSession, other: &Node) -> Result<(), NotNow> {
        let until = Instant::now() + FETCH_TIME;
        session.node = other.clone();
        let mut session = Some(session);
        loop {
            let position = self.standing().position;
            if position >= other.position {
                return Ok(());
            }
            let fetched = match &mut session {
                Some(session) => self.fetch_more(session, position).await,
                None => self.ask().await.map(|asked| session = Some(asked)),
            };
            if session.as_ref().is_some_and(|s| s.node.role == Role::Active) {
                return Err(NotNow::Failed(
                    "the other machine had stepped down, and has become active again meanwhile".into(),
                ));
            }
            if let Err(why) = fetched {
                session = None;
                if Instant::now() > until {
                    return Err(NotNow::Failed(format!(
                        "the other machine has stepped down, and what it still had could not be fetched ({why}); \
                         promote that one again"
                    )));
                }
                sleep(ASK_AGAIN).await;
            }
        }
    }

    /// An answer that brings nothing is none: asked at once, it would be given again and again.
    async fn fetch_more(&self, session: &mut PeerSession, position: i64) -> Result<(), String> {
        let did = self.fetch(session, position).await?;
        match self.standing().position > position {
            true => Ok(()),
            false => Err(did),
        }
    }
}
