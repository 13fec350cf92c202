//! What people at central ask of a site about messages that wait there: which ones, try one now, give one up.

use super::{
    RelayError, SiteService,
    elsewhere::{Answer, Question},
    relay::{to_the_record, unfit},
};
use domain::{
    Actor, AuditStatus, SiteId, TenantId,
    site::{WaitingAction, WaitingStatus},
};
use link::{WaitingActed, WaitingAnswer, WaitingPage};
use store::sites::SiteAction;

/// How an action is logged: as done only where the site has done it.
fn logged_as(acted: &Result<WaitingActed, RelayError>) -> AuditStatus {
    match acted {
        Ok(WaitingActed::Done { status, .. }) => match status {
            WaitingStatus::Delivered => AuditStatus::Delivered,
            WaitingStatus::Retrying | WaitingStatus::Forwarding => AuditStatus::Pending,
            WaitingStatus::Parked => AuditStatus::Parked,
            WaitingStatus::Trying => AuditStatus::Attempted,
            WaitingStatus::Discarded => AuditStatus::Discarded,
        },
        // Asked, and no answer: it may have acted.
        Err(RelayError::NoAnswer(_)) => AuditStatus::Attempted,
        Ok(WaitingActed::NotFound | WaitingActed::WrongState(_)) | Err(_) => AuditStatus::Failed,
    }
}

/// What it came to, in the audit log's words.
fn came_to(acted: &Result<WaitingActed, RelayError>) -> String {
    match acted {
        Ok(WaitingActed::Done { status, error: None }) => status.to_string(),
        Ok(WaitingActed::Done {
            status,
            error: Some(error),
        }) => format!("{status}: {error}"),
        Ok(WaitingActed::NotFound) => "there is no such message".to_owned(),
        Ok(WaitingActed::WrongState(why)) => why.clone(),
        Err(error) => error.to_string(),
    }
}

impl SiteService {
    /// A page of what waits at a site, from the site itself.
    pub async fn waiting(
        &self,
        tenant: TenantId,
        site: &SiteId,
        page: WaitingPage,
    ) -> Result<WaitingAnswer, RelayError> {
        match self.ask(tenant, site, Question::Waiting(page)).await? {
            Answer::Waiting(waiting) => Ok(waiting),
            other => Err(unfit(other)),
        }
    }

    /// Has a site try a waiting message now, or give it up. Once the site is asked, who asked is on record, whatever came of it.
    pub async fn act_on_waiting(
        &self,
        tenant: TenantId,
        site: &SiteId,
        message: &str,
        action: WaitingAction,
        actor: &Actor,
    ) -> Result<WaitingActed, RelayError> {
        let (message, by) = (message.to_owned(), actor.to_string());
        let question = match action {
            WaitingAction::Try => Question::TryWaiting {
                message: message.clone(),
                by,
            },
            WaitingAction::Discard => Question::DiscardWaiting {
                message: message.clone(),
                by,
            },
        };
        let (service, site, actor) = (self.clone(), site.clone(), actor.clone());
        to_the_record(async move {
            let acted = match service.ask(tenant, &site, question).await {
                Ok(Answer::WaitingActed(acted)) => Ok(acted),
                Ok(other) => Err(unfit(other)),
                // Nobody was asked.
                Err(error @ (RelayError::UnknownSite | RelayError::Offline(_))) => return Err(error),
                Err(error) => Err(error),
            };
            let entry = SiteAction {
                tenant,
                site,
                message,
                status: logged_as(&acted),
                actor,
                detail: format!("{} waiting: {}", action.word(), came_to(&acted)),
            };
            service.log_action(entry).await;
            acted
        })
        .await
    }
}
