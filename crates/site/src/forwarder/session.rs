//! Forwarding as a loop: a run lasts as long as the link does.

use super::{FIRST_RETRY_WAIT, Forwarder, Halt, age::Age};
use async_trait::async_trait;
use domain::{chain, retry, site::DatabaseIdentity};
use link::LinkState;
use std::{future::pending, sync::Arc, time::Duration};
use store::loops::{About, Loop, Swept};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Forwards whenever the link is up, until stopped. Batches under way at a stop are not waited for: what was not cleared
/// is sent again, which central recognises.
pub struct Forwarding {
    forwarder: Arc<Forwarder>,
    state: watch::Receiver<LinkState>,
    stop: CancellationToken,
    /// Of what is remembered, whether or not the link is up.
    age: Age,
    wait: Duration,
}

impl Forwarding {
    pub fn new(forwarder: Arc<Forwarder>, stop: CancellationToken) -> Self {
        Self {
            state: forwarder.uplink.state(),
            age: Age::new(forwarder.clock.now()),
            forwarder,
            stop,
            wait: FIRST_RETRY_WAIT,
        }
    }

    async fn session(&mut self, central: &DatabaseIdentity) -> Halt {
        let buffer = &self.forwarder.buffer;
        let again = match buffer.met_central(central).await {
            Ok(again) => again,
            Err(e) => return Halt::Buffer(e),
        };
        if again > 0 {
            info!(
                n = again,
                "central was restarted, restored or moved to another database; what it acknowledged last is sent again, and central knows what it has"
            );
        }
        let before = buffer.depth().waiting();
        let halt = self
            .forwarder
            .forward(central, &mut self.state, &mut self.age, &self.stop)
            .await;
        if self.forwarder.buffer.depth().waiting() < before {
            self.wait = FIRST_RETRY_WAIT;
        }
        halt
    }

    /// Usually the link is found to be down meanwhile; where it is not, this must not spin.
    fn later(&mut self, swept: Swept) -> Swept {
        let wait = self.wait;
        self.wait = retry::slower(wait);
        swept.not_before(wait)
    }
}

impl std::fmt::Debug for Forwarding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forwarding")
    }
}

#[async_trait]
impl Loop for Forwarding {
    fn about(&self) -> About {
        About::when_woken(
            "forward",
            "hands notifications over to central; a run lasts as long as the link does",
            FIRST_RETRY_WAIT,
        )
    }

    async fn woken(&mut self) {
        if self.state.wait_for(LinkState::is_up).await.is_err() {
            // The link is gone for good: this process ends.
            pending().await
        }
    }

    async fn sweep(&mut self) -> Swept {
        let LinkState::Up { central, .. } = self.state.borrow_and_update().clone() else {
            return Swept::did("central cannot be reached");
        };
        match self.session(&central).await {
            Halt::Stopped => Swept::did("stopped"),
            Halt::Link => {
                self.wait = FIRST_RETRY_WAIT;
                Swept::did("handed over what it could, until the link ended")
            }
            Halt::Broken => self.later(Swept::did(
                "an answer did not come, or proves nothing; what was under way is sent again",
            )),
            Halt::Buffer(error) => self.later(Swept::failed(format!(
                "the buffer cannot be used: {}",
                chain(&error)
            ))),
        }
    }
}
