//! Templates: texts that events fill. Small tables, read often, changed seldom; every change bumps the directory version,
//! so what is kept in memory is never trusted longer than until the next look at it.
//!
//! Always true: a version that was saved can be read for ever, also after its template was deleted; a message that names
//! one can be explained.

use crate::{Error, Result};
use async_trait::async_trait;
use domain::{
    Actor, Channel, TemplateId, TenantId, Timestamp,
    template::{TemplateContent, TemplateIdentity, TemplateScope},
};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// So many variants a tenant may have; [`Templates::create_template`] refuses more.
pub const MAX_TEMPLATES: i64 = 10_000;
/// So many versions are listed, from the newest; each can still be asked for by its number.
pub const LISTED_VERSIONS: i64 = 1_000;

#[async_trait]
pub trait Templates: Debug + Send + Sync {
    /// Without what they say, in the order of their names.
    async fn templates(&self, tenant: TenantId, filter: &TemplateFilter) -> Result<Vec<TemplateRow>>;
    /// As it is now, or as it was in `version`; also one that was deleted.
    async fn template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        version: Option<i64>,
    ) -> Result<Option<Template>>;
    /// What is active for an event, every variant.
    async fn event_templates(&self, tenant: TenantId, event_type: &str) -> Result<Vec<Template>>;
    /// Newest first, at most [`LISTED_VERSIONS`]. None: there is no such template.
    async fn template_versions(&self, tenant: TenantId, id: TemplateId) -> Result<Vec<TemplateVersion>>;
    /// `Conflict` when there is one of that identity, and when there are [`MAX_TEMPLATES`].
    async fn create_template(&self, template: &NewTemplate, actor: &Actor) -> Result<Template>;
    /// A new version. `Conflict` unless the template still has the version that the change is based on. None: there is no
    /// such template, or no longer.
    async fn save_template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        based_on: i64,
        content: &TemplateContent,
        actor: &Actor,
    ) -> Result<Option<Template>>;
    /// It serves nothing any more and its identity is free; its versions stay. Answers whether there was one.
    async fn delete_template(&self, tenant: TenantId, id: TemplateId, actor: &Actor) -> Result<bool>;

    /// What holds for all templates of a tenant.
    async fn template_settings(&self, tenant: TenantId) -> Result<TemplateSettings>;
    async fn put_template_settings(
        &self,
        tenant: TenantId,
        settings: &TemplateSettings,
        actor: &Actor,
    ) -> Result<()>;
}

/// Which templates; what is none is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateFilter {
    pub event_type: Option<String>,
    pub channel: Option<Channel>,
    pub active: Option<bool>,
    /// Those that were deleted instead of those that are there.
    pub deleted: bool,
}

/// A variant to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTemplate {
    pub tenant: TenantId,
    pub identity: TemplateIdentity,
    pub content: TemplateContent,
}

/// A variant as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub id: TemplateId,
    pub identity: TemplateIdentity,
    pub version: i64,
    pub content: TemplateContent,
    pub created_at: Timestamp,
    /// When and by whom this version was saved.
    pub saved_at: Timestamp,
    pub saved_by: Actor,
    pub deleted_at: Option<Timestamp>,
}

/// A variant without what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateRow {
    pub id: TemplateId,
    pub identity: TemplateIdentity,
    pub version: i64,
    pub active: bool,
    pub saved_at: Timestamp,
    pub saved_by: Actor,
    pub deleted_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVersion {
    pub version: i64,
    pub saved_at: Timestamp,
    pub saved_by: Actor,
}

/// How a tenant's templates show dates, where they do not say it themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateSettings {
    pub date_format: Option<String>,
    pub zone: Option<String>,
}

impl AsRef<TemplateIdentity> for Template {
    fn as_ref(&self) -> &TemplateIdentity {
        &self.identity
    }
}

impl NewTemplate {
    pub(crate) fn taken(&self) -> Error {
        let TemplateIdentity {
            event_type,
            channel,
            name,
            ..
        } = &self.identity;
        Error::Conflict(format!(
            "there is a template {name:?} for {event_type} by {channel} already, in that language and scope"
        ))
    }

    /// `Conflict` where a tenant has all the templates it may have.
    pub(crate) fn fits(there_are: i64) -> Result<()> {
        match there_are < MAX_TEMPLATES {
            true => Ok(()),
            false => Err(Error::Conflict(format!(
                "a tenant may have {MAX_TEMPLATES} templates; delete some"
            ))),
        }
    }
}

/// What a save that is based on an old version is told.
pub(crate) fn changed_meanwhile(id: TemplateId, version: i64) -> Error {
    Error::Conflict(format!(
        "template {id} was changed meanwhile: it has version {version}"
    ))
}

/// The columns of an identity; an empty text stands for "every", because a unique index tells nulls apart.
pub(crate) struct IdentityColumns<'a> {
    pub language: &'a str,
    pub scope_type: &'a str,
    pub scope_id: &'a str,
}

impl<'a> IdentityColumns<'a> {
    pub fn of(identity: &'a TemplateIdentity) -> Self {
        let scope = identity.scope.as_ref();
        Self {
            language: identity.language.as_deref().unwrap_or(""),
            scope_type: scope.map_or("", |scope| &scope.scope_type),
            scope_id: scope.map_or("", |scope| &scope.scope_id),
        }
    }

    /// Back again.
    pub fn identity(
        event_type: String,
        channel: Channel,
        name: String,
        language: String,
        scope: (String, String),
    ) -> TemplateIdentity {
        let (scope_type, scope_id) = scope;
        let scope = TemplateScope { scope_type, scope_id };
        TemplateIdentity {
            event_type,
            channel,
            name,
            language: Some(language).filter(|language| !language.is_empty()),
            scope: Some(scope).filter(|scope| !scope.scope_type.is_empty()),
        }
    }
}
