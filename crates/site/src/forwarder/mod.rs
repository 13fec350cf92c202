//! Hands buffered notifications over to central: oldest first, several batches under way, as fast as the link goes.
//!
//! Leaves to others: the wire (`link`), which database answered last (`store::buffer`).
//! Always true: a row is cleared only after central's acknowledgement, and only while the database that gave it is
//! the one last met; one refused notification is parked alone.

mod age;
mod batch;
mod session;
mod tries;
mod under_way;

use crate::settings::Settings;
pub(crate) use batch::forwarded;
pub use session::Forwarding;

use age::Age;
use batch::Settled;
use domain::{Clock, chain, retry, site::DatabaseIdentity};
use link::{LinkState, Uplink};
use std::{panic::resume_unwind, sync::Arc, time::Duration};
use store::Buffer;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use under_way::{Done, UnderWay};

/// How long what central acknowledged is remembered.
pub const ACK_MEMORY: Duration = Duration::from_secs(15 * 60);
const FORGET_INTERVAL: Duration = Duration::from_secs(60);
/// The first wait after central said "not now".
const FIRST_RETRY_WAIT: Duration = Duration::from_millis(250);

/// Cheap to clone; all clones are one forwarder.
#[derive(Clone)]
pub struct Forwarder {
    pub buffer: Arc<Buffer>,
    pub uplink: Arc<dyn Uplink>,
    pub settings: Arc<Settings>,
    pub clock: Arc<dyn Clock>,
    /// The site has two machines: what was acknowledged may have been so to the other.
    pub of_pair: bool,
}

impl std::fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forwarder")
    }
}

/// Why forwarding came to a halt.
#[derive(Debug)]
enum Halt {
    /// The link is down, or leads to another database.
    Link,
    /// An answer did not come, or proves nothing.
    Broken,
    /// The buffer cannot be written or read.
    Buffer(store::Error),
    Stopped,
}

impl Forwarder {
    /// Reads ahead while batches are under way: neither the file nor the link waits for the other.
    async fn forward(
        &self,
        central: &DatabaseIdentity,
        state: &mut watch::Receiver<LinkState>,
        age: &mut Age,
        stop: &CancellationToken,
    ) -> Halt {
        let begun = Instant::now();
        let mut under_way = UnderWay::default();
        let mut again_at: Option<Instant> = None;
        let mut not_now = FIRST_RETRY_WAIT;
        let mut tidy = tokio::time::interval(FORGET_INTERVAL);
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
                            Settled::All => not_now = FIRST_RETRY_WAIT,
                            Settled::Some => {
                                again_at.get_or_insert_with(|| Instant::now() + not_now);
                                not_now = retry::slower(not_now);
                            }
                            Settled::None => return Halt::Broken,
                        }
                    }
                    Ok(Done::Read(Err(e)) | Done::Carried(Err(e))) => return Halt::Buffer(e),
                    Err(ended) => return ended.try_into_panic().map_or(Halt::Broken, |panic| resume_unwind(panic)),
                },
                () = self.buffer.wake().forward() => under_way.rang(),
                () = until(again_at) => {
                    again_at = None;
                    under_way.rewind = true;
                }
                _ = tidy.tick() => {
                    // What the other machine was told is remembered for as long on a link of one's own.
                    let told_here = !self.of_pair || begun.elapsed() >= ACK_MEMORY;
                    let now = self.clock.now();
                    // What is forgotten later than it might be stops nobody.
                    if age.is_true(now) && told_here && let Err(e) = self.buffer.forget_acked(now - ACK_MEMORY).await {
                        warn!(error = chain(&e), "what central acknowledged could not be forgotten, will try again");
                    }
                }
            }
        }
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
