//! Hands buffered notifications over to central: oldest first, several batches under way, as fast as the link goes.
//!
//! Leaves to others: the wire (`link`), which database answered last (`store::buffer`).
//! Always true: a row is cleared only after central's acknowledgement, and only while the database that gave it is
//! the one last met; one refused notification is parked alone.

use crate::{engine, payload, payload::NotificationPayload, settings::Settings};
use domain::{
    Clock, Failure, NotificationId, Scope, Target, retry,
    site::{Category, DatabaseIdentity},
};
use futures_util::stream::{FuturesUnordered, StreamExt};
use link::{Ack, Down, Forward, LinkState, Uplink};
use std::{sync::Arc, time::Duration};
use store::{
    Buffer, Result,
    buffer::{Attempted, Count, Handed, Message},
};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Notifications in a batch, and about how many bytes.
const BATCH: u32 = 500;
const BATCH_BYTES: usize = 1 << 20;
/// Batches under way.
const WINDOW: usize = 4;
/// How long what central acknowledged is remembered.
pub const REMEMBERED: Duration = Duration::from_secs(15 * 60);
/// Notifications with a limit for which a try is counted in one commit.
const COUNTED: u32 = 1_000;
const TIDY: Duration = Duration::from_secs(60);
/// The first wait after central said "not now".
const NOT_NOW: Duration = Duration::from_millis(250);

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

/// What became of one batch.
struct Answered {
    seqs: Vec<i64>,
    answer: Result<Vec<Ack>, Down>,
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
                        warn!(
                            n = again,
                            "central's database is another one than before; what the earlier one acknowledged is sent again"
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

    async fn forward(
        &self,
        central: &DatabaseIdentity,
        state: &mut watch::Receiver<LinkState>,
        stop: &CancellationToken,
    ) -> Halt {
        let mut under_way = FuturesUnordered::new();
        let mut place = 0;
        let mut more = true;
        let mut again_at: Option<Instant> = None;
        let mut not_now = NOT_NOW;
        let mut tidy = tokio::time::interval(TIDY);
        tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rewind = false;
        loop {
            rewind |= self.buffer.wake().take_rewind();
            // Going back while batches are under way would only send them twice.
            if rewind && under_way.is_empty() {
                (place, more, rewind) = (0, true, false);
            }
            while more && !rewind && under_way.len() < WINDOW {
                match self.next_batch(&mut place).await {
                    Ok(Some((seqs, batch))) => under_way.push(self.submit(seqs, batch)),
                    Ok(None) => more = false,
                    Err(e) => return self.troubled(&e),
                }
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
                Some(answered) = under_way.next(), if !under_way.is_empty() => {
                    match self.settle(central, answered).await {
                        Ok(Settled::All) => not_now = NOT_NOW,
                        Ok(Settled::Some) => {
                            again_at.get_or_insert_with(|| Instant::now() + not_now);
                            not_now = retry::slower(not_now);
                        }
                        Ok(Settled::None) => return Halt::Broken,
                        Err(e) => return self.troubled(&e),
                    }
                }
                () = self.buffer.wake().forward() => more = true,
                () = until(again_at) => {
                    again_at = None;
                    rewind = true;
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

    /// While the link is down, notifications with a limit use up their tries like any other message; those without
    /// (the default) just wait. Called by every sweep.
    pub async fn count_tries(&self) -> Result<()> {
        let LinkState::Down { since, why } = self.uplink.state().borrow().clone() else {
            return Ok(());
        };
        let failure = Failure::transient(
            Scope::Lane,
            "LINK_DOWN",
            format!("central is not reachable since {since}: {why}"),
        );
        let now = self.clock.now();
        for due in self.buffer.targets_due().await? {
            if due.category != Category::Notification || due.due_at > now {
                continue;
            }
            while self.count_a_try(&due.target, &failure).await? == COUNTED as usize {}
        }
        Ok(())
    }

    /// Counts a try for some of those that are due; for how many.
    async fn count_a_try(&self, target: &str, failure: &Failure) -> Result<usize> {
        let claimed = self
            .buffer
            .claim_due(Category::Notification, target, COUNTED)
            .await?;
        let now = self.clock.now();
        let attempted = claimed.iter().map(|message| Attempted {
            ticket: message.ticket(),
            step: engine::step(message, failure, Count::Try, now.since(message.created_at)),
            started_at: now,
            took: Duration::ZERO,
            http_status: None,
        });
        self.buffer.record(attempted.collect()).await?;
        Ok(claimed.len())
    }

    async fn submit(&self, seqs: Vec<i64>, batch: Vec<Forward>) -> Answered {
        let answer = self.uplink.submit(batch).await;
        Answered { seqs, answer }
    }

    /// The next batch behind `place`, which moves on. What cannot be read is parked on the way.
    async fn next_batch(&self, place: &mut i64) -> Result<Option<(Vec<i64>, Vec<Forward>)>> {
        loop {
            let messages = self.buffer.forwardable(*place, BATCH, BATCH_BYTES).await?;
            let Some(last) = messages.last() else {
                return Ok(None);
            };
            *place = last.seq;
            let (mut seqs, mut batch) = (vec![], vec![]);
            for message in messages {
                match forward(&message) {
                    Ok(forward) => {
                        seqs.push(message.seq);
                        batch.push(forward);
                    }
                    Err(why) => {
                        warn!(notification.id = %message.id, error = why, "a buffered notification cannot be read and is parked");
                        self.buffer.park_forward(message.seq, &why).await?;
                    }
                }
            }
            if !batch.is_empty() {
                return Ok(Some((seqs, batch)));
            }
        }
    }

    async fn settle(&self, central: &DatabaseIdentity, answered: Answered) -> Result<Settled> {
        let acks = match answered.answer {
            Ok(acks) => acks,
            Err(down) => {
                info!(
                    why = down.why,
                    "the link broke; what was under way is sent again when it is back"
                );
                return Ok(Settled::None);
            }
        };
        let mut handed = Handed::default();
        let mut waiting = answered.seqs.len();
        for (seq, ack) in answered.seqs.into_iter().zip(acks) {
            match ack {
                Ack::Accepted | Ack::Duplicate => handed.acked.push(seq),
                Ack::Refused(why) => handed
                    .refused
                    .push((seq, format!("REFUSED: central refused it: {why}"))),
                Ack::NotNow(why) => {
                    tracing::debug!(why, "central cannot take it now");
                    continue;
                }
            }
            waiting -= 1;
        }
        if (!handed.acked.is_empty() || !handed.refused.is_empty())
            && !self.buffer.handed_over(central, handed).await?
        {
            return Ok(Settled::None);
        }
        Ok(if waiting == 0 { Settled::All } else { Settled::Some })
    }

    fn troubled(&self, error: &store::Error) -> Halt {
        warn!(
            error = error as &dyn std::error::Error,
            "the buffer cannot be used; forwarding goes on when it can"
        );
        Halt::Buffer
    }
}

enum Settled {
    All,
    /// Central wants to be asked again about the others.
    Some,
    /// Nothing is known.
    None,
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

/// The notification as it travels. The site is stamped by central from the key of the link, the instance from the
/// row, whatever the payload says.
fn forward(message: &Message) -> Result<Forward, String> {
    let payload: NotificationPayload =
        payload::read(message).map_err(|why| format!("CORRUPT_PAYLOAD: {why}"))?;
    let target = match (payload.list, payload.recipients) {
        (Some(list), _) => Target::List(list),
        (None, Some(to)) => Target::Recipients(to),
        (None, None) => Target::Provider,
    };
    Ok(Forward {
        id: NotificationId(message.id.0),
        target,
        channel: payload.channel,
        provider: payload.provider,
        subject: payload.subject,
        body: payload.body,
        type_data: payload.type_data.map(|data| data.to_string()),
        instance: message.origin.instance.clone(),
        script: message.origin.script.clone(),
        execution: message.origin.execution.clone(),
        parent_execution: message.origin.parent_execution.clone(),
        site_enqueued_at: message.created_at,
    })
}
