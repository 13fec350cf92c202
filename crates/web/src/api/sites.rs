//! Sites: who they are, what is parked there, what they called and wrote. What is parked is asked of the site itself;
//! a site that is not there is a 503 that says since when.

use super::{PathText, PathTexts};
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        job::JobView,
        page::Paged,
        site::{NewSiteView, SiteView},
        site_bulk::{self, SiteBulkAsked, SiteCountAnswer},
        site_messages::{ParkedActedView, ParkedPageView, SiteCallView},
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
use central::{
    jobs::Action,
    sites::{ParkedActed, ParkedAction, ParkedCount, ParkedFilter, ParkedPage, RelayError, SiteBulk},
};
use domain::{SiteId, TrackedOperationId};
use store::sites::CallFilter;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    params: Params,
) -> Result<Json<Paged<SiteView>>> {
    let sites = state.central.sites.list(caller.tenant).await?;
    paging::page_whole(sites, params, |site| site.id.to_string(), SiteView::from).map(Json)
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<SiteView>> {
    let site = state.central.sites.get(caller.tenant, &known(&id)?).await?;
    site.map(|site| Json(site.into()))
        .ok_or_else(|| Problem::not_found("site"))
}

/// Makes a site known. Its key is in this answer and nowhere else.
pub async fn register(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(mut fields): JsonObject,
) -> Result<(StatusCode, Json<NewSiteView>)> {
    let id = fields.text("id");
    let id = fields.require("id", id).and_then(|id| match SiteId::parse(&id) {
        Ok(id) => Some(id),
        Err(problem) => {
            fields.problem("id", problem);
            None
        }
    });
    let problems = fields.finish();
    let (Some(id), true) = (id, problems.is_empty()) else {
        return Err(Problem::fields(problems));
    };
    let registered = state
        .central
        .sites
        .register(caller.tenant, &id, &caller.actor)
        .await?;
    Ok((StatusCode::CREATED, Json(registered.into())))
}

pub async fn parked(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    mut params: Params,
) -> Result<Json<ParkedPageView>> {
    let page = ParkedPage {
        filter: site_bulk::from_query(&mut params),
        limit: paging::limit(&mut params).unwrap_or(paging::DEFAULT_LIMIT),
        // The site's own cursor: only the site can tell whether it is one.
        after: params.text("cursor"),
    };
    params.finish()?;
    let answer = state
        .central
        .sites
        .parked(caller.tenant, &known(&id)?, page)
        .await?;
    Ok(Json(answer.into()))
}

pub async fn retry(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(site, message): PathTexts,
) -> Result<Json<ParkedActedView>> {
    act(&state, &caller, &site, message, ParkedAction::Retry).await
}

pub async fn discard(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(site, message): PathTexts,
) -> Result<Json<ParkedActedView>> {
    act(&state, &caller, &site, message, ParkedAction::Discard).await
}

async fn act(
    state: &Shared,
    caller: &Caller,
    site: &str,
    message: String,
    action: ParkedAction,
) -> Result<Json<ParkedActedView>> {
    let sites = &state.central.sites;
    let acted = sites
        .act_on_parked(caller.tenant, &known(site)?, &message, action, &caller.actor)
        .await?;
    match acted {
        ParkedActed::Done => Ok(Json(ParkedActedView {
            site_id: site.to_owned(),
            message_id: message,
            action: action.word(),
        })),
        ParkedActed::NotFound => Err(Problem::not_found("message at the site")),
        ParkedActed::WrongState => Err(Problem::new(
            Code::WrongState,
            "the message is not parked; only parked messages are retried or discarded",
        )),
    }
}

pub async fn retry_many(
    State(state): State<Shared>,
    caller: Caller,
    PathText(site): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    act_on_many(&state, &caller, &site, Action::Retry, fields).await
}

pub async fn discard_many(
    State(state): State<Shared>,
    caller: Caller,
    PathText(site): PathText,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    act_on_many(&state, &caller, &site, Action::Discard, fields).await
}

/// The site says how many match, and up to which change: the job acts on those and no others.
async fn act_on_many(
    state: &Shared,
    caller: &Caller,
    site: &str,
    action: Action,
    fields: Fields,
) -> Result<Response> {
    let asked = SiteBulkAsked::read(fields).map_err(Problem::fields)?;
    if asked.filter.removed && action == Action::Retry {
        return Err(Problem::field(
            "filter.removed",
            "what waits for a target that is gone can only be discarded",
        ));
    }
    let (tenant, site) = (caller.tenant, known(site)?);
    let central = &state.central;
    let counted = central
        .sites
        .count_parked(tenant, &site, asked.filter.clone())
        .await?;
    if asked.dry_run {
        let ParkedCount { total, until } = counted;
        return Ok(Json(SiteCountAnswer { total, until }).into_response());
    }
    let bulk = SiteBulk {
        at_site: site.to_string(),
        filter: ParkedFilter {
            until: Some(counted.until),
            ..asked.filter
        },
    };
    let job = central
        .jobs
        .start_at_site(tenant, action, &bulk, counted.total, &caller.actor)
        .await?;
    let location = [(header::LOCATION, format!("/api/jobs/{}", job.id))];
    Ok((StatusCode::ACCEPTED, location, Json(JobView::from(job))).into_response())
}

pub async fn calls(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<SiteCallView>>> {
    let filter = CallFilter {
        site: params.text("site").map(SiteId::new),
        category: params.parsed("category"),
        status: params.several("status"),
        target: params.text("target"),
        operation: params.parsed::<TrackedOperationId>("trackedOperationId"),
        from: params.timestamp("from"),
        to: params.timestamp("to"),
    };
    let page = paging::page(&mut params);
    params.finish()?;
    let found = state
        .central
        .store
        .site_calls(caller.tenant, &filter, page)
        .await?;
    Ok(Json(Paged {
        items: found.rows.into_iter().map(SiteCallView::from).collect(),
        next_cursor: found.next.map(paging::print_cursor),
    }))
}

/// What cannot be a site's id names no site.
pub(super) fn known(id: &str) -> Result<SiteId> {
    SiteId::parse(id).map_err(|_| Problem::not_found("site"))
}

impl From<RelayError> for Problem {
    fn from(error: RelayError) -> Self {
        let words = error.to_string();
        match error {
            RelayError::UnknownSite => Problem::not_found("site"),
            RelayError::Offline(offline) => Problem {
                offline_since: offline.since,
                ..Problem::new(Code::SiteOffline, words)
            },
            RelayError::NoAnswer(_) => Problem::new(Code::SiteNoAnswer, words),
            RelayError::Failed(_) => Problem::new(Code::SiteFailed, words),
            RelayError::Store(error) => error.into(),
        }
    }
}
