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
use domain::{
    EventId,
    template::{TemplateContent, TemplateIdentity},
};

/// What fills a template that is given nothing.
const NO_VALUES: &str = "{}";

/// What a template is to be filled with.
struct Filling {
    payload: Option<String>,
    event: Option<EventId>,
}

impl Filling {
    fn of(fields: &mut Fields) -> Self {
        let filling = Self {
            payload: payload_of(fields),
            event: fields.uuid("eventId").map(EventId),
        };
        if filling.payload.is_some() && filling.event.is_some() {
            fields.problem("eventId", "must be left out where payload is given");
        }
        filling
    }

    async fn preview(
        self,
        state: &Shared,
        caller: &Caller,
        identity: &TemplateIdentity,
        content: &TemplateContent,
    ) -> Result<Json<PreviewAnswer>> {
        let (templates, tenant) = (&state.central.templates, caller.tenant);
        let preview = match self.event {
            Some(event) => {
                let values = state.central.events.values(tenant, event).await?;
                templates.preview_with(tenant, identity, content, &values).await?
            }
            None => {
                let payload = self.payload.as_deref().unwrap_or(NO_VALUES);
                templates.preview(tenant, identity, content, payload).await?
            }
        };
        Ok(Json(preview.into()))
    }
}

pub async fn unsaved(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<PreviewAnswer>> {
    let filling = Filling::of(&mut fields);
    let draft = draft_of(&mut fields, None);
    finish(fields)?;
    let draft = draft.ok_or_else(Problem::internal)?;
    filling
        .preview(&state, &caller, &draft.identity, &draft.content)
        .await
}

pub async fn saved(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<PreviewAnswer>> {
    let filling = Filling::of(&mut fields);
    finish(fields)?;
    let template = live(&state, &caller, &id).await?;
    filling
        .preview(&state, &caller, &template.identity, &template.content)
        .await
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
