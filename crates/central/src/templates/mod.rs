//! Templates: saved, tried out, and handed to whoever sends.
//!
//! Leaves to others: filling them in and choosing variants (`domain::template`), which event is sent to whom (the event
//! pipeline).
//! Always true: a preview, a test and a send render by the same words; what is saved can be rendered.

mod render;

pub use render::{Preview, PreviewError, TestedTemplate};

use crate::{
    directory::{Directory, Route},
    events::Lookups,
    ingest::Ingest,
};
use domain::{
    Actor, Channel, FieldError, TemplateId, TenantId,
    template::{MissingPlaceholder, Payload, TemplateContent, TemplateIdentity, date},
};
use std::sync::Arc;
use store::{
    Queries, Signals,
    events::{Event, EventFilter},
    query::Page,
    signals::Signal,
    templates::{NewTemplate, Template, TemplateSettings},
};

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// What a save is answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    pub template: Template,
    /// What is odd about it and did not keep it from being saved.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct TemplateService {
    store: Arc<dyn store::Templates>,
    signals: Arc<dyn Signals>,
    events: Arc<dyn store::Events>,
    directory: Arc<Directory>,
    ingest: Ingest,
    missing: MissingPlaceholder,
    lookups: Option<(Lookups, Arc<dyn Queries>)>,
}

impl TemplateService {
    pub fn new(
        store: Arc<dyn store::Templates>,
        signals: Arc<dyn Signals>,
        events: Arc<dyn store::Events>,
        directory: Arc<Directory>,
        ingest: Ingest,
        missing: MissingPlaceholder,
    ) -> Self {
        Self {
            store,
            signals,
            events,
            directory,
            ingest,
            missing,
            lookups: None,
        }
    }

    /// Knows then what lookups add to events, too.
    pub(crate) fn looking_up(self, lookups: Lookups, queries: Arc<dyn Queries>) -> Self {
        Self {
            lookups: Some((lookups, queries)),
            ..self
        }
    }

    pub async fn create(&self, new: &NewTemplate, actor: &Actor) -> Result<Saved, TemplateError> {
        let mut problems = new.identity.problems();
        problems.extend(
            self.problems(new.tenant, new.identity.channel, &new.content)
                .await?,
        );
        if !problems.is_empty() {
            return Err(TemplateError::Fields(problems));
        }
        let template = self.store.create_template(new, actor).await?;
        self.saved(new.tenant, template).await
    }

    /// A new version of the template, unless somebody saved one since `based_on`. None: there is no such template.
    pub async fn save(
        &self,
        tenant: TenantId,
        id: TemplateId,
        based_on: i64,
        content: &TemplateContent,
        actor: &Actor,
    ) -> Result<Option<Saved>, TemplateError> {
        let Some(current) = self.live(tenant, id).await? else {
            return Ok(None);
        };
        let problems = self.problems(tenant, current.identity.channel, content).await?;
        if !problems.is_empty() {
            return Err(TemplateError::Fields(problems));
        }
        match self
            .store
            .save_template(tenant, id, based_on, content, actor)
            .await?
        {
            Some(template) => self.saved(tenant, template).await.map(Some),
            None => Ok(None),
        }
    }

    /// Answers whether there was one.
    pub async fn delete(&self, tenant: TenantId, id: TemplateId, actor: &Actor) -> store::Result<bool> {
        let deleted = self.store.delete_template(tenant, id, actor).await?;
        self.changed().await?;
        Ok(deleted)
    }

    pub async fn put_settings(
        &self,
        tenant: TenantId,
        settings: &TemplateSettings,
        actor: &Actor,
    ) -> Result<(), TemplateError> {
        let mut problems = vec![];
        if let Some(problem) = settings.date_format.as_deref().and_then(date::format_problem) {
            problems.push(FieldError::new("dateFormat", problem));
        }
        if settings
            .zone
            .as_deref()
            .is_some_and(|zone| date::zone(zone).is_none())
        {
            problems.push(FieldError::new("zone", "must be a zone like Asia/Kolkata"));
        }
        if !problems.is_empty() {
            return Err(TemplateError::Fields(problems));
        }
        self.store.put_template_settings(tenant, settings, actor).await?;
        Ok(self.changed().await?)
    }

    /// The template, unless it was deleted.
    pub async fn live(&self, tenant: TenantId, id: TemplateId) -> store::Result<Option<Template>> {
        let found = self.store.template(tenant, id, None).await?;
        Ok(found.filter(|template| template.deleted_at.is_none()))
    }

    async fn saved(&self, tenant: TenantId, template: Template) -> Result<Saved, TemplateError> {
        self.changed().await?;
        let warnings = self.warnings(tenant, &template).await?;
        Ok(Saved { template, warnings })
    }

    /// What is odd about a template: names that events of its type do not have, a service's template where none is asked for.
    pub async fn warnings(&self, tenant: TenantId, template: &Template) -> store::Result<Vec<String>> {
        let mut warnings = odd(&template.identity, &template.content);
        warnings.extend(self.unknown_names(tenant, template).await?);
        Ok(warnings)
    }

    /// Names that the newest event of its type does not have. Where there is none to hold them against, that is said instead:
    /// silence would read as "all of them are known".
    async fn unknown_names(&self, tenant: TenantId, template: &Template) -> store::Result<Vec<String>> {
        let event_type = &template.identity.event_type;
        let of_this_type = EventFilter {
            event_type: Some(event_type.clone()),
            ..EventFilter::default()
        };
        let newest = Page {
            limit: 1,
            after: None,
        };
        let found = self.events.events(Some(tenant), &of_this_type, newest).await?;
        let unchecked = |why: &str| Ok(unchecked(&template.content, why).into_iter().collect());
        let newest = match found.rows.first() {
            Some(newest) => self.events.event(tenant, newest.id).await?,
            None => None,
        };
        let Some(event) = newest else {
            return unchecked(match found.next {
                // Nobody looked further back.
                Some(_) => "no event of this type is among the newest ones",
                None => "no event of this type has come yet",
            });
        };
        let Ok(mut known) = Payload::read(&event.payload) else {
            return unchecked("the newest event of this type cannot be read");
        };
        let about = self.directory.event_type(tenant, event_type).await?;
        if let Some(lookup) = about
            .as_ref()
            .and_then(|about| about.definition.lookup.as_deref())
        {
            let Some(added) = self.added(&event, lookup).await? else {
                return unchecked(&format!(
                    "the lookup {lookup:?} says nothing about the newest event"
                ));
            };
            known.overlay(added);
        }
        Ok(template.content.unknown_placeholders(&known))
    }

    async fn added(&self, event: &Event, lookup: &str) -> store::Result<Option<Payload>> {
        let Some((lookups, queries)) = &self.lookups else {
            return Ok(None);
        };
        let now = queries.now().await?;
        Ok(lookups.added(event, lookup, now).await)
    }

    /// What is wrong with what it says.
    async fn problems(
        &self,
        tenant: TenantId,
        channel: Channel,
        content: &TemplateContent,
    ) -> store::Result<Vec<FieldError>> {
        let mut problems = content.problems(channel);
        if let Some(provider) = &content.provider_id
            && !problems.iter().any(|problem| problem.field == "providerId")
        {
            match self
                .directory
                .route(tenant, Some(provider), Some(channel))
                .await?
            {
                Route::Lane { .. } => {}
                Route::UnknownProvider => {
                    problems.push(FieldError::new("providerId", "there is no such provider"));
                }
                Route::OtherChannel { channel: other, .. } => {
                    let problem = format!("this provider delivers {other}");
                    problems.push(FieldError::new("providerId", problem));
                }
            }
        }
        Ok(problems)
    }

    async fn changed(&self) -> store::Result<()> {
        self.directory.refresh().await?;
        self.signals.announce(Signal::Directory);
        Ok(())
    }
}

/// So many names are told of those that nobody could check.
const UNCHECKED_NAMED: usize = 10;

/// That nobody could check the names it uses, and which those are; none where it uses none.
fn unchecked(content: &TemplateContent, why: &str) -> Option<String> {
    let names: Vec<_> = content.names().into_iter().collect();
    let told = names.iter().take(UNCHECKED_NAMED);
    let told: Vec<_> = told.map(|name| format!("{{{{{name}}}}}")).collect();
    let more = match names.len().saturating_sub(UNCHECKED_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let told = told.join(", ");
    (!names.is_empty()).then(|| format!("{why}, so nobody could check {told}{more}"))
}

/// What is odd about a template, whatever events there were.
fn odd(identity: &TemplateIdentity, content: &TemplateContent) -> Vec<String> {
    let approved = matches!(identity.channel, Channel::WhatsApp | Channel::Sms);
    match content.provider_template.is_some() && !approved {
        true => vec![format!(
            "providerTemplate means nothing to {} providers",
            identity.channel
        )],
        false => vec![],
    }
}
