//! Parked messages, for people here and at central.

use crate::{site::Site, waiting::try_for_central};
use async_trait::async_trait;
use domain::{
    Actor,
    pair::{Rank, Role},
    site::{Category, ParkedFilter},
};
use link::{
    BulkDone, BulkStep, NOT_HOLDER, NotHolder, ParkedActed, ParkedAnswer, ParkedCount, ParkedMessage,
    ParkedPage, SiteCommands, SiteReport, WaitingActed, WaitingAnswer, WaitingPage,
};
use store::buffer::{Acted, Message, MessageId, MessageStatus, Selection};

/// The most that one page shows.
pub const PAGE: u32 = 500;

impl Site {
    /// A page of what matches, oldest first.
    pub async fn parked(&self, page: &ParkedPage) -> Result<ParkedAnswer, ParkedError> {
        let limit = page.limit.clamp(1, PAGE);
        let filter = self.meant(page.filter.clone())?;
        let total = self.total(&filter).await?;
        let selection = Selection {
            after: cursor(page.after.as_deref())?,
            // One more than asked for: only then is there a next page to offer.
            limit: limit + 1,
            ..Selection::of(filter)
        };
        let mut found = self.buffer.selected(selection).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        Ok(ParkedAnswer {
            next: found.last().filter(|_| more).map(|last| last.seq.to_string()),
            messages: found.into_iter().map(shown).collect(),
            total,
        })
    }

    /// From the gauge where it knows, so that the status page counts no rows.
    async fn total(&self, filter: &ParkedFilter) -> store::Result<u64> {
        let of_category = ParkedFilter {
            category: filter.category,
            ..ParkedFilter::default()
        };
        if *filter != of_category {
            return Ok(self.buffer.count_selected(filter.clone()).await?.0);
        }
        let parked = self.buffer.depth().parked;
        Ok(match filter.category {
            Some(category) => parked.get(&category).copied().unwrap_or(0),
            None => parked.values().sum(),
        })
    }

    /// Sends a parked message round again.
    pub async fn retry(&self, id: MessageId, actor: &Actor) -> store::Result<Acted> {
        self.may_act_on(id).await?;
        self.buffer.requeue(id, actor).await
    }

    /// Gives a parked message up; also one that waits for a target which is no longer configured.
    pub async fn discard(&self, id: MessageId, actor: &Actor) -> store::Result<Acted> {
        self.may_act_on(id).await?;
        let acted = self.buffer.discard(id, actor).await?;
        if acted != Acted::WrongState(MessageStatus::Pending) {
            return Ok(acted);
        }
        match self.buffer.message(id).await? {
            Some(message) if self.is_removed(message.category, &message.target) => {
                self.buffer.discard_waiting(id, actor).await
            }
            _ => Ok(acted),
        }
    }

    /// What both machines of a pair know is acted on by the one that holds the lease.
    pub(crate) async fn may_act_on(&self, id: MessageId) -> store::Result<()> {
        let Some((pair, why)) = self.pair().and_then(|pair| Some((pair, pair.held()?))) else {
            return Ok(());
        };
        match self.buffer.message(id).await? {
            Some(message) if !pair.may_attempt(message.seq) => Err(not_holder(&why)),
            _ => Ok(()),
        }
    }

    /// The same for messages that are found by a filter.
    pub(crate) fn may_act_on_many(&self) -> store::Result<()> {
        let held = self.pair().and_then(|pair| pair.held());
        held.map_or(Ok(()), |why| Err(not_holder(&why)))
    }

    /// Whether messages to this target wait for something that is no longer configured.
    fn is_removed(&self, category: Category, target: &str) -> bool {
        !category.is_forwarded() && self.engine.handlers.get(category, target).is_none()
    }

    /// The filter with what only this site knows: which targets are gone.
    pub(crate) fn meant(&self, filter: ParkedFilter) -> Result<ParkedFilter, ParkedError> {
        if !filter.removed {
            return Ok(filter);
        }
        let Some(target) = &filter.target else {
            let words = "must name the system or connection that is gone";
            return Err(ParkedError::Bad("target", words.into()));
        };
        let of_filter = |c: &Category| filter.category.is_none_or(|only| only == *c);
        let gone: Vec<Category> = Category::handled()
            .filter(|c| of_filter(c) && self.is_removed(*c, target))
            .collect();
        let category = match gone.as_slice() {
            [] => {
                let words =
                    format!("{target} is configured here: what waits for it is delivered, not given up");
                return Err(ParkedError::Bad("target", words));
            }
            [one] => Some(*one),
            _ => None,
        };
        Ok(ParkedFilter { category, ..filter })
    }
}

/// Why messages cannot be shown or acted on.
#[derive(Debug, thiserror::Error)]
pub enum ParkedError {
    /// The field that is wrong, and why.
    #[error("{0}: {1}")]
    Bad(&'static str, String),
    #[error("the buffer cannot be used")]
    Unavailable(#[from] store::Error),
}

pub(crate) fn not_holder(why: &str) -> store::Error {
    store::Error::unavailable(format!("{NOT_HOLDER}: {why}"))
}

/// The place a page or a step goes on behind.
pub(crate) fn cursor(after: Option<&str>) -> Result<i64, ParkedError> {
    let Some(text) = after else { return Ok(0) };
    let place = text.parse().ok().filter(|place| *place >= 0);
    place.ok_or_else(|| ParkedError::Bad("cursor", "is not one this site gave out".into()))
}

fn shown(message: Message) -> ParkedMessage {
    ParkedMessage {
        summary: message.described(),
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

impl Commands {
    /// A copy may lack what waits: of that only the active machine can say that it is not there.
    fn is_not_standby(&self) -> Result<(), String> {
        match self.0.pair() {
            Some(pair) if pair.role() == Role::Standby => Err(NotHolder { turn: None }.to_string()),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl SiteCommands for Commands {
    fn holds(&self, turn: Rank) -> Result<(), NotHolder> {
        let Some(pair) = self.0.pair() else { return Ok(()) };
        let standing = pair.standing();
        let active_in = (standing.role == Role::Active).then(|| standing.history.rank());
        match active_in == Some(turn) {
            true => Ok(()),
            false => Err(NotHolder { turn: active_in }),
        }
    }

    async fn parked(&self, page: ParkedPage) -> Result<ParkedAnswer, String> {
        self.0.parked(&page).await.map_err(|e| domain::chain(&e))
    }

    async fn retry(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        let Ok(id) = id.parse::<MessageId>() else {
            return Ok(ParkedActed::NotFound);
        };
        let acted = self.0.retry(id, &Actor::new(by)).await;
        acted.map(answer).map_err(|e| domain::chain(&e))
    }

    async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        let Ok(id) = id.parse::<MessageId>() else {
            return Ok(ParkedActed::NotFound);
        };
        let acted = self.0.discard(id, &Actor::new(by)).await;
        acted.map(answer).map_err(|e| domain::chain(&e))
    }

    async fn waiting(&self, page: WaitingPage) -> Result<WaitingAnswer, String> {
        self.0.waiting(&page).await.map_err(|e| domain::chain(&e))
    }

    async fn try_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String> {
        self.is_not_standby()?;
        match id.parse::<MessageId>() {
            Ok(id) => try_for_central(&self.0, id, Actor::new(by)).await,
            Err(_) => Ok(WaitingActed::NotFound),
        }
    }

    async fn discard_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String> {
        self.is_not_standby()?;
        let Ok(id) = id.parse::<MessageId>() else {
            return Ok(WaitingActed::NotFound);
        };
        let acted = self.0.discard_waiting(id, &Actor::new(by)).await;
        acted.map_err(|e| domain::chain(&e))
    }

    async fn count_parked(&self, filter: ParkedFilter) -> Result<ParkedCount, String> {
        self.0.count_parked(filter).await.map_err(|e| domain::chain(&e))
    }

    async fn act_on_many(&self, step: BulkStep) -> Result<BulkDone, String> {
        self.0.act_on_many(step).await.map_err(|e| domain::chain(&e))
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
