//! The messages of one event: each active template filled in and addressed.

use super::{EventService, plan::Known};
use crate::{directory::versioned::Weigh, ingest::Listener};
use domain::{
    Actor, Channel, EventOrigin, ScheduleStatus, Submission, TenantId, Timestamp, address,
    event::{CameTo, ScheduledMessage, key::MessageOf},
    field_error::in_words,
    template::{RenderStyle, Rendered, choose_all},
};
use std::sync::Arc;
use store::{events::Event, outbox::NewNotification, templates::Template};

/// A tenant's words about dates and about what is missing.
#[derive(Debug, Default)]
pub(super) struct TenantStyle(RenderStyle);

impl Weigh for TenantStyle {
    fn weight(&self) -> usize {
        0
    }
}

/// What is said of a schedule without a message.
pub(super) const NO_TEMPLATE: &str = "Template not found";
pub(super) const NO_RECIPIENT: &str = "No recipient";

/// So many values that a message lacked are named with it.
const LACKING_NAMED: usize = 10;

/// What an event's templates came to. Those with a notification stand first in the list.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub notifications: Vec<NewNotification>,
    pub listed: Vec<ScheduledMessage>,
    /// Why there is none at all.
    pub failed: Option<String>,
}

impl Messages {
    pub fn status(&self) -> ScheduleStatus {
        match self.failed {
            Some(_) => ScheduleStatus::Failed,
            None => ScheduleStatus::Published,
        }
    }

    fn none(why: &str) -> Self {
        Self {
            failed: Some(why.into()),
            ..Self::default()
        }
    }
}

/// Under which key the messages go, and in whose name.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestedBy<'a> {
    Event,
    /// A person asks once more, under this request.
    Person {
        request: &'a str,
        actor: &'a Actor,
    },
}

impl EventService {
    /// Every active template of the event, as it is now.
    pub(super) async fn messages(
        &self,
        event: &Event,
        known: &Known,
        due_at: Timestamp,
        now: Timestamp,
    ) -> store::Result<Messages> {
        let templates = self
            .directory
            .event_templates(known.tenant, &event.event_type)
            .await?;
        let language = known
            .definition()
            .language
            .as_deref()
            .and_then(|name| known.values.get(name));
        let chosen = choose_all(templates.iter(), &known.values, language);
        if chosen.is_empty() {
            return Ok(Messages::none(NO_TEMPLATE));
        }
        let expires_at = known.expires_at(due_at);
        if expires_at.is_some_and(|at| at <= now) {
            return Ok(Messages::none("Expired"));
        }
        self.render(event, known, &chosen, expires_at, RequestedBy::Event)
            .await
    }

    /// These templates, filled in and addressed.
    pub(super) async fn render(
        &self,
        event: &Event,
        known: &Known,
        chosen: &[&Template],
        expires_at: Option<Timestamp>,
        requested_by: RequestedBy<'_>,
    ) -> store::Result<Messages> {
        let style = self.style(known.tenant).await?;
        let mut messages = Messages::default();
        let mut without = vec![];
        for template in chosen {
            match self
                .message(event, known, template, &style.0, expires_at, requested_by)
                .await?
            {
                Ok(Made { new, lacking }) => {
                    messages.listed.push(ScheduledMessage {
                        notification: Some(new.submission.id),
                        ..listed(template, CameTo::Created, lacking)
                    });
                    messages.notifications.push(new);
                }
                Err((came_to, why)) => without.push(listed(template, came_to, Some(why))),
            }
        }
        messages.listed.extend(without);
        if messages.notifications.is_empty() {
            let skipped = messages.listed.iter().all(|m| m.came_to == CameTo::Skipped);
            let reason = messages.listed.iter().find_map(|m| m.reason.clone());
            messages.failed = match skipped {
                true => Some(NO_RECIPIENT.into()),
                false => reason,
            };
        }
        Ok(messages)
    }

    /// How the tenant's templates are filled in, read once for each version of the directory.
    async fn style(&self, tenant: TenantId) -> store::Result<Arc<TenantStyle>> {
        let read = async { Ok(Some(TenantStyle(self.templates.style(tenant).await?))) };
        let version = self.directory.version();
        let found = self.styles.get_or_read(version, tenant, read).await?;
        Ok(found.unwrap_or_default())
    }

    async fn message(
        &self,
        event: &Event,
        known: &Known,
        template: &Template,
        style: &RenderStyle,
        expires_at: Option<Timestamp>,
        requested_by: RequestedBy<'_>,
    ) -> store::Result<Result<Made, (CameTo, String)>> {
        let (identity, content) = (&template.identity, &template.content);
        let rendered = match content.render(&known.values, style) {
            Ok(rendered) => rendered,
            Err(why) => return Ok(Err((CameTo::Refused, why.to_string()))),
        };
        let to = match recipient(known, identity.channel, &rendered, content.to.is_some()) {
            Ok(to) => to,
            Err(why) => return Ok(Err((CameTo::Skipped, why))),
        };
        let lacking = lacking(&rendered.warnings);
        if let Some(missing) = &lacking {
            tracing::warn!(
                event.id = %event.id,
                event.kind = event.event_type,
                template.id = %template.id,
                missing,
                "a message was rendered without all of its values"
            );
        }
        let of = MessageOf {
            tenant: known.tenant,
            entity_type: &known.entity_type,
            entity_id: &event.entity_id,
            event_type: &event.event_type,
            event: event.id,
            channel: identity.channel,
            template: &identity.name,
        };
        let ((id, key), submitted_by, listener) = match requested_by {
            RequestedBy::Event => (of.key(known.dedupe()), Actor::system(), Listener::Nobody),
            RequestedBy::Person { request, actor } => {
                (of.manual_key(request), actor.clone(), Listener::Sender)
            }
        };
        let mut content = rendered.into_content(identity, content, to.into_iter().collect());
        content.entity_type = Some(known.entity_type.clone());
        content.entity_id = Some(event.entity_id.clone());
        content.expires_at = expires_at;
        content.event = Some(Box::new(origin(event, known, template)));
        let submission = Submission {
            idempotency_key: Some(key),
            ..Submission::new(known.tenant, id, submitted_by, content)
        };
        let checked = self.ingest.check(submission, listener).await?;
        Ok(match checked {
            Ok(new) => Ok(Made { new, lacking }),
            Err(problems) => Err((CameTo::Refused, in_words(&problems))),
        })
    }
}

/// A message that can be taken in.
struct Made {
    new: NewNotification,
    /// Which of its values there were not.
    lacking: Option<String>,
}

fn lacking(warnings: &[String]) -> Option<String> {
    let named = warnings.iter().take(LACKING_NAMED).map(String::as_str);
    let named = named.collect::<Vec<_>>().join("; ");
    match warnings.len() {
        0 => None,
        n if n > LACKING_NAMED => Some(format!("{named}; and {} more", n - LACKING_NAMED)),
        _ => Some(named),
    }
}

fn origin(event: &Event, known: &Known, template: &Template) -> EventOrigin {
    let short = |text: &Option<String>, longest: usize| -> Option<String> {
        text.as_ref()
            .map(|text| text.chars().filter(|c| *c != '\0').take(longest).collect())
    };
    EventOrigin {
        event_type: event.event_type.clone(),
        event_id: event.id,
        topic: short(&event.topic, domain::event::limit::TOPIC).filter(|topic| !topic.trim().is_empty()),
        correlation_id: short(&event.correlation_id, domain::event::limit::CORRELATION),
        template: template.id.to_string(),
        template_name: Some(template.identity.name.clone()),
        template_version: template.version,
        critical: known.definition().critical,
    }
}

/// Whom a message goes to; none where the provider's settings say so. Addresses are validated and never rewritten.
fn recipient(
    known: &Known,
    channel: Channel,
    rendered: &Rendered,
    own: bool,
) -> Result<Option<String>, String> {
    if !channel.takes_recipients() {
        return Ok(None);
    }
    let named = known.definition().addresses.get(&channel);
    let found = match own {
        true => rendered.to.as_deref(),
        false => named.and_then(|name| known.values.get(name)),
    };
    let Some(address) = found.filter(|text| !text.trim().is_empty()) else {
        return match own || named.is_some() || channel.needs_recipients() {
            true => Err(NO_RECIPIENT.into()),
            false => Ok(None),
        };
    };
    match address::problem(channel, address) {
        None => Ok(Some(address.to_owned())),
        Some(problem) => Err(format!("{NO_RECIPIENT}: the address {problem}")),
    }
}

fn listed(template: &Template, came_to: CameTo, reason: Option<String>) -> ScheduledMessage {
    ScheduledMessage {
        template: template.id.to_string(),
        template_name: template.identity.name.clone(),
        template_version: template.version,
        channel: template.identity.channel,
        came_to,
        notification: None,
        reason,
    }
}
