//! The loop that asks the other machine: an active one whether it still is, a standby for what it has not got yet.

use super::Pair;
use async_trait::async_trait;
use domain::pair::{Meeting, Node, Plan, Role};
use link::peer::{self, PeerSession};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use store::{
    buffer::replication::{LOG_LIMIT, SCHEMA},
    loops::{About, Loop, Swept},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often an active one looks at the other, and how soon one that cannot be asked is asked again.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How soon a standby that could not write down what it fetched tries again.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(10);

/// Asks the other machine again and again.
pub(crate) struct Watch {
    pair: Arc<Pair>,
    stop: CancellationToken,
    session: Option<PeerSession>,
    /// When the active one last did not take what this standby accepted itself.
    not_taken_at: Option<Instant>,
}

/// What one look came to.
enum Looked {
    /// In words; look again in a while.
    Done(String),
    /// There may be more at once.
    More(String),
}

#[async_trait]
impl Loop for Watch {
    fn about(&self) -> About {
        About::every(
            "pair",
            "asks the other machine of this site, and copies from it as a standby",
            LOOK_EVERY,
        )
    }

    async fn sweep(&mut self) -> Swept {
        let (pair, stop) = (self.pair.clone(), self.stop.clone());
        // What was fetched and not written is fetched again.
        let looked = tokio::select! {
            biased;
            () = stop.cancelled() => return Swept::did("stopped"),
            looked = self.look() => looked,
        };
        match looked {
            Ok(Looked::More(did)) => Swept::did(did).within(Duration::ZERO),
            Ok(Looked::Done(did)) => Swept::did(did),
            Err(why) => {
                self.session = None;
                pair.copying(None);
                if pair.has_no_room(&why) {
                    // The other is there. Each time it is asked it may have to go on without this one anew.
                    return Swept::failed(why).not_before(NO_ROOM_PAUSE);
                }
                pair.trouble(&why);
                Swept::failed(why)
            }
        }
    }
}

impl Watch {
    pub fn new(pair: Arc<Pair>, stop: CancellationToken) -> Self {
        Self {
            pair,
            stop,
            session: None,
            not_taken_at: None,
        }
    }

    async fn look(&mut self) -> Result<Looked, String> {
        let pair = self.pair.clone();
        let _busy = pair.busy.lock().await;
        let ours = pair.node().await?;
        if ours.role == Role::Active {
            // Also while the other is away: the log has an end.
            let trimmed = pair.buffer.trim_log(pair.standby_has(), LOG_LIMIT).await;
            trimmed.map_err(|e| domain::chain(&e))?;
        }
        let session = match &mut self.session {
            Some(session) => {
                // A standby that follows hears of another turn with what it fetches.
                let again = pair.looks_again.swap(false, Ordering::SeqCst);
                if ours.role == Role::Active || session.node.role != Role::Active || again {
                    session.node = session.look().await?;
                }
                session
            }
            None => {
                let session = pair.ask().await?;
                self.session.insert(session)
            }
        };
        pair.answered(Some(&session.about), &session.node);
        match ours.meets(&session.node) {
            Meeting::SameFile => Err("its buffer is a copy of this one's: give it a file of its own".into()),
            Meeting::Lead => {
                pair.look_for_relief();
                Ok(Looked::Done("the other machine is the standby".into()))
            }
            Meeting::StepDown => {
                tracing::warn!("the other machine was made active after this one: this one steps down");
                let pair = pair.clone();
                // Not from here: stepping down waits for this loop to end.
                tokio::spawn(async move {
                    if let Err(error) = pair.step_down_now().await {
                        tracing::error!(error = domain::chain(&error), "this machine cannot step down");
                    }
                });
                Ok(Looked::Done("the other machine was made active".into()))
            }
            Meeting::NobodyIsActive => Ok(Looked::Done(
                "neither machine is active: `waypost site promote` on one of them says which is to be".into(),
            )),
            Meeting::Follow(plan) => {
                if session.about.schema > SCHEMA {
                    return Err(format!(
                        "it runs Waypost {}, whose rows this one does not understand: update the standby first",
                        session.about.version
                    ));
                }
                hand_in_own(&pair, session, &mut self.not_taken_at).await;
                follow(&pair, session, &ours, plan).await
            }
        }
    }
}

/// What this standby accepted itself goes to the active one before anything else. Where that does not take it, it is tried again in a
/// while, and the copy is kept up to date meanwhile.
async fn hand_in_own(pair: &Pair, session: &mut PeerSession, not_taken_at: &mut Option<Instant>) {
    if pair.own.count() == 0 || not_taken_at.is_some_and(|at| at.elapsed() < NO_ROOM_PAUSE) {
        return;
    }
    let done = pair.hand_in_own(session).await;
    *not_taken_at = done.is_err().then(Instant::now);
    if let Err(why) = done {
        tracing::warn!(
            reason = why,
            "what this standby accepted itself cannot be handed in yet"
        );
    }
}

async fn follow(
    pair: &Arc<Pair>,
    session: &mut PeerSession,
    ours: &Node,
    plan: Plan,
) -> Result<Looked, String> {
    match plan {
        Plan::Changes { after } => {
            if ours.stale {
                // It may have met somebody since.
                session.node = session.look().await?;
            }
            let theirs = &session.node;
            let joined = ours.joins(&theirs.history, theirs.vouches);
            if (&ours.history, ours.stale, ours.joined) != (&theirs.history, theirs.stale, joined) {
                let adopted = pair.buffer.follow(theirs.history.clone(), theirs.stale, joined);
                adopted.await.map_err(|e| pair.cannot_write(&e))?;
            }
            pair.fetch(session, after).await.map(Looked::More)
        }
        Plan::Copy => pair.copy_all(session, false).await.map(Looked::Done),
        Plan::HandInAndCopy { first_message, after } => {
            let told = pair.tell_ends_once(session, after).await?;
            let handed_in = pair.hand_in(session, first_message).await?;
            // Of a past in common this file has become another one: what the winner did not take is nowhere else.
            let differs = after > 0;
            let keep = differs || told + handed_in > 0;
            pair.copy_all(session, keep).await.map(Looked::Done)
        }
    }
}

impl Pair {
    pub(super) async fn node(&self) -> Result<Node, String> {
        self.buffer.node().await.map_err(|e| domain::chain(&e))
    }

    /// The other machine, once both have proved themselves.
    pub(super) async fn ask(&self) -> Result<PeerSession, String> {
        let node = self.node().await?;
        let session = peer::connect(&self.settings.peer, self.about(), node).await?;
        self.answered(Some(&session.about), &session.node);
        Ok(session)
    }
}
