//! A waiting message that somebody wants tried now, whatever its due time says and whether or not its target answers.

use super::{Engine, Tried};
use domain::Actor;
use store::{
    Error, Result,
    buffer::{Begun, Message, MessageId, MessageStatus},
};

/// What came of it.
#[derive(Debug)]
pub enum TriedNow {
    Tried(Box<Tried>),
    /// A notification goes with the next batch, as soon as central can be reached.
    Forwarding,
    NotFound,
    Parked,
    /// An attempt is being made as it is.
    UnderWay,
    /// Its target is not configured.
    NobodyDelivers(Box<Message>),
    /// The other machine of the site may make it: why it waits.
    Held(String),
}

impl Engine {
    /// Tries a waiting message at once. The attempt counts like any other and runs to its end whether or not the
    /// caller waits for it.
    pub async fn try_waiting(&self, id: MessageId, actor: &Actor) -> Result<TriedNow> {
        let stopping = || Error::unavailable("the agent is stopping");
        let _begun = self.begin().ok_or_else(stopping)?;
        let Some(message) = self.buffer.message(id).await? else {
            return Ok(TriedNow::NotFound);
        };
        let served = self.handlers.get(message.category, &message.target).is_some();
        if message.status == MessageStatus::Parked {
            return Ok(TriedNow::Parked);
        }
        if !served && !message.category.is_forwarded() {
            return Ok(TriedNow::NobodyDelivers(Box::new(message)));
        }
        if let Some(why) = self.holds(&message) {
            return Ok(TriedNow::Held(why));
        }
        let message = match self.buffer.begin_try(id, actor).await? {
            Begun::Attempt(message) => *message,
            Begun::Due => return Ok(TriedNow::Forwarding),
            Begun::NotFound => return Ok(TriedNow::NotFound),
            Begun::Parked => return Ok(TriedNow::Parked),
            Begun::UnderWay => return Ok(TriedNow::UnderWay),
        };
        let tried = self.try_to_the_end(message).await;
        Ok(match tried.answer {
            // The lease was lost a moment ago.
            Err(failed) if !tried.begun => TriedNow::Held(failed.failure.detail),
            answer => TriedNow::Tried(Box::new(Tried { answer, ..tried })),
        })
    }

    /// Why this message is not attempted now, where that needs the lease of the pair and this machine does not have it.
    pub(crate) fn holds(&self, message: &Message) -> Option<String> {
        let pair = self.pair.get().filter(|_| !message.category.is_forwarded())?;
        pair.held().filter(|_| !pair.may_attempt(message.seq))
    }
}
