//! Messages that wait, for people here and at central: a page of them, one tried now, one given up.

mod tried;

pub(crate) use tried::try_for_central;

use crate::{
    parked::{PAGE, ParkedError, cursor},
    site::Site,
};
use domain::{Actor, site::WaitingStatus};
use link::{WaitingActed, WaitingAnswer, WaitingMessage, WaitingPage};
use store::buffer::{Acted, Message, MessageId};

impl Site {
    /// A page of what waits, in the order of acceptance.
    pub async fn waiting(&self, page: &WaitingPage) -> Result<WaitingAnswer, ParkedError> {
        let limit = page.limit.clamp(1, PAGE);
        let after = cursor(page.after.as_deref())?;
        // One more than asked for: only then is there a next page to offer.
        let mut found = self.buffer.waiting(page.category, after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let waiting = self.buffer.depth().pending;
        Ok(WaitingAnswer {
            next: found.last().filter(|_| more).map(|last| last.seq.to_string()),
            total: match page.category {
                Some(category) => waiting.get(&category).copied().unwrap_or(0),
                None => waiting.values().sum(),
            },
            messages: found
                .into_iter()
                .map(|m| shown(self.engine.holds(&m), m))
                .collect(),
        })
    }

    /// Gives a message up that waits.
    pub async fn discard_waiting(&self, id: MessageId, actor: &Actor) -> store::Result<WaitingActed> {
        self.may_act_on(id).await?;
        Ok(match self.buffer.discard_waiting(id, actor).await? {
            Acted::Done => WaitingActed::Done {
                status: WaitingStatus::Discarded,
                error: None,
            },
            Acted::NotFound => WaitingActed::NotFound,
            Acted::WrongState(_) => is_parked(),
            Acted::UnderWay => is_under_way(),
        })
    }
}

fn is_parked() -> WaitingActed {
    WaitingActed::WrongState("the message is parked; a retry sends it round again".into())
}

fn is_under_way() -> WaitingActed {
    WaitingActed::WrongState("the message is being tried right now; look again when that is over".into())
}

fn shown(held: Option<String>, message: Message) -> WaitingMessage {
    WaitingMessage {
        id: message.id.to_string(),
        category: message.category,
        target: message.target,
        retry_count: message.retry_count,
        max_retries: message.max_retries,
        created_at: message.created_at,
        last_attempt_at: message.last_attempt_at,
        due_at: message.due_at,
        last_error: message.last_error,
        instance: message.origin.instance,
        script: message.origin.script,
        summary: message.summary,
        held,
    }
}
