//! Templates: all of them, the editor with its preview, versions and what changed in them.

mod diff;
mod draft;
pub mod editor;
pub mod list;
pub mod version;

use super::{
    failure::{Result, Trouble},
    guard::Signed,
};
use crate::{problem::Problem, state::Shared};
use domain::{TemplateId, template::TemplateIdentity};
use store::templates::Template;

/// The template of this id, also one that was deleted.
async fn find(state: &Shared, signed: &Signed, id: &str, version: Option<i64>) -> Result<Template> {
    let none = || Trouble(Problem::not_found("template"));
    let id = id.parse().map(TemplateId).map_err(|_| none())?;
    let tenant = signed.caller.tenant;
    let found = state.central.store.template(tenant, id, version).await?;
    found.ok_or_else(none)
}

/// What a template is called on a page.
fn title(identity: &TemplateIdentity) -> String {
    let mut title = format!("{} by {}", identity.event_type, identity.channel);
    if identity.name != TemplateIdentity::DEFAULT_NAME {
        title.push_str(&format!(", {}", identity.name));
    }
    title
}

/// Whom a variant is for.
fn audience(identity: &TemplateIdentity) -> String {
    let language = identity.language.as_deref().unwrap_or("every language");
    match &identity.scope {
        None => language.to_owned(),
        Some(scope) => format!("{language}, {} {}", scope.scope_type, scope.scope_id),
    }
}
