//! Retry or discard of everything that is parked at a site and matches: a page that asks, then a job. The site itself
//! counts, and names the change up to which it counted; what parks after that is left alone.

use super::one::in_words;
use crate::{
    api::{PathText, lists::encode},
    console::{
        bulk::doing,
        failure::Result,
        flash::{Flash, redirect},
        form::Form,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{counted, number},
    },
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::{
    jobs::Action,
    sites::{ParkedFilter, RelayError, SiteBulk},
};
use domain::SiteId;

#[derive(Template)]
#[template(path = "sites/confirm.html")]
struct Confirm {
    frame: Frame,
    site: SiteId,
    action: &'static str,
    verb: &'static str,
    count: u64,
    until: i64,
    target: Option<String>,
    error_code: Option<String>,
}
framed!(Confirm);

struct Chosen {
    site: SiteId,
    action: Action,
    filter: ParkedFilter,
    back: String,
}

/// What an address or a form says.
struct ParkedBulkParams {
    action: Option<String>,
    target: Option<String>,
    error_code: Option<String>,
    until: Option<String>,
}

fn chosen(id: &str, said: ParkedBulkParams) -> Result<Chosen, Problem> {
    let action = match said.action.as_deref() {
        Some("retry") => Action::Retry,
        Some("discard") => Action::Discard,
        _ => return Err(Problem::field("action", "must be retry or discard")),
    };
    let text = |said: Option<String>| {
        said.map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    };
    let until = match said.until {
        Some(until) => Some(
            until
                .parse()
                .map_err(|_| Problem::field("until", "is not what the page before said"))?,
        ),
        None => None,
    };
    Ok(Chosen {
        site: SiteId::parse(id).map_err(|_| Problem::not_found("site"))?,
        action,
        filter: ParkedFilter {
            target: text(said.target),
            error_code: text(said.error_code),
            until,
            ..ParkedFilter::default()
        },
        back: format!("/sites/{}", encode(id)),
    })
}

/// Asks.
pub async fn confirm(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    mut params: Params,
) -> Result {
    let said = ParkedBulkParams {
        action: params.text("action"),
        target: params.text("target"),
        error_code: params.text("errorCode"),
        until: None,
    };
    params.finish()?;
    let chosen = chosen(&id, said)?;
    let (tenant, site) = (signed.caller.tenant, &chosen.site);
    let counted = match state
        .central
        .sites
        .count_parked(tenant, site, chosen.filter.clone())
        .await
    {
        Ok(counted) => counted,
        Err(error) => return cannot(&state, error, &chosen.back),
    };
    if counted.total == 0 {
        let words = "Nothing that matches is parked at the site, so there is nothing to do.";
        return Ok(Flash::bad(words).at(&chosen.back, &state.console));
    }
    let verb = doing(&chosen.action);
    let page = Confirm {
        frame: Frame::new(&state, &signed, format!("{verb} at {id}?"), Nav::Sites).await?,
        site: chosen.site,
        action: chosen.action.as_str(),
        verb,
        count: counted.total,
        until: counted.until,
        target: chosen.filter.target,
        error_code: chosen.filter.error_code,
    };
    Ok(page.show(&state))
}

/// Does it.
pub async fn go(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let said = ParkedBulkParams {
        action: form.text("action"),
        target: form.text("target"),
        error_code: form.text("errorCode"),
        until: form.text("until"),
    };
    let chosen = chosen(&id, said)?;
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let central = &state.central;
    let filter = chosen.filter.clone();
    let counted = match central.sites.count_parked(tenant, &chosen.site, filter).await {
        Ok(counted) => counted,
        Err(error) => return cannot(&state, error, &chosen.back),
    };
    let bulk = SiteBulk {
        at_site: chosen.site.to_string(),
        filter: ParkedFilter {
            until: Some(counted.until),
            ..chosen.filter
        },
    };
    let job = central
        .jobs
        .start_at_site(tenant, chosen.action, &bulk, counted.total, actor)
        .await?;
    Ok(redirect(&format!("/jobs/{}", job.id)))
}

fn cannot(state: &Shared, error: RelayError, back: &str) -> Result {
    match error {
        RelayError::Store(error) => Err(error.into()),
        error => Ok(Flash::bad(in_words(&error)).at(back, &state.console)),
    }
}
