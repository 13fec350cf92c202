//! Telling: one coalesced NOTIFY for what has gathered.

use super::{
    super::{
        server::Use,
        session::{Db, Session},
        sql,
    },
    Gathered,
    payload::payloads,
};
use crate::Result;
use std::{sync::Arc, time::Duration};
use tracing::warn;

/// Signals closer together than this travel as one.
const COALESCE_WINDOW: Duration = Duration::from_millis(5);
/// Before others are told how many changes they could not be told of.
const TELL_AGAIN_WAIT: Duration = Duration::from_secs(1);

pub(super) struct Notifier {
    pub(super) db: Db,
    pub(super) channel: String,
    pub(super) sender: String,
    pub(super) gathered: Arc<Gathered>,
}

impl Notifier {
    pub(super) async fn run(self) {
        loop {
            self.gathered.bell.notified().await;
            let pending = std::mem::take(&mut *self.gathered.pending());
            let mut untold = 0;
            for payload in payloads(&self.sender, &pending) {
                if let Err(error) = self.send(&payload.text).await {
                    // Polling is the net: the others find out a little later. Changes are not polled for.
                    untold += payload.changes;
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "other nodes could not be told"
                    );
                }
            }
            let mut wait = COALESCE_WINDOW;
            if untold > 0 {
                self.gathered.pending().missed += untold;
                self.gathered.bell.notify_one();
                wait = TELL_AGAIN_WAIT;
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn send(&self, payload: &str) -> Result<()> {
        // On a claim session: nobody waits for the disk because of a signal.
        let session = self.db.session(Use::Claim).await?;
        session.rows(sql::notify, &[&self.channel, &payload]).await?;
        Ok(())
    }
}
