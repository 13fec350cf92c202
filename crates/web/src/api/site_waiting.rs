//! What waits at a site, asked of the site itself: a page of it, one tried now, one given up.

use super::{PathText, PathTexts, sites::known};
use crate::{
    auth::Caller,
    dto::site_waiting::{SiteWaitingActedView, SiteWaitingPageView},
    paging,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State};
use central::sites::{WaitingActed, WaitingAction, WaitingPage};

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
    mut params: Params,
) -> Result<Json<SiteWaitingPageView>> {
    let page = WaitingPage {
        category: params.parsed("category"),
        limit: paging::limit(&mut params).unwrap_or(paging::DEFAULT_LIMIT),
        // The site's own cursor: only the site can tell whether it is one.
        after: params.text("cursor"),
    };
    params.finish()?;
    let answer = state
        .central
        .sites
        .waiting(caller.tenant, &known(&id)?, page)
        .await?;
    Ok(Json(answer.into()))
}

pub async fn try_now(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(site, message): PathTexts,
) -> Result<Json<SiteWaitingActedView>> {
    act(&state, &caller, &site, message, WaitingAction::Try).await
}

pub async fn discard(
    State(state): State<Shared>,
    caller: Caller,
    PathTexts(site, message): PathTexts,
) -> Result<Json<SiteWaitingActedView>> {
    act(&state, &caller, &site, message, WaitingAction::Discard).await
}

async fn act(
    state: &Shared,
    caller: &Caller,
    site: &str,
    message: String,
    action: WaitingAction,
) -> Result<Json<SiteWaitingActedView>> {
    let sites = &state.central.sites;
    let acted = sites
        .act_on_waiting(caller.tenant, &known(site)?, &message, action, &caller.actor)
        .await?;
    match acted {
        WaitingActed::Done { status, error } => Ok(Json(SiteWaitingActedView {
            site_id: site.to_owned(),
            message_id: message,
            action: action.word(),
            status,
            last_error: error,
        })),
        WaitingActed::NotFound => Err(Problem::not_found("message at the site")),
        WaitingActed::WrongState(why) => Err(Problem::new(Code::WrongState, why)),
    }
}
