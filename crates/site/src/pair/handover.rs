//! Handing over because a person says so, here or at the other machine, or because this one is in trouble; and stepping down where the
//! other is active already.
//!
//! Leaves to others: what the other does to take over ([`super::taking_over`]).

use super::{Pair, Turn};
use domain::pair::{Meeting, Node, Relief, Role};
use std::time::Duration;

/// How long the one that hands over waits until the other has everything.
const REST_TIME: Duration = Duration::from_secs(10);
const LACKS_THE_REST: &str =
    "the one that was to take over did not get everything in time, and this one goes on";

/// Why a machine does not take over, or does not hand over.
#[derive(Debug, thiserror::Error)]
pub enum NotNow {
    /// A person can decide otherwise.
    #[error("{0}")]
    Unsafe(String),
    /// The other machine did not do its part.
    #[error("{0}")]
    Failed(String),
    #[error("the buffer cannot be used")]
    Unavailable(#[from] store::Error),
}

impl Pair {
    /// Has the other machine take over from this one. When this returns, this one sends nothing any more.
    pub async fn demote(&self) -> Result<(), NotNow> {
        self.hand_over(None).await
    }

    pub(super) async fn hand_over(&self, why: Option<Relief>) -> Result<(), NotNow> {
        if self.role() == Role::Standby {
            return Ok(());
        }
        let cannot = |why: String| NotNow::Failed(format!("the other machine cannot take over: {why}"));
        let mut session = self.ask().await.map_err(cannot)?;
        tokio::select! {
            done = session.take_over(why) => done.map(drop).map_err(cannot),
            // It has stepped down and starts anew, so that the other can fetch the rest: whoever asked is not kept waiting for
            // that, because the start would wait for whoever asked.
            _ = self.turned() => match self.role() {
                Role::Standby => Ok(()),
                Role::Active => Err(cannot(LACKS_THE_REST.into())),
            },
        }
    }

    /// An active one that is started looks first whether the other was made active meanwhile. Where that cannot be asked it
    /// goes on.
    pub async fn give_way_to_newer(&self) -> store::Result<()> {
        if self.role() == Role::Standby {
            return Ok(());
        }
        let ours = self.buffer.node().await?;
        match self.ask().await {
            Ok(session) if ours.meets(&session.node) == Meeting::StepDown => {
                tracing::warn!(
                    "the other machine was made active after this one, which is the standby from here on"
                );
                // The lease of a process that has started its agent anew: it is for a turn that is over.
                self.renounces();
                self.buffer.step_down().await.map(drop)
            }
            Ok(_) => Ok(()),
            Err(why) => {
                self.trouble(&why);
                Ok(())
            }
        }
    }

    /// Begins nothing, lets attempts end and the standby fetch how they did, and only then writes down that this machine is active no
    /// more. Where the standby does not get everything in time this machine goes on as what it is: were it lost now, so would be the rest.
    pub(super) async fn hand_over_now(&self) -> Result<Node, NotNow> {
        if self.role() == Role::Standby {
            return Ok(self.buffer.node().await?);
        }
        self.rests().await;
        if !self.standby_gets_all(REST_TIME).await {
            tracing::warn!(
                "the standby does not get everything: this machine does not hand over, and goes on"
            );
            if let Some(leases) = self.leases() {
                leases.handover_failed();
            }
            self.turn.send_replace(Some(Turn::Changed));
            return Err(NotNow::Failed(LACKS_THE_REST.into()));
        }
        Ok(self.steps_down().await?)
    }

    /// The other machine is active: begins nothing, lets attempts end, and writes down that this machine is active no more.
    pub(super) async fn step_down_now(&self) -> store::Result<Node> {
        if self.role() == Role::Standby {
            return self.buffer.node().await;
        }
        self.rests().await;
        self.steps_down().await
    }

    async fn rests(&self) {
        let agent = self.agent.get().and_then(std::sync::Weak::upgrade);
        if let Some(agent) = agent {
            agent.rest().await;
        }
    }

    /// Attempts nothing from here on that both machines know, whatever becomes of stepping down.
    fn renounces(&self) {
        if let Some(leases) = self.leases() {
            leases.renounce();
            leases.roles_change();
            self.look_at_lease();
        }
    }

    async fn steps_down(&self) -> store::Result<Node> {
        self.renounces();
        let done = self.buffer.step_down().await;
        let node = self.buffer.node().await;
        // Also where it could not be written down: then it starts anew as what it was.
        self.turn.send_replace(Some(Turn::Changed));
        let standing = done?;
        tracing::warn!(
            epoch = standing.history.rank().0,
            "this machine is the standby from here on"
        );
        node
    }
}
