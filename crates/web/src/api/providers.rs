//! Providers: setting up, trying out, holding, resuming. Secrets are write-only.

use super::{PathText, lists::encode};
use crate::{
    auth::Caller,
    body::{JsonObject, OptionalObject},
    draft,
    dto::{
        captured::{CapturedView, newest_first},
        page::Paged,
        provider::{KindView, ProviderView, TestAnswer, TriedAnswer},
    },
    fields::Fields,
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::providers::{PutError, TestDraft, TestError};
use domain::{ProviderId, submission::limit};
use serde_json::Value;
use store::directory::Provider;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<ProviderView>>> {
    let providers = state.central.store.providers(caller.tenant).await?;
    paging::page_whole(
        providers,
        params,
        |p| p.provider.id.to_string(),
        |p| view(&state, p),
    )
    .map(Json)
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<ProviderView>> {
    find(&state, &caller, &id)
        .await
        .map(|provider| Json(view(&state, provider)))
}

pub async fn create(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    let draft =
        draft::read(fields, caller.tenant, None, &state.central.providers).map_err(Problem::fields)?;
    let stored = state
        .central
        .providers
        .create(caller.tenant, draft, &caller.actor)
        .await?;
    let location = [(
        header::LOCATION,
        format!("/api/providers/{}", encode(stored.provider.id.as_str())),
    )];
    Ok((StatusCode::CREATED, location, Json(view(&state, stored))).into_response())
}

pub async fn replace(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<ProviderView>> {
    let current = find(&state, &caller, &id).await?;
    let version = fields.integer::<i64>("version");
    let draft = draft::read(fields, caller.tenant, Some(&current), &state.central.providers)
        .map_err(Problem::fields)?;
    if version.is_some_and(|version| version != current.version) {
        return Err(Problem::new(
            Code::Conflict,
            format!(
                "the provider is at version {} by now; read it again",
                current.version
            ),
        ));
    }
    let stored = state
        .central
        .providers
        .replace(&current, draft, &caller.actor)
        .await?;
    Ok(Json(view(&state, stored)))
}

pub async fn delete(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    if state
        .central
        .providers
        .delete(caller.tenant, &ProviderId::new(id), &caller.actor)
        .await?
    {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::not_found("provider"))
    }
}

/// One real attempt, now. What the far end said is the answer, whatever it said.
pub async fn test(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<TestAnswer>> {
    let to = short_text(&mut fields, "to", limit::ADDRESS);
    let data = fields.object("data").map(|data| Value::Object(data).to_string());
    if data.as_ref().is_some_and(|data| data.len() > limit::TYPE_DATA) {
        fields.problem("data", format!("must be at most {} bytes", limit::TYPE_DATA));
    }
    finish(fields)?;
    let draft = TestDraft { to, data };
    let report = state
        .central
        .providers
        .test(caller.tenant, &ProviderId::new(id), draft, &caller.actor)
        .await;
    match report {
        Ok(report) => Ok(Json(report.into())),
        Err(TestError::NotFound) => Err(Problem::not_found("provider")),
        Err(TestError::NotUsable(why)) => Err(Problem::new(Code::ValidationFailed, why)),
        Err(full @ TestError::TooMany) => Err(Problem::new(Code::TooMany, full.to_string())),
        Err(TestError::Store(error)) => Err(error.into()),
    }
}

/// What a `capture` provider kept on this node, newest first.
pub async fn captured(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    params: Params,
) -> Result<Json<Paged<CapturedView>>> {
    let provider = find(&state, &caller, &id).await?.provider;
    let kept = state.central.providers.captured(&provider).ok_or_else(|| {
        let words = format!(
            "a provider of kind {} sends messages away and keeps none",
            provider.kind
        );
        Problem::new(Code::Conflict, words)
    })?;
    paging::page_whole(kept, params, newest_first, CapturedView::from).map(Json)
}

pub async fn hold(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    OptionalObject(mut fields): OptionalObject,
) -> Result<Json<ProviderView>> {
    let why = short_text(&mut fields, "reason", limit::SUBJECT);
    finish(fields)?;
    let provider = ProviderId::new(id.as_str());
    if !state
        .central
        .providers
        .hold(caller.tenant, &provider, why, &caller.actor)
        .await?
    {
        return Err(Problem::not_found("provider"));
    }
    find(&state, &caller, &id)
        .await
        .map(|provider| Json(view(&state, provider)))
}

pub async fn resume(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<ProviderView>> {
    let provider = ProviderId::new(id.as_str());
    if !state
        .central
        .providers
        .resume(caller.tenant, &provider, &caller.actor)
        .await?
    {
        return Err(Problem::not_found("provider"));
    }
    find(&state, &caller, &id)
        .await
        .map(|provider| Json(view(&state, provider)))
}

/// What waits in its lane is tried at once.
pub async fn try_now(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<TriedAnswer>> {
    let providers = &state.central.providers;
    let moved = providers
        .try_now(caller.tenant, &ProviderId::new(id), &caller.actor)
        .await?;
    moved
        .map(|moved| Json(TriedAnswer { moved }))
        .ok_or_else(|| Problem::not_found("provider"))
}

pub async fn kinds(State(state): State<Shared>, _: Caller) -> Json<Paged<KindView>> {
    let kinds = state
        .central
        .directory
        .registry()
        .iter()
        .map(|kind| KindView::from(&**kind));
    Json(Paged::whole(kinds.collect()))
}

fn view(state: &Shared, stored: Provider) -> ProviderView {
    ProviderView::new(stored, &state.central.providers)
}

async fn find(state: &Shared, caller: &Caller, id: &str) -> Result<Provider> {
    let found = state
        .central
        .store
        .provider(caller.tenant, &ProviderId::new(id))
        .await?;
    found.ok_or_else(|| Problem::not_found("provider"))
}

fn short_text(fields: &mut Fields, name: &str, longest: usize) -> Option<String> {
    let text = fields.text(name)?;
    if text.chars().count() > longest {
        fields.problem(name, format!("must be at most {longest} characters"));
    }
    Some(text)
}

fn finish(fields: Fields) -> Result<()> {
    let problems = fields.finish();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Problem::fields(problems))
    }
}

impl From<PutError> for Problem {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Fields(problems) => Problem::fields(problems),
            PutError::Store(error) => error.into(),
        }
    }
}
