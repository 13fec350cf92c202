//! Hands buffered notifications over to central: oldest first, several batches under way, as fast as the link goes.
//!
//! Leaves to others: the wire (`link`), which database answered last (`store::buffer`).
//! Always true: a row is cleared only after central's acknowledgement, and only while the database that gave it is
//! the one last met; one refused notification is parked alone.

mod batch;
mod tries;
mod under_way;

use crate::settings::Settings;
use batch::Settled;
use domain::{Clock, retry, site::DatabaseIdentity};
use link::{LinkState, Uplink};
use std::{sync::Arc, time::Duration};
use store::Buffer;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use under_way::{Done, UnderWay};

/// How long what central acknowledged is remembered.
pub const REMEMBERED: Duration = Duration::from_secs(15 * 60);
const TIDY: Duration = Duration::from_secs(60);
/// The first wait after central said "not now".
const NOT_NOW: Duration = Duration::from_millis(250);

/// Cheap to clone; all clones are one forwarder.
#[derive(Clone)]
pub struct Forwarder {
    pub buffer: Arc<Buffer>,
    pub uplink: Arc<dyn Uplink>,
    pub settings: Arc<Settings>,
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forwarder")
    }
}

/// Why forwarding came to a halt.
#[derive(Debug, PartialEq, Eq)]
enum Halt {
    /// The link is down, or leads to another database.
    Link,
    /// An answer did not come, or proves nothing.
    Broken,
    /// The buffer cannot be written or read.
    Buffer,
    Stopped,
}

impl Forwarder {
    /// Forwards whenever the link is up, until stopped. Batches under way at a stop are not waited for: what was
    /// not cleared is sent again, which central recognises.
    pub async fn run(&self, stop: CancellationToken) {
        let mut state = self.uplink.state();
        let mut wait = NOT_NOW;
        loop {
            let Some(central) = self.link_up(&mut state, &stop).await else {
                return;
            };
            let met = self.buffer.met_central(&central).await;
            let halt = match met {
                Ok(again) => {
                    if again > 0 {
                        info!(
                            n = again,
                            "central was restarted, restored or moved to another database; what it acknowledged last is sent again, and central knows what it has"
                        );
                    }
                    let before = self.buffer.depth().waiting();
                    let halt = self.forward(&central, &mut state, &stop).await;
                    if self.buffer.depth().waiting() < before {
                        wait = NOT_NOW;
                    }
                    halt
                }
                Err(e) => self.troubled(&e),
            };
            match halt {
                Halt::Stopped => return,
                Halt::Link => wait = NOT_NOW,
                // Usually the link is found to be down meanwhile; where it is not, this must not spin.
                Halt::Broken | Halt::Buffer => {
                    tokio::select! { biased; () = stop.cancelled() => return, () = tokio::time::sleep(wait) => {} }
                    wait = retry::slower(wait);
                }
            }
        }
    }

    /// The database central keeps its rows in, once the link is up.
    async fn link_up(
        &self,
        state: &mut watch::Receiver<LinkState>,
        stop: &CancellationToken,
    ) -> Option<DatabaseIdentity> {
        let up = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            up = state.wait_for(LinkState::is_up) => up,
        };
        match &*up.ok()? {
            LinkState::Up { central, .. } => Some(central.clone()),
            LinkState::Down { .. } => None,
        }
    }

    /// Reads ahead while batches are under way: neither the file nor the link waits for the other.
    async fn forward(
        &self,
        central: &DatabaseIdentity,
        state: &mut watch::Receiver<LinkState>,
        stop: &CancellationToken,
    ) -> Halt {
        let mut under_way = UnderWay::default();
        let mut again_at: Option<Instant> = None;
        let mut not_now = NOT_NOW;
        let mut tidy = tokio::time::interval(TIDY);
        tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            under_way.rewind |= self.buffer.wake().take_rewind();
            if let Some(place) = under_way.read_on() {
                let this = self.clone();
                under_way
                    .tasks
                    .spawn(async move { Done::Read(this.next_batch(place).await) });
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return Halt::Stopped,
                changed = state.changed() => {
                    let same = changed.is_ok() && leads_to(&state.borrow(), central);
                    if !same {
                        return Halt::Link;
                    }
                }
                Some(done) = under_way.tasks.join_next() => match done {
                    Ok(Done::Read(Ok(batch))) => if let Some(batch) = under_way.read(batch) {
                        let (this, central) = (self.clone(), central.clone());
                        under_way.tasks.spawn(async move { Done::Carried(this.carry(&central, batch).await) });
                    },
                    Ok(Done::Carried(Ok(settled))) => {
                        under_way.carried -= 1;
                        match settled {
                            Settled::All => not_now = NOT_NOW,
                            Settled::Some => {
                                again_at.get_or_insert_with(|| Instant::now() + not_now);
                                not_now = retry::slower(not_now);
                            }
                            Settled::None => return Halt::Broken,
                        }
                    }
                    Ok(Done::Read(Err(e)) | Done::Carried(Err(e))) => return self.troubled(&e),
                    Err(_) => return Halt::Broken,
                },
                () = self.buffer.wake().forward() => under_way.rang(),
                () = until(again_at) => {
                    again_at = None;
                    under_way.rewind = true;
                }
                _ = tidy.tick() => {
                    let before = self.clock.now() - REMEMBERED;
                    if let Err(e) = self.buffer.forget_acked(before).await {
                        return self.troubled(&e);
                    }
                }
            }
        }
    }

    fn troubled(&self, error: &store::Error) -> Halt {
        warn!(
            error = error as &dyn std::error::Error,
            "the buffer cannot be used; forwarding goes on when it can"
        );
        Halt::Buffer
    }
}

fn leads_to(state: &LinkState, to: &DatabaseIdentity) -> bool {
    matches!(state, LinkState::Up { central, .. } if central == to)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
