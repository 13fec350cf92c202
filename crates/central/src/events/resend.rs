//! Sending something about an entity once more, because a person asks. What was sent before stays as it is.

use super::{
    EventService,
    asking::Asker,
    lookup::Waits,
    messages::{Messages, RequestedBy},
};
use crate::ingest::Submitted;
use domain::{
    Actor, Channel, EventId, FieldError, TemplateId, TenantId, event::ScheduledMessage, template::choose_all,
};
use store::{
    events::{Event, ScheduleFilter},
    query::Page,
    templates::Template,
};

/// What a person asks for.
#[derive(Debug, Clone)]
pub struct Resend {
    pub tenant: TenantId,
    pub entity_type: String,
    pub entity_id: String,
    pub channel: Channel,
    /// Otherwise the channel's templates of the entity's latest event.
    pub template: Option<TemplateId>,
    /// Names the request: asked twice, it is sent once.
    pub request: String,
    pub actor: Actor,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Resent {
    pub event: EventId,
    pub submitted: Vec<Submitted>,
    /// What was not sent, and why.
    pub skipped: Vec<ScheduledMessage>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResendError {
    /// No event is known of the entity, or no such template.
    #[error("{0}")]
    NotFound(&'static str),
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    /// It cannot be done now, or not for this entity.
    #[error("{0}")]
    Conflict(String),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl EventService {
    pub async fn resend(&self, ask: &Resend) -> Result<Resent, ResendError> {
        self.directory.refresh().await?;
        let template = match ask.template {
            Some(id) => Some(self.template_of(ask, id).await?),
            None => None,
        };
        let of_type = template.as_ref().map(|t| t.identity.event_type.as_str());
        let event = self.latest(ask, of_type).await?;
        let now = self.queries.now().await?;
        let known = self.know(&event, Asker::Event, now, Waits::ToTheEnd).await?;
        let known = known.map_err(|unknown| ResendError::Conflict(unknown.in_words()))?;
        let templates = self
            .directory
            .event_templates(ask.tenant, &event.event_type)
            .await?;
        let language = known
            .definition()
            .language
            .as_deref()
            .and_then(|name| known.values.get(name));
        let of_channel = templates.iter().filter(|t| t.identity.channel == ask.channel);
        let chosen: Vec<&Template> = match &template {
            Some(template) => vec![template],
            None => choose_all(of_channel, &known.values, language),
        };
        if chosen.is_empty() {
            return Err(ResendError::NotFound(
                "active template of that channel for the entity's latest event",
            ));
        }
        let asked = RequestedBy::Person {
            request: &ask.request,
            actor: &ask.actor,
        };
        let Messages {
            notifications,
            listed,
            ..
        } = self.render(&event, &known, &chosen, None, asked).await?;
        let submissions = notifications.into_iter().map(|new| new.submission).collect();
        let submitted = self.ingest.submit(submissions).await?;
        let skipped = listed.into_iter().filter(ScheduledMessage::is_missing).collect();
        Ok(Resent {
            event: event.id,
            submitted,
            skipped,
        })
    }

    async fn template_of(&self, ask: &Resend, id: TemplateId) -> Result<Template, ResendError> {
        let found = self.templates.live(ask.tenant, id).await?;
        let template = found.ok_or(ResendError::NotFound("template"))?;
        if template.identity.channel != ask.channel {
            let problem = format!("the template is for {}", template.identity.channel);
            return Err(ResendError::Fields(vec![FieldError::new("channel", problem)]));
        }
        // Somebody switched it off; a command or a program that named it before does not know.
        if !template.content.active {
            return Err(ResendError::Conflict(format!(
                "template {id} is inactive; to send it, save it as active: its page at /templates/{id}, PUT /api/message-templates/{id}, or \
                 active = true in its file and waypost template push"
            )));
        }
        Ok(template)
    }

    /// The latest event of the entity, of this type if one is named.
    async fn latest(&self, ask: &Resend, of_type: Option<&str>) -> Result<Event, ResendError> {
        let filter = ScheduleFilter {
            entity: Some((ask.entity_type.clone(), ask.entity_id.clone())),
            event_type: of_type.map(str::to_owned),
            ..ScheduleFilter::default()
        };
        let mut after = None;
        // An entity's history may be long: a page that found none says where the next one begins.
        let newest = loop {
            let page = Page { limit: 1, after };
            let mut found = self.store.schedules(ask.tenant, &filter, page).await?;
            match (found.rows.pop(), found.next) {
                (None, Some(next)) => after = Some(next),
                (newest, _) => break newest,
            }
        };
        let schedule = newest.ok_or(ResendError::NotFound("event of that entity"))?;
        let event = self.store.event(ask.tenant, schedule.event).await?;
        event.ok_or(ResendError::NotFound("event of that entity"))
    }
}
