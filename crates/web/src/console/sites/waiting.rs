//! What waits at a site, on its page: asked of the site while the page is made, tried now or given up by whoever may.

mod outcome;

use super::one::in_words;
use crate::{
    api::{PathText, lists::encode},
    console::{failure::Result, flash::Flash, form::Form, guard::Signed},
    problem::Problem,
    state::Shared,
};
use axum::extract::State;
use central::sites::{RelayError, WaitingAction, WaitingAnswer, WaitingPage};
use domain::{SiteId, TenantId};
use futures_util::{StreamExt, stream};
use outcome::Outcome;

/// How many waiting messages are on the page, and can be acted on at once.
const ROWS_SHOWN: u32 = 50;
/// An attempt may take its time: so many are asked for at once, which is what a site makes to one system at a time.
const AT_ONCE: usize = 8;

/// What the site says waits, or why it says nothing.
pub(super) enum Waiting {
    Told(WaitingAnswer),
    NotTold(String),
}

pub(super) async fn waiting(
    state: &Shared,
    tenant: TenantId,
    id: &str,
    after: Option<String>,
) -> Result<Waiting> {
    let Ok(site) = SiteId::parse(id) else {
        return Ok(Waiting::NotTold(in_words(&RelayError::UnknownSite)));
    };
    let page = WaitingPage {
        limit: ROWS_SHOWN,
        after,
        ..WaitingPage::default()
    };
    match state.central.sites.waiting(tenant, &site, page).await {
        Ok(answer) => Ok(Waiting::Told(answer)),
        Err(RelayError::Store(error)) => Err(error.into()),
        Err(error) => Ok(Waiting::NotTold(in_words(&error))),
    }
}

pub async fn try_now(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, WaitingAction::Try).await
}

pub async fn discard(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    act(&state, &signed, &id, &form, WaitingAction::Discard).await
}

async fn act(state: &Shared, signed: &Signed, id: &str, form: &Form, action: WaitingAction) -> Result {
    let site = SiteId::parse(id).map_err(|_| Problem::not_found("site"))?;
    let place = format!("/sites/{}", encode(id));
    let (sites, caller) = (&state.central.sites, &signed.caller);
    let chosen = form.all("id").take(ROWS_SHOWN as usize).map(str::to_owned);
    let act_on = |message: String| {
        let site = &site;
        async move {
            sites
                .act_on_waiting(caller.tenant, site, &message, action, &caller.actor)
                .await
        }
    };
    let acted: Vec<_> = stream::iter(chosen.collect::<Vec<_>>())
        .map(act_on)
        .buffered(AT_ONCE)
        .collect()
        .await;
    if acted.is_empty() {
        return Ok(Flash::bad("Choose some messages first: tick their boxes.").at(&place, &state.console));
    }
    let mut outcome = Outcome::default();
    for one in acted {
        outcome.add(one);
    }
    Ok(outcome.in_words().at(&place, &state.console))
}
