//! Asking far ends about receipts that nobody signed: they are believed once the far end says so itself.
//!
//! Always true: nobody else's receipts wait for a far end that is asked; one that does not answer is left alone until the next
//! round.

use super::ReceiptService;
use crate::directory::LaneAdapter;
use delivery::Deadline;
use domain::LaneId;
use futures_util::future::try_join_all;
use std::{collections::HashMap, time::Duration};
use store::receipts::{Proof, Unproven};

/// The most receipts of one round.
const ASKED_PER_ROUND: u32 = 100;
const ASK_RECEIPT_TIMEOUT: Duration = Duration::from_secs(10);
/// With a far end that is slow no question begins later than this in a round; the others are for the next.
const ASK_LANE_FOR: Duration = Duration::from_secs(10);

impl ReceiptService {
    /// Asks about everything whose time has come: all far ends at once, each about one receipt after the other. Answers how
    /// many receipts it is known of what they are worth.
    pub async fn ask(&self) -> store::Result<u64> {
        let mut of_lanes: HashMap<LaneId, Vec<Unproven>> = HashMap::new();
        for unproven in self.store.unproven_receipts(ASKED_PER_ROUND).await? {
            of_lanes.entry(unproven.lane).or_default().push(unproven);
        }
        let asked = of_lanes
            .into_values()
            .map(|unproven| self.ask_one_by_one(unproven));
        let answered: u64 = try_join_all(asked).await?.into_iter().sum();
        if answered > 0 {
            self.inbox.came_in.notify_one();
            // There may be more.
            self.inbox.unproven.notify_one();
        }
        Ok(answered)
    }

    /// Completes when something came in to ask about.
    pub(crate) async fn unproven(&self) {
        self.inbox.unproven.notified().await;
    }

    /// Of one lane.
    async fn ask_one_by_one(&self, unproven: Vec<Unproven>) -> store::Result<u64> {
        let until = Deadline::after(ASK_LANE_FOR);
        let (mut answered, mut silent) = (0, false);
        for one in unproven {
            let proof = match silent {
                // It would not answer this one either.
                true => Proof::Later,
                false if until.left().is_zero() => break,
                false => self.proof_or_later(&one).await?,
            };
            self.store.prove_receipt(one.id, proof).await?;
            silent = proof == Proof::Later;
            answered += u64::from(!silent);
        }
        Ok(answered)
    }

    async fn proof_or_later(&self, unproven: &Unproven) -> store::Result<Proof> {
        match self.proof(unproven).await {
            // One provider that cannot be read must not keep everybody else's receipts waiting.
            Err(error) if !error.may_pass() => {
                tracing::error!(
                    lane.id = %unproven.lane,
                    error = &error as &dyn std::error::Error,
                    "a receipt's provider cannot be read; it waits"
                );
                Ok(Proof::Later)
            }
            proof => proof,
        }
    }

    async fn proof(&self, unproven: &Unproven) -> store::Result<Proof> {
        // As it is set up now: what is in memory may be older than the callback.
        let Some(provider) = self.providers.provider_of_lane(unproven.lane).await? else {
            return Ok(Proof::Unknown);
        };
        let version = Some(provider.version);
        let entry = self.directory.lane(unproven.lane, version).await?;
        let LaneAdapter::Ready(adapter) = &entry.adapter else {
            return Ok(Proof::Later);
        };
        let deadline = Deadline::after(ASK_RECEIPT_TIMEOUT);
        Ok(match adapter.ask_receipt(&unproven.receipt, deadline).await {
            Ok(Some(said)) => Proof::Proven(said.state),
            Ok(None) => Proof::Unknown,
            Err(failure) => {
                let lane = unproven.lane;
                tracing::warn!(lane.id = %lane, code = %failure.code, "a receipt could not be asked for; it waits");
                Proof::Later
            }
        })
    }
}
