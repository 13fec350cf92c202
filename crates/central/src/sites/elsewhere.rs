//! Sites that another node has: the question goes through the database, and so does the answer.
//!
//! Always true: a question is put to a site at most once; who waits is answered within seconds, if only that nobody
//! answered.

use super::{RelayError, SiteService};
use domain::{SiteId, TenantId, chain};
use link::{
    BulkDone, BulkStep, NOT_HOLDER, ParkedActed, ParkedAnswer, ParkedCount, ParkedFilter, ParkedPage,
    WaitingActed, WaitingAnswer, WaitingPage,
    server::{RelayFailed, RemoteSite},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::{signals::Signal, sites::RelayQuestion};
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

/// What a site has for its answer, and a little for the way there and back.
const RELAY_TIMEOUT: Duration = Duration::from_secs(13);
/// How often the answer is looked for when nothing is heard.
const RELAY_POLL: Duration = Duration::from_millis(250);

/// What is asked of a site, as it stands in the database for a moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Question {
    Parked(ParkedPage),
    Retry {
        message: String,
        by: String,
    },
    Discard {
        message: String,
        by: String,
    },
    Count(ParkedFilter),
    ActOnMany(BulkStep),
    Waiting(WaitingPage),
    TryWaiting {
        message: String,
        by: String,
    },
    DiscardWaiting {
        message: String,
        by: String,
    },
    /// Whether it is there at all.
    Ping,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Answer {
    Parked(ParkedAnswer),
    Acted(ParkedActed),
    Counted(ParkedCount),
    ActedOnMany(BulkDone),
    Waiting(WaitingAnswer),
    WaitingActed(WaitingActed),
    Alive,
    /// Why the site was not asked or did not answer.
    Nothing(String),
    /// The site could not, and why.
    Failed(String),
}

impl Answer {
    /// The machine that was asked has no right to act: the other one of its pair may have.
    pub(super) fn is_not_holder(&self) -> bool {
        matches!(self, Self::Failed(why) if why.contains(NOT_HOLDER))
    }
}

/// Puts a question to a site that is connected here.
pub(super) async fn put(remote: &RemoteSite, question: Question) -> Answer {
    let answer = match question {
        Question::Parked(page) => remote.parked(page).await.map(Answer::Parked),
        Question::Retry { message, by } => remote.retry(&message, &by).await.map(Answer::Acted),
        Question::Discard { message, by } => remote.discard(&message, &by).await.map(Answer::Acted),
        Question::Count(filter) => remote.count_parked(filter).await.map(Answer::Counted),
        Question::ActOnMany(step) => remote.act_on_many(step).await.map(Answer::ActedOnMany),
        Question::Waiting(page) => remote.waiting(page).await.map(Answer::Waiting),
        Question::TryWaiting { message, by } => {
            remote.try_waiting(&message, &by).await.map(Answer::WaitingActed)
        }
        Question::DiscardWaiting { message, by } => {
            let acted = remote.discard_waiting(&message, &by).await;
            acted.map(Answer::WaitingActed)
        }
        Question::Ping => remote.report().await.map(|_| Answer::Alive),
    };
    answer.unwrap_or_else(|failed| match failed {
        RelayFailed::Failed(why) => Answer::Failed(why),
        RelayFailed::Gone(_) | RelayFailed::TooSlow => Answer::Nothing(failed.to_string()),
    })
}

impl SiteService {
    /// Has the node that has the site ask it.
    pub(super) async fn ask_elsewhere(
        &self,
        node: &str,
        tenant: TenantId,
        site: &SiteId,
        question: &Question,
    ) -> Result<Answer, RelayError> {
        let relay = Uuid::new_v4();
        let question = RelayQuestion {
            tenant,
            site: site.clone(),
            question: serde_json::to_string(question).unwrap_or_default(),
        };
        // Before the question, so that no answer is missed.
        let mut heard = self.store.signals.subscribe();
        self.store.sites.ask_relay(relay, node, question).await?;
        self.store.signals.announce(Signal::Relays);
        let deadline = Instant::now() + RELAY_TIMEOUT;
        while Instant::now() < deadline {
            // The question is on its way: from here on nobody knows that the site has not acted.
            match self.store.sites.relay_answered(relay).await {
                Ok(Some(answer)) => {
                    return Ok(serde_json::from_str(&answer).unwrap_or_else(|e| {
                        Answer::Nothing(format!("node {node} answers in other words: {e}"))
                    }));
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(site.id = %site, error = %chain(&error), "the answer of another node cannot be read");
                    return Ok(Answer::Nothing(format!(
                        "the answer of central's node {node} cannot be read from the database"
                    )));
                }
            }
            let next = async {
                tokio::select! {
                    () = sleep(RELAY_POLL) => {}
                    _ = heard.recv() => {}
                }
            };
            timeout_at(deadline, next).await.ok();
        }
        Ok(Answer::Nothing(format!(
            "site {site} is connected to central's node {node}, which did not answer"
        )))
    }

    /// Answers what other nodes ask of the sites that are connected here. Returns before the sites have answered.
    pub async fn answer_relays(&self) {
        let taken = match self.store.sites.take_relays(&self.node).await {
            Ok(taken) => taken,
            Err(error) => {
                tracing::warn!(error = %chain(&error), "questions of other nodes cannot be read");
                return;
            }
        };
        for (relay, asked) in taken {
            let service = self.clone();
            tokio::spawn(async move {
                let answer = service.answer_to(&asked).await;
                let text = serde_json::to_string(&answer).unwrap_or_default();
                if let Err(error) = service.store.sites.answer_relay(relay, &text).await {
                    tracing::warn!(site.id = %asked.site, error = %chain(&error), "an answer for another node is lost");
                    return;
                }
                service.store.signals.announce(Signal::Relays);
            });
        }
    }

    async fn answer_to(&self, asked: &RelayQuestion) -> Answer {
        match serde_json::from_str(&asked.question) {
            Ok(question) => {
                let answer = self.ask_here(asked.tenant, &asked.site, &question).await;
                answer.unwrap_or_else(|| {
                    Answer::Nothing(format!("site {} has left node {}", asked.site, self.node))
                })
            }
            Err(error) => Answer::Failed(format!("node {} does not know that question: {error}", self.node)),
        }
    }
}
