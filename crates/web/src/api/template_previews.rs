//! Templates filled in: to look at, and as a test message.

use super::{PathText, templates::live};
use crate::{
    auth::Caller,
    body::{JsonObject, OptionalObject},
    dto::{
        template::{draft_of, payload_of},
        template_preview::{PreviewAnswer, TemplateTestAnswer},
    },
    fields::Fields,
    problem::{Problem, Result},
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use central::{ingest::Submitted, templates::PreviewError};

/// What fills a template that is given nothing.
const NO_VALUES: &str = "{}";

pub async fn unsaved(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<PreviewAnswer>> {
    let payload = payload_of(&mut fields);
    let draft = draft_of(&mut fields, None);
    finish(fields)?;
    let draft = draft.ok_or_else(Problem::internal)?;
    let payload = payload.as_deref().unwrap_or(NO_VALUES);
    let templates = &state.central.templates;
    let preview = templates
        .preview(caller.tenant, &draft.identity, &draft.content, payload)
        .await?;
    Ok(Json(preview.into()))
}

pub async fn saved(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<PreviewAnswer>> {
    let payload = payload_of(&mut fields);
    finish(fields)?;
    let template = live(&state, &caller, &id).await?;
    let payload = payload.as_deref().unwrap_or(NO_VALUES);
    let templates = &state.central.templates;
    let preview = templates
        .preview(caller.tenant, &template.identity, &template.content, payload)
        .await?;
    Ok(Json(preview.into()))
}

pub async fn test(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(mut fields): OptionalObject,
) -> Result<(StatusCode, Json<TemplateTestAnswer>)> {
    let payload = payload_of(&mut fields);
    let to = fields.text("to");
    finish(fields)?;
    let template = live(&state, &caller, &id).await?;
    let payload = payload.as_deref().unwrap_or(NO_VALUES);
    let templates = &state.central.templates;
    let tested = templates
        .test(caller.tenant, &template, payload, to, &caller.actor)
        .await?;
    match tested.submitted.clone() {
        Submitted::Accepted { id } | Submitted::Duplicate { id, .. } => {
            Ok((StatusCode::ACCEPTED, Json(TemplateTestAnswer::new(id, tested))))
        }
        Submitted::Refused(problems) => Err(Problem::fields(problems)),
    }
}

fn finish(fields: Fields) -> Result<()> {
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Problem::fields(problems)),
    }
}

impl From<PreviewError> for Problem {
    fn from(error: PreviewError) -> Self {
        match error {
            PreviewError::Fields(problems) => Problem::fields(problems),
            PreviewError::Store(error) => error.into(),
        }
    }
}
