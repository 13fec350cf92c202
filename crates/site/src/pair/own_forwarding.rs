//! What a standby was sent while its active machine could not be reached: its notifications go to central from here, while there is one.
//!
//! Leaves to others: handing them in to the active one ([`super::passing_on`]), where calls and writes wait for it too.
//! Always true: a row stays in the standby's own file until the active one has it, which forwards it once more; central knows a repeat by
//! its id. So nothing has to be remembered here, and nothing is lost with a central that was put back.

use super::Pair;
use crate::forwarder::forwarded;
use async_trait::async_trait;
use link::{Ack, Forward};
use std::{sync::Arc, time::Duration};
use store::loops::{About, Loop, Swept};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How soon after the last look. An active machine that is there has taken it by then.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Notifications in a batch, and about how many bytes.
const BATCH: u32 = 500;
const BATCH_BYTES: usize = 1 << 20;

/// Central, for what a standby was sent. It is the site's active machine that has the link.
#[async_trait]
pub trait CentralBeside: std::fmt::Debug + Send + Sync {
    /// One answer per item, in order; an error is why nothing is known about any of them.
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, String>;
}

#[async_trait]
impl CentralBeside for link::StandbyClient {
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, String> {
        link::StandbyClient::submit(self, batch).await
    }
}

/// Hands them over again and again, while there are any.
pub(crate) struct OwnForwarding {
    pair: Arc<Pair>,
    central: Arc<dyn CentralBeside>,
    stop: CancellationToken,
    /// Up to which row of which file central has answered.
    answered: (Uuid, i64),
}

impl OwnForwarding {
    /// None where no central is configured.
    pub fn new(pair: Arc<Pair>, stop: CancellationToken) -> Option<Self> {
        let central = pair.settings.automatic.as_ref()?.central.clone();
        Some(Self {
            pair,
            central,
            stop,
            answered: (Uuid::nil(), 0),
        })
    }

    /// How many notifications central has now.
    async fn hand_over(&mut self) -> Result<u64, String> {
        let mut n = 0;
        while let Some(file) = self.pair.own.opened().await {
            if self.answered.0 != file.id() {
                self.answered = (file.id(), 0);
            }
            let found = file.forwardable(self.answered.1, BATCH, BATCH_BYTES).await;
            let found = found.map_err(|e| domain::chain(&e))?;
            let Some(last) = found.last().map(|waiting| waiting.seq) else {
                break;
            };
            // What cannot be read is parked by the active one.
            let read = found.into_iter().filter_map(|row| forwarded(row).ok());
            let batch: Vec<Forward> = read.filter(goes_in_any_order).collect();
            if !batch.is_empty() {
                for ack in self.central.submit(batch).await? {
                    match ack {
                        Ack::Accepted | Ack::Duplicate => n += 1,
                        // The active one parks it, in the same words.
                        Ack::Refused(_) => {}
                        Ack::NotNow(why) => return Err(why),
                    }
                }
            }
            self.answered.1 = last;
        }
        Ok(n)
    }
}

/// Of what replaces another the last one counts, and central takes the one that comes last for it. The active one may have a later
/// one and have forwarded it: only there they are in order.
fn goes_in_any_order(forward: &Forward) -> bool {
    forward.content.supersedes_key.is_none()
}

#[async_trait]
impl Loop for OwnForwarding {
    fn about(&self) -> About {
        About::every(
            "forward-own",
            "hands notifications over to central that this standby was sent while the active machine could not be reached",
            LOOK_EVERY,
        )
    }

    async fn sweep(&mut self) -> Swept {
        let stop = self.stop.clone();
        // What was under way is sent again, which central recognises.
        let handed = tokio::select! {
            biased;
            () = stop.cancelled() => return Swept::did("stopped"),
            handed = self.hand_over() => handed,
        };
        match handed {
            Ok(0) => Swept::idle("there was nothing"),
            Ok(n) => {
                tracing::info!(n, "notifications that this standby was sent are at central");
                let words = if n == 1 { "notification" } else { "notifications" };
                Swept::did(format!("handed over {n} {words}"))
            }
            Err(why) => Swept::failed(format!("central cannot be handed anything: {why}")),
        }
    }
}
