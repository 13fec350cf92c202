//! Handing over without being told: an active machine that takes nothing in, or lacks central, has its standby take over.
//!
//! Leaves to others: when that is so (`domain::pair::relief`), handing over ([`super::handover`]).

use super::Pair;
use domain::{
    lock::lock,
    pair::{
        LeaseAsk, Plight, Relief, Reliever, Role, Wanted,
        relief::{refuses_relief, wants_relief},
    },
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use uuid::Uuid;

/// What is known of this machine's trouble.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    no_room_since: Option<Instant>,
    no_central_since: Option<Instant>,
    /// When the other last did not take over, and why, in words.
    refused: Option<(Instant, String)>,
    asking: bool,
}

impl Pair {
    /// Central answered, or did not.
    pub(super) fn central_answers(&self, does: bool) {
        let mut trouble = lock(&self.relief);
        trouble.no_central_since = match (does, trouble.no_central_since) {
            (true, _) => None,
            (false, None) => Some(Instant::now()),
            (false, since) => since,
        };
    }

    /// Of an active machine that has just met its standby: has it take over where this one is in trouble.
    pub(super) fn look_for_relief(self: &Arc<Self>) {
        let followed = self.is_fetched_from(self.lease_time());
        let why = {
            let mut trouble = lock(&self.relief);
            let since = trouble.no_room_since.unwrap_or_else(Instant::now);
            trouble.no_room_since = self.buffer.no_room().map(|_| since);
            // A handover that failed has started this agent anew, which knows nothing of it.
            let failed_ago = self.leases().and_then(|leases| leases.handover_failed_ago());
            let refused_ago = [trouble.refused.as_ref().map(|(at, _)| at.elapsed()), failed_ago];
            let plight = Plight {
                role: self.role(),
                no_room_for: trouble.no_room_since.map(|at| at.elapsed()),
                no_central_for: trouble.no_central_since.map(|at| at.elapsed()),
                followed,
                changed_ago: self.roles_changed_ago(),
                refused_ago: refused_ago.into_iter().flatten().min(),
            };
            if plight.no_room_for.or(plight.no_central_for).is_none() {
                trouble.refused = None;
            }
            let why = wants_relief(&self.settings.relief, &plight).filter(|_| !trouble.asking);
            trouble.asking |= why.is_some();
            why
        };
        if let Some(why) = why {
            // Not from the loop that looks: handing over waits for that to end.
            tokio::spawn(self.clone().is_relieved(why));
        }
    }

    async fn is_relieved(self: Arc<Self>, why: Relief) {
        tracing::warn!(reason = why.as_str(), "this machine hands over by itself: {why}");
        let done = self.hand_over(Some(why)).await;
        let mut trouble = lock(&self.relief);
        trouble.asking = false;
        match done {
            Ok(()) => metrics::counter!("waypost_site_handovers_total").increment(1),
            Err(refused) => {
                tracing::warn!(reason = why.as_str(), error = %refused, "this machine cannot hand over");
                trouble.refused = Some((Instant::now(), format!("{why}, and {refused}")));
            }
        }
    }

    pub fn is_unrelieved(&self) -> bool {
        self.unrelieved().is_some()
    }

    /// Why this machine would hand over by itself and cannot, in words.
    pub(super) fn unrelieved(&self) -> Option<String> {
        let trouble = lock(&self.relief);
        trouble.refused.as_ref().map(|(_, why)| why.clone())
    }

    /// Whether this standby takes over because the active one is in trouble; an error is why not.
    pub(super) async fn relieves(&self, why: Relief) -> Result<(), String> {
        let standing = self.standing();
        let own = Reliever {
            fresh: standing.role == Role::Standby
                && standing.caught_up
                && !standing.stale
                && standing.joined.is_none()
                && self.had_all_within(self.lease_time()),
            has_room: self.buffer.no_room().is_none() && !self.is_unwritten(),
            has_central: why == Relief::NoCentral && self.reaches_central().await,
        };
        refuses_relief(why, &own).map_or(Ok(()), |why| Err(why.to_owned()))
    }

    async fn reaches_central(&self) -> bool {
        let Some(automatic) = &self.settings.automatic else {
            return false;
        };
        let standing = self.standing();
        let ask = LeaseAsk {
            node: self.buffer.id(),
            rank: standing.history.rank(),
            seen: vec![],
            lease: Duration::ZERO,
            holds: false,
            caught_up: standing.caught_up,
            question: Uuid::nil(),
            wanted: Wanted::Look,
        };
        automatic.witness.ask(&ask).await.is_ok()
    }

    pub(super) fn lease_time(&self) -> Duration {
        self.leases().map(|leases| leases.lease()).unwrap_or_default()
    }

    /// How long ago the roles changed, as far as this process knows; where no lease is needed, since this agent started.
    fn roles_changed_ago(&self) -> Option<Duration> {
        match self.leases() {
            Some(leases) => leases.roles_changed_ago(),
            None => Some(self.started.elapsed()),
        }
    }
}
