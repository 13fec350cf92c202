//! What people at central ask of a site: its parked messages, and what to do with them.

use super::{
    Presence, SiteService,
    elsewhere::{Answer, Question, put},
};
use domain::{Actor, AuditStatus, SiteId, TenantId, Timestamp};
use link::{NOT_HOLDER, ParkedActed, ParkedAction, ParkedAnswer, ParkedPage};
use std::fmt;
use store::sites::SiteAction;

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
        let acted = match self.ask(tenant, site, question).await {
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
            site: site.clone(),
            message,
            status: logged_as(action, &acted),
            actor: actor.clone(),
            detail: format!("{}: {came_to}", action.word()),
        };
        self.log_action(entry).await;
        acted
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

    /// Asks a site that is connected here; of two machines the one whose turn is the later one, and where that has no right to act
    /// the other one as well.
    pub(super) async fn ask_here(
        &self,
        tenant: TenantId,
        site: &SiteId,
        question: &Question,
    ) -> Option<Answer> {
        let machines = self.registry.machines(tenant, site);
        let (first, others) = machines.split_first()?;
        let answer = put(&first.remote, question.clone()).await;
        match (&answer, others.first()) {
            (Answer::Failed(why), Some(other)) if why.contains(NOT_HOLDER) => {
                Some(put(&other.remote, question.clone()).await)
            }
            _ => Some(answer),
        }
    }

    /// Asks a site, here or through the node that has it. Where no machine that is connected here has the right to act, the node that the
    /// site was last seen at asks the other one, once.
    pub(super) async fn ask(
        &self,
        tenant: TenantId,
        site: &SiteId,
        question: Question,
    ) -> Result<Answer, RelayError> {
        let here = self.ask_here(tenant, site, &question).await;
        let refused = match here {
            Some(Answer::Failed(why)) if why.contains(NOT_HOLDER) => Some(Answer::Failed(why)),
            Some(answer) => return Ok(answer),
            None => None,
        };
        let known = self
            .store
            .sites
            .site(tenant, site)
            .await?
            .ok_or(RelayError::UnknownSite)?;
        let offline = |since, why| {
            RelayError::Offline(Offline {
                site: site.clone(),
                since,
                why,
            })
        };
        let now = self.store.queries.now().await?;
        match (self.presence(&known, None, now), refused) {
            (Presence::Online { central_node, .. }, Some(refused)) if central_node == self.node => {
                Ok(refused)
            }
            (Presence::Online { central_node, .. }, _) => {
                self.ask_elsewhere(&central_node, tenant, site, &question).await
            }
            (_, Some(refused)) => Ok(refused),
            (Presence::NeverSeen, None) => Err(offline(None, String::new())),
            (Presence::Offline { since, why }, None) => Err(offline(Some(since), why)),
        }
    }
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
        | Answer::Alive => RelayError::Failed("its answer does not fit the question".into()),
    }
}
