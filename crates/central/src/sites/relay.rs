//! What people at central ask of a site: its parked messages, and what to do with them.

use super::{
    Presence, SiteService,
    elsewhere::{Answer, Question, put},
};
use domain::{Actor, AuditStatus, SiteId, TenantId, Timestamp};
use link::{ParkedActed, ParkedAction, ParkedAnswer, ParkedPage};
use std::{cmp::Reverse, fmt};
use store::sites::SiteAction;

/// Questions that one node puts to a pair: to each machine, and to one of them again in the turn that it has said.
const MOST_ASKED: usize = 3;
/// Each machine of a pair may be connected to another node.
const MOST_NODES: usize = 2;

/// Why a site was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    #[error("there is no such site")]
    UnknownSite,
    #[error("{0}")]
    Offline(Offline),
    /// It is there, but the answer did not come; whether it acted is not known.
    #[error("{0}")]
    NoAnswer(String),
    /// The site said that it cannot, and why.
    #[error("the site could not: {0}")]
    Failed(String),
    #[error("the store is unavailable")]
    Store(#[from] store::Error),
}

/// Since when nobody can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offline {
    pub site: SiteId,
    /// None when it never was connected.
    pub since: Option<Timestamp>,
    pub why: String,
}

impl fmt::Display for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.since {
            Some(since) => write!(f, "site {} is offline since {since}: {}", self.site, self.why),
            None => write!(f, "site {} has never connected", self.site),
        }
    }
}

/// How an action is logged: as done only where the site has done it.
fn logged_as(action: ParkedAction, acted: &Result<ParkedActed, RelayError>) -> AuditStatus {
    match (acted, action) {
        (Ok(ParkedActed::Done), ParkedAction::Retry) => AuditStatus::Pending,
        (Ok(ParkedActed::Done), ParkedAction::Discard) => AuditStatus::Discarded,
        // Asked, and no answer: it may have acted.
        (Err(RelayError::NoAnswer(_)), _) => AuditStatus::Attempted,
        (Ok(_) | Err(_), _) => AuditStatus::Failed,
    }
}

impl SiteService {
    /// A page of what is parked at a site, from the site itself.
    pub async fn parked(
        &self,
        tenant: TenantId,
        site: &SiteId,
        page: ParkedPage,
    ) -> Result<ParkedAnswer, RelayError> {
        match self.ask(tenant, site, Question::Parked(page)).await? {
            Answer::Parked(parked) => Ok(parked),
            other => Err(unfit(other)),
        }
    }

    /// Has a site retry or discard a parked message. Once the site is asked, who asked is on record, whatever came of it.
    pub async fn act_on_parked(
        &self,
        tenant: TenantId,
        site: &SiteId,
        message: &str,
        action: ParkedAction,
        actor: &Actor,
    ) -> Result<ParkedActed, RelayError> {
        let (message, by) = (message.to_owned(), actor.to_string());
        let question = match action {
            ParkedAction::Retry => Question::Retry {
                message: message.clone(),
                by,
            },
            ParkedAction::Discard => Question::Discard {
                message: message.clone(),
                by,
            },
        };
        let (service, site, actor) = (self.clone(), site.clone(), actor.clone());
        to_the_record(async move {
            let acted = match service.ask(tenant, &site, question).await {
                Ok(Answer::Acted(acted)) => Ok(acted),
                Ok(other) => Err(unfit(other)),
                // Nobody was asked.
                Err(error @ (RelayError::UnknownSite | RelayError::Offline(_))) => return Err(error),
                Err(error) => Err(error),
            };
            let came_to = match &acted {
                Ok(ParkedActed::Done) => "done".to_owned(),
                Ok(ParkedActed::NotFound) => "there is no such message".to_owned(),
                Ok(ParkedActed::WrongState) => "it is not parked".to_owned(),
                Err(error) => error.to_string(),
            };
            let entry = SiteAction {
                tenant,
                site,
                message,
                status: logged_as(action, &acted),
                actor,
                detail: format!("{}: {came_to}", action.word()),
            };
            service.log_action(entry).await;
            acted
        })
        .await
    }

    pub(super) async fn log_action(&self, entry: SiteAction) {
        let (site, actor, detail) = (entry.site.clone(), entry.actor.clone(), entry.detail.clone());
        if let Err(error) = self.store.sites.log_site_action(entry).await {
            metrics::counter!("waypost_audit_write_failures_total").increment(1);
            tracing::error!(
                site.id = %site, actor = %actor, action = detail, error = &error as &dyn std::error::Error,
                "the audit row of an action on a site could not be written"
            );
        }
    }

    /// Asks a site that is connected here; of two machines the one whose turn is the later one. Where that is not the holder, the next is
    /// asked, or the same one in the turn that it says it is in.
    pub(super) async fn ask_here(
        &self,
        tenant: TenantId,
        site: &SiteId,
        question: &Question,
    ) -> Option<Answer> {
        let (mut asked, mut answer) = (vec![], None);
        for _ in 0..MOST_ASKED {
            let mut machines = self.registry.machines(tenant, site).into_iter();
            let next = machines.find(|machine| !asked.contains(&(machine.session, machine.turn())));
            let Some(machine) = next else { break };
            asked.push((machine.session, machine.turn()));
            let given = put(&machine.remote, question.clone()).await;
            let is_holder = !given.is_not_holder();
            answer = Some(given);
            if is_holder {
                break;
            }
        }
        answer
    }

    /// Asks a site, here or through the node that has it. Of a pair, the node that has the machine of the highest turn is asked first; where
    /// no machine there is the holder, the node that has the other one, once.
    pub(super) async fn ask(
        &self,
        tenant: TenantId,
        site: &SiteId,
        question: Question,
    ) -> Result<Answer, RelayError> {
        let mut refused = None;
        for node in self.nodes_of(tenant, site).await?.into_iter().take(MOST_NODES) {
            let answer = match node == self.node {
                true => self.ask_here(tenant, site, &question).await,
                false => Some(self.ask_elsewhere(&node, tenant, site, &question).await?),
            };
            match answer {
                Some(answer) if answer.is_not_holder() => refused = Some(answer),
                Some(answer) => return Ok(answer),
                // It left a moment ago.
                None => {}
            }
        }
        match refused {
            Some(refused) => Ok(refused),
            None => Err(self.nobody_to_ask(tenant, site).await?),
        }
    }

    /// The nodes of central that have a machine of the site, the one of the highest turn first; none where it is offline.
    async fn nodes_of(&self, tenant: TenantId, site: &SiteId) -> Result<Vec<String>, RelayError> {
        let here = self.registry.find(tenant, site);
        let turn_here = here.as_ref().map(|machine| machine.turn());
        if turn_here == Some(None) {
            // A site of one machine, which is here.
            return Ok(vec![self.node.clone()]);
        }
        let elsewhere = self.store.sites.site_machines(tenant, site).await?;
        let elsewhere = elsewhere
            .into_iter()
            .filter(|machine| machine.central_node != self.node);
        let mut all: Vec<_> = elsewhere
            .map(|machine| (machine.turn, machine.central_node))
            .collect();
        if let Some((counter, _)) = turn_here.flatten() {
            all.insert(0, (counter, self.node.clone()));
        }
        // In the same turn whoever is here comes first: sorting leaves them in this order.
        all.sort_by_key(|(turn, _)| Reverse(*turn));
        let mut nodes: Vec<_> = all.into_iter().map(|(_, node)| node).collect();
        nodes.dedup();
        if nodes.is_empty() {
            let known = self.store.sites.site(tenant, site).await?;
            let known = known.ok_or(RelayError::UnknownSite)?;
            let now = self.store.queries.now().await?;
            if let Presence::Online { central_node, .. } = self.presence(&known, None, now) {
                nodes.push(central_node);
            }
        }
        Ok(nodes)
    }

    /// Since when, and why.
    async fn nobody_to_ask(&self, tenant: TenantId, site: &SiteId) -> Result<RelayError, RelayError> {
        let known = self.store.sites.site(tenant, site).await?;
        let known = known.ok_or(RelayError::UnknownSite)?;
        let now = self.store.queries.now().await?;
        let (since, why) = match self.presence(&known, None, now) {
            Presence::Offline { since, why } => (Some(since), why),
            Presence::NeverSeen => (None, String::new()),
            Presence::Online { .. } => (Some(now), "it left a moment ago".into()),
        };
        Ok(RelayError::Offline(Offline {
            site: site.clone(),
            since,
            why,
        }))
    }
}

/// Has an action asked for and recorded by itself: whoever waits for it may leave in the middle, and the site has been asked.
pub(super) async fn to_the_record<T: Send + 'static>(
    acting: impl Future<Output = Result<T, RelayError>> + Send + 'static,
) -> Result<T, RelayError> {
    let broken_off =
        |_| RelayError::NoAnswer("the question was broken off by a fault of central's own".into());
    tokio::spawn(acting).await.map_err(broken_off)?
}

/// What an answer that is none means.
pub(super) fn unfit(answer: Answer) -> RelayError {
    match answer {
        Answer::Nothing(why) => RelayError::NoAnswer(why),
        Answer::Failed(why) => RelayError::Failed(why),
        Answer::Parked(_)
        | Answer::Acted(_)
        | Answer::Counted(_)
        | Answer::ActedOnMany(_)
        | Answer::Waiting(_)
        | Answer::WaitingActed(_)
        | Answer::Alive => RelayError::Failed("its answer does not fit the question".into()),
    }
}
