//! Templates. Filling them in is in [`super::template_previews`].

use super::{PathText, PathTexts};
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        page::Paged,
        template::{
            TemplateDraft, TemplateRowView, TemplateSettingsView, TemplateVersionView, TemplateView,
            read_settings, read_template,
        },
    },
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::templates::{Saved, TemplateError};
use domain::{FieldError, TemplateId};
use store::templates::{NewTemplate, Template, TemplateFilter, TemplateRow};

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<TemplateRowView>>> {
    let filter = TemplateFilter {
        event_type: params.text("eventType"),
        channel: params.parsed("channel"),
        active: params.boolean("active"),
        deleted: params.boolean("deleted").unwrap_or(false),
    };
    let rows = state.central.store.templates(caller.tenant, &filter).await?;
    let key = |row: &TemplateRow| {
        let of = &row.identity;
        let scope = of.scope.as_ref().map_or("", |scope| &scope.scope_id);
        let language = of.language.as_deref().unwrap_or("");
        let id = row.id.0;
        format!(
            "{} {} {} {scope} {language} {id:020}",
            of.event_type, of.channel, of.name
        )
    };
    paging::page_whole(rows, params, key, TemplateRowView::from).map(Json)
}

pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    let TemplateDraft {
        identity, content, ..
    } = read_template(fields, None).map_err(Problem::fields)?;
    let new = NewTemplate {
        tenant: caller.tenant,
        identity,
        content,
    };
    let Saved { template, warnings } = state.central.templates.create(&new, &caller.actor).await?;
    let location = [(
        header::LOCATION,
        format!("/api/message-templates/{}", template.id),
    )];
    let view = TemplateView::new(template, warnings);
    Ok((StatusCode::CREATED, location, Json(view)).into_response())
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<TemplateView>> {
    let template = find(&state, &caller, &id, None).await?;
    view(&state, &caller, template).await
}

pub async fn replace(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Json<TemplateView>> {
    let current = live(&state, &caller, &id).await?;
    let draft = read_template(fields, Some(&current)).map_err(Problem::fields)?;
    let Some(based_on) = draft.version else {
        let needed = FieldError::new("version", "is required: the version that the change is based on");
        return Err(Problem::fields(vec![needed]));
    };
    let templates = &state.central.templates;
    let saved = templates
        .save(caller.tenant, current.id, based_on, &draft.content, &caller.actor)
        .await?;
    let Saved { template, warnings } = saved.ok_or_else(|| Problem::not_found("template"))?;
    Ok(Json(TemplateView::new(template, warnings)))
}

pub async fn delete(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    let id = parse(&id)?;
    match state
        .central
        .templates
        .delete(caller.tenant, id, &caller.actor)
        .await?
    {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("template")),
    }
}

pub async fn versions(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<Paged<TemplateVersionView>>> {
    let template = find(&state, &caller, &id, None).await?;
    let versions = state
        .central
        .store
        .template_versions(caller.tenant, template.id)
        .await?;
    Ok(Json(Paged {
        items: versions.into_iter().map(TemplateVersionView::from).collect(),
        next_cursor: None,
    }))
}

pub async fn version(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(id, version): PathTexts,
) -> Result<Json<TemplateView>> {
    let version = version.parse().map_err(|_| Problem::not_found("version"))?;
    let template = find(&state, &caller, &id, Some(version)).await?;
    view(&state, &caller, template).await
}

pub async fn settings(State(state): State<Shared>, caller: Caller) -> Result<Json<TemplateSettingsView>> {
    let settings = state.central.store.template_settings(caller.tenant).await?;
    Ok(Json(settings.into()))
}

pub async fn put_settings(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Json<TemplateSettingsView>> {
    let settings = read_settings(fields).map_err(Problem::fields)?;
    let templates = &state.central.templates;
    templates
        .put_settings(caller.tenant, &settings, &caller.actor)
        .await?;
    Ok(Json(settings.into()))
}

async fn view(state: &Shared, caller: &Caller, template: Template) -> Result<Json<TemplateView>> {
    let templates = &state.central.templates;
    let warnings = templates.warnings(caller.tenant, &template).await?;
    Ok(Json(TemplateView::new(template, warnings)))
}

/// The template of this id, also one that was deleted.
async fn find(state: &Shared, caller: &Caller, id: &str, version: Option<i64>) -> Result<Template> {
    let found = state
        .central
        .store
        .template(caller.tenant, parse(id)?, version)
        .await?;
    found.ok_or_else(|| Problem::not_found("template"))
}

/// The template of this id, if it was not deleted.
pub(super) async fn live(state: &Shared, caller: &Caller, id: &str) -> Result<Template> {
    let found = state.central.templates.live(caller.tenant, parse(id)?).await?;
    found.ok_or_else(|| Problem::not_found("template"))
}

fn parse(id: &str) -> Result<TemplateId> {
    id.parse()
        .map(TemplateId)
        .map_err(|_| Problem::not_found("template"))
}

impl From<TemplateError> for Problem {
    fn from(error: TemplateError) -> Self {
        match error {
            TemplateError::Fields(problems) => Problem::fields(problems),
            TemplateError::Store(error) => error.into(),
        }
    }
}
