//! Parked messages, for people here and at central.

use crate::site::Site;
use async_trait::async_trait;
use domain::Actor;
use link::{ParkedActed, ParkedAnswer, ParkedMessage, ParkedPage, SiteCommands, SiteReport};
use store::buffer::{Acted, Message, MessageId};

/// The most that one page shows.
pub const PAGE: u32 = 500;

impl Site {
    /// A page of what is parked, oldest first.
    pub async fn parked(&self, page: &ParkedPage) -> store::Result<ParkedAnswer> {
        let after = page
            .after
            .as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let limit = page.limit.clamp(1, PAGE);
        // One more than asked for: only then is there a next page to offer.
        let mut found = self.buffer.parked(page.category, after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let parked = self.buffer.depth().parked;
        let total = match page.category {
            Some(category) => parked.get(&category).copied().unwrap_or(0),
            None => parked.values().sum(),
        };
        Ok(ParkedAnswer {
            next: found.last().filter(|_| more).map(|last| last.seq.to_string()),
            messages: found.into_iter().map(shown).collect(),
            total,
        })
    }
}

fn shown(message: Message) -> ParkedMessage {
    ParkedMessage {
        id: message.id.to_string(),
        category: message.category,
        target: message.target,
        retry_count: message.retry_count,
        max_retries: message.max_retries,
        created_at: message.created_at,
        last_attempt_at: message.last_attempt_at,
        parked_at: message.parked_at,
        last_error: message.last_error,
        instance: message.origin.instance,
        script: message.origin.script,
    }
}

/// What central may ask.
#[derive(Debug)]
pub struct Commands(pub std::sync::Arc<Site>);

#[async_trait]
impl SiteCommands for Commands {
    async fn parked(&self, page: ParkedPage) -> Result<ParkedAnswer, String> {
        self.0.parked(&page).await.map_err(|e| e.to_string())
    }

    async fn retry(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        let Ok(id) = id.parse::<MessageId>() else {
            return Ok(ParkedActed::NotFound);
        };
        let acted = self.0.buffer.requeue(id, &Actor::new(by)).await;
        acted.map(answer).map_err(|e| e.to_string())
    }

    async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        let Ok(id) = id.parse::<MessageId>() else {
            return Ok(ParkedActed::NotFound);
        };
        let acted = self.0.buffer.discard(id, &Actor::new(by)).await;
        acted.map(answer).map_err(|e| e.to_string())
    }

    async fn report(&self) -> SiteReport {
        self.0.report().await
    }
}

fn answer(acted: Acted) -> ParkedActed {
    match acted {
        Acted::Done => ParkedActed::Done,
        Acted::NotFound => ParkedActed::NotFound,
        Acted::WrongState(_) | Acted::UnderWay => ParkedActed::WrongState,
    }
}
