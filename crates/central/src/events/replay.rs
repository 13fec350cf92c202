//! Working once more on what failed. What was delivered stays delivered: keys make sure of that.

use super::{
    EventService, accepted,
    asking::Asker,
    known,
    lookup::Waits,
    messages::RequestedBy,
    plan::{LATE, Standing, Unknown, due, missing, standing},
    resend::ResendError,
};
use domain::{
    Actor, EventId, EventStatus, ScheduleStatus, TenantId, event::ScheduledMessage, template::choose_all,
};
use store::{
    events::{Event, Schedule},
    operator::Acted,
};

const HAS_EXPIRED: &str = "what it would say has expired";

/// What a replay of a schedule is asked for.
#[derive(Debug, Clone)]
pub struct ReplayRequest {
    pub tenant: TenantId,
    pub schedule: EventId,
    /// Also templates that were made after the event.
    pub new_templates: bool,
    pub actor: Actor,
}

/// What a replay did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// It was made due again as a whole.
    pub due_again: bool,
    /// Parked notifications that go round again.
    pub requeued: usize,
    /// Notifications that had been skipped or refused and are there now.
    pub created: usize,
    /// Why nothing was created, where something goes round again and more is missing.
    pub reason: Option<String>,
}

impl EventService {
    /// Has a Failed or Deferred event worked on again. `Conflict` in any other state.
    pub async fn replay_event(
        &self,
        tenant: Option<TenantId>,
        id: EventId,
        actor: &Actor,
    ) -> Result<(), ResendError> {
        let event = self.event_by_id(tenant, id).await?;
        match self.store.replay_event(event.seq, actor).await? {
            Some(status) if status.may_be_replayed() => {
                self.wake();
                Ok(())
            }
            Some(status) => Err(ResendError::Conflict(wrong_state(status))),
            None => Err(ResendError::NotFound("event")),
        }
    }

    /// The event of this id, of one tenant or of whichever has it.
    pub async fn event_by_id(&self, tenant: Option<TenantId>, id: EventId) -> Result<Event, ResendError> {
        let mut found = match tenant {
            Some(tenant) => self.store.event(tenant, id).await?.into_iter().collect(),
            None => self.store.events_by_id(id, 2).await?,
        };
        if found.len() > 1 {
            let why = "several tenants have an event of that id; name one with tenantId";
            return Err(ResendError::Conflict(why.into()));
        }
        found.pop().ok_or(ResendError::NotFound("event"))
    }

    /// Requeues what is parked and creates what is missing; one that was never published is due again.
    pub async fn replay_schedule(&self, ask: &ReplayRequest) -> Result<Replayed, ResendError> {
        let found = self.store.schedule(ask.tenant, ask.schedule).await?;
        let schedule = found.ok_or(ResendError::NotFound("schedule"))?;
        let nothing_made = Self::named(&schedule).is_empty();
        match schedule.status {
            ScheduleStatus::Pending => Err(ResendError::Conflict(
                "the schedule is Pending; it goes out at its time".into(),
            )),
            ScheduleStatus::Failed | ScheduleStatus::Cancelled if nothing_made => {
                if let Some(why) = self.ends_the_same(ask, &schedule).await? {
                    return Err(ResendError::Conflict(why));
                }
                let (tenant, id) = (ask.tenant, ask.schedule);
                let due_again = self.store.replay_schedule(tenant, id, &ask.actor).await?;
                Ok(Replayed {
                    due_again,
                    ..Replayed::default()
                })
            }
            _ => self.replay_published(ask, schedule).await,
        }
    }

    /// Why one that is due again would come to nothing at once, as far as can be told now. A source that does not answer says
    /// nothing: it may when its turn comes.
    async fn ends_the_same(
        &self,
        ask: &ReplayRequest,
        schedule: &Schedule,
    ) -> Result<Option<String>, ResendError> {
        let event = self.store.event(ask.tenant, schedule.event).await?;
        let event = event.ok_or(ResendError::NotFound("event"))?;
        self.directory.refresh().await?;
        let now = self.queries.now().await?;
        let facts = match self.know(&event, Asker::Event, now, Waits::ToTheEnd).await? {
            Ok(facts) => facts,
            Err(Unknown::Again(_) | Unknown::Held(..)) => return Ok(None),
            Err(unknown) => return Ok(Some(unknown.in_words())),
        };
        if let Some(missing) = missing(&facts) {
            return Ok(Some(missing));
        }
        let due_at = match due(&event, &facts, now) {
            Ok(due_at) => due_at,
            Err(why) => return Ok(Some(why)),
        };
        if let Standing::Cancelled(why) = standing(&event, &facts, due_at, now) {
            return Ok(Some(match why.as_str() {
                LATE => format!("it was due at {due_at}, which is too late by now (late = skip)"),
                _ => why,
            }));
        }
        let expired = facts.expires_at(due_at).is_some_and(|at| at <= now);
        Ok(expired.then(|| HAS_EXPIRED.into()))
    }

    async fn replay_published(
        &self,
        ask: &ReplayRequest,
        schedule: Schedule,
    ) -> Result<Replayed, ResendError> {
        let named = Self::named(&schedule);
        let acted = self.operator.requeue(ask.tenant, &named, &ask.actor).await?;
        let requeued = acted.into_iter().filter(|a| *a == Acted::Done).count();
        let (created, reason) = match self.create_missing(ask, schedule).await {
            Ok(created) => (created, None),
            // What goes round again does so whatever becomes of the rest.
            Err(ResendError::Conflict(why)) if requeued > 0 => (0, Some(why)),
            Err(error) => return Err(error),
        };
        Ok(Replayed {
            requeued,
            created,
            reason,
            due_again: false,
        })
    }

    async fn create_missing(&self, ask: &ReplayRequest, schedule: Schedule) -> Result<usize, ResendError> {
        let wanted = |name: &str, channel| {
            let same = |m: &&ScheduledMessage| m.template_name == name && m.channel == channel;
            match schedule.messages.iter().find(same) {
                Some(listed) => listed.is_missing(),
                None => ask.new_templates,
            }
        };
        if !ask.new_templates && !schedule.messages.iter().any(ScheduledMessage::is_missing) {
            return Ok(0);
        }
        let event = self.store.event(ask.tenant, schedule.event).await?;
        let event = event.ok_or(ResendError::NotFound("event"))?;
        self.directory.refresh().await?;
        let now = self.queries.now().await?;
        let facts = self.know(&event, Asker::Event, now, Waits::ToTheEnd).await?;
        let facts = facts.map_err(|unknown| ResendError::Conflict(unknown.in_words()))?;
        if facts.cancelled {
            return Err(ResendError::Conflict("the entity was cancelled".into()));
        }
        if let Some(missing) = missing(&facts) {
            return Err(ResendError::Conflict(missing));
        }
        let due_at = due(&event, &facts, now).unwrap_or(schedule.due_at);
        let expires_at = facts.expires_at(due_at);
        if expires_at.is_some_and(|at| at <= now) {
            return Err(ResendError::Conflict(HAS_EXPIRED.into()));
        }
        let templates = self
            .directory
            .event_templates(ask.tenant, &event.event_type)
            .await?;
        let language = facts
            .definition()
            .language
            .as_deref()
            .and_then(|name| facts.values.get(name));
        let mut chosen = choose_all(templates.iter(), &facts.values, language);
        chosen.retain(|t| wanted(&t.identity.name, t.identity.channel));
        let made = self
            .render(&event, &facts, &chosen, expires_at, RequestedBy::Event)
            .await?;
        let keys = known(&made.notifications);
        let messages = made.listed;
        if messages.iter().all(|message| schedule.messages.contains(message)) {
            return Ok(0);
        }
        let id = (ask.tenant, ask.schedule);
        let answers = self
            .store
            .extend_schedule(id, messages, made.notifications, &ask.actor)
            .await?;
        let taken: Vec<_> = accepted(keys, &answers.unwrap_or_default()).collect();
        let created = taken.len();
        self.taken_in(taken);
        Ok(created)
    }
}

fn wrong_state(status: EventStatus) -> String {
    format!("the event is {status}; only what is Failed or Deferred is replayed")
}
