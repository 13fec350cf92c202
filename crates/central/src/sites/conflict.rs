//! Two agents that were given one site id: who speaks for the site, and how the other is told.
//!
//! Always true: a restart of the same agent takes its place at once; another agent gets the place only of one that no
//! longer answers; who is sent away knows by whom the place is taken, and so do people at central.

use super::{
    Presence, SiteService,
    elsewhere::{Answer, Question, put},
    registry::{Arrival, Connected},
};
use domain::{Timestamp, chain};
use link::{SiteReport, server::Refusal};
use std::{sync::Arc, time::Duration};
use store::sites::{OtherAgent, Site};
use tokio::time::timeout;
use uuid::Uuid;

/// How long the agent that is there has to prove that it is alive. The one at the door waits ten seconds in all.
const PROOF_OF_LIFE: Duration = Duration::from_secs(3);
/// The same for one that is connected to another node.
const PROOF_OF_LIFE_ELSEWHERE: Duration = Duration::from_secs(6);
/// The most that is kept of what an agent calls itself, in characters.
const NAME_KEPT: usize = 200;

/// Who an agent is, as far as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentIdentity {
    pub node: String,
    /// Nil where it does not say, as an older one does not.
    pub buffer: Uuid,
    pub run: Uuid,
}

impl AgentIdentity {
    /// The same agent on the same machine, started again or with a new connection.
    pub fn is(&self, other: &Self) -> bool {
        let both_say = !self.buffer.is_nil() && !other.buffer.is_nil();
        self.node == other.node && (!both_say || self.buffer == other.buffer)
    }
}

/// Who has the place.
struct Present {
    node: String,
    peer: String,
    since: Timestamp,
}

impl SiteService {
    /// Gives the arrival its place, or says by whom it is taken.
    pub(super) async fn admit(&self, arrival: Arrival) -> Result<Arc<Connected>, Refusal> {
        self.look_elsewhere(&arrival).await?;
        let connected = Arc::new(Connected::new(arrival, self.clock.now()));
        // Every turn ends one connection or sends the arrival away.
        while let Err(there) = self.registry.enter(&connected) {
            if !connected.takes_over(&there) && answers(&there).await {
                let present = Present {
                    node: there.agent.node.clone(),
                    peer: there.peer.clone(),
                    since: there.since,
                };
                return Err(self.send_away(&connected, &present).await);
            }
            there.remote.dismiss(format!(
                "node {} connected from {} and took the place of this connection",
                connected.agent.node, connected.peer
            ));
            self.registry.leave(&there);
        }
        Ok(connected)
    }

    /// Whether another agent has the place at another node.
    async fn look_elsewhere(&self, arrival: &Arrival) -> Result<(), Refusal> {
        let not_now = |error: store::Error| {
            tracing::warn!(site.id = %arrival.site, error = %chain(&error), "a site cannot be let in");
            Refusal::NotNow("central cannot reach its database".into())
        };
        let (tenant, site) = (arrival.tenant, &arrival.site);
        let Some(known) = self.store.sites.site(tenant, site).await.map_err(not_now)? else {
            return Ok(());
        };
        let now = self.store.queries.now().await.map_err(not_now)?;
        let Presence::Online { since, central_node } = self.presence(&known, None, now) else {
            return Ok(());
        };
        let beside = arrival.turn.is_some() && is_of_a_pair(&known);
        let there = AgentIdentity {
            node: known.agent_node.unwrap_or_default(),
            buffer: known.agent_buffer.unwrap_or_default(),
            run: known.agent_run.unwrap_or_default(),
        };
        if beside || arrival.agent.is(&there) {
            return Ok(());
        }
        let asked = self.ask_elsewhere(&central_node, tenant, site, &Question::Ping);
        let alive = match timeout(PROOF_OF_LIFE_ELSEWHERE, asked).await {
            Ok(Ok(answer)) => is_life(&answer),
            Ok(Err(_)) | Err(_) => false,
        };
        if !alive {
            return Ok(());
        }
        let present = Present {
            node: there.node,
            peer: known.peer.unwrap_or_default(),
            since,
        };
        let connected = Connected::new(arrival.clone(), self.clock.now());
        Err(self.send_away(&connected, &present).await)
    }

    /// Writes the conflict down and finds the words for whoever is sent away.
    async fn send_away(&self, arrival: &Connected, present: &Present) -> Refusal {
        let site = &arrival.site;
        metrics::counter!("waypost_site_conflicts_total").increment(1);
        let short = |text: &str| text.chars().take(NAME_KEPT).collect::<String>();
        let other = OtherAgent {
            node: short(&arrival.agent.node),
            peer: short(&arrival.peer),
            version: short(&arrival.agent_version),
        };
        match self.store.sites.site_conflict(arrival.tenant, site, other).await {
            Ok(false) => {}
            Ok(true) => tracing::warn!(
                site.id = %site, site.node = %present.node, peer = %present.peer,
                other.node = %arrival.agent.node, other.peer = %arrival.peer,
                "two agents use one site id; the one that was there first keeps its place"
            ),
            Err(error) => {
                tracing::warn!(site.id = %site, error = %chain(&error), "a conflict between two agents could not be written down");
            }
        }
        Refusal::Denied(format!(
            "another agent speaks for site {site}: node {} at {}, since {}. Two agents cannot share one id: stop one of \
             them, or give this one an id and a key of its own (waypost sites add ID)",
            present.node, present.peer, present.since
        ))
    }
}

/// Whether the machine that was seen last is one of two.
fn is_of_a_pair(known: &Site) -> bool {
    let report = known.report.as_deref();
    let report = report.and_then(|text| serde_json::from_str::<SiteReport>(text).ok());
    report.is_some_and(|report| report.pair.is_some())
}

/// Whether an agent answers at all; that it cannot is an answer too.
async fn answers(there: &Connected) -> bool {
    if there.remote.is_over() {
        return false;
    }
    let answer = timeout(PROOF_OF_LIFE, put(&there.remote, Question::Ping)).await;
    answer.is_ok_and(|answer| is_life(&answer))
}

fn is_life(answer: &Answer) -> bool {
    !matches!(answer, Answer::Nothing(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_machine_and_its_buffer() {
        let agent = |node: &str, buffer| AgentIdentity {
            node: node.into(),
            buffer: Uuid::from_u128(buffer),
            run: Uuid::new_v4(),
        };
        assert!(agent("a", 1).is(&agent("a", 1)), "started again");
        assert!(!agent("a", 1).is(&agent("b", 1)), "a copied disk");
        assert!(
            !agent("a", 1).is(&agent("a", 2)),
            "a second one on the same machine"
        );
        assert!(agent("a", 0).is(&agent("a", 2)), "an older one does not say");
    }
}
