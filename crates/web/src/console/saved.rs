//! Views of the list of notifications that somebody keeps under a name.

use super::{failure::Result, filter::ListQuery, flash::Flash, form::Form, guard::Signed};
use crate::{problem::Problem, query::Params, state::Shared};
use axum::extract::State;
use store::users::{MAX_FILTER_NAME, SavedFilter};

/// Keeps the view, or changes what the name stands for.
pub async fn keep(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let query = form.get("query").unwrap_or_default();
    let uri = format!("/notifications?{query}");
    let uri = uri
        .parse()
        .map_err(|_| Problem::field("query", "is not a filter"))?;
    let mut params = Params::read(&uri)?;
    let query = ListQuery::read(&mut params, &signed.zone).query();
    params.finish()?;
    let place = format!("/notifications?{query}");
    let name = form.text("name").unwrap_or_default();
    if name.is_empty() || name.chars().count() > MAX_FILTER_NAME || name.contains('\0') {
        let why = format!("A view needs a name of up to {MAX_FILTER_NAME} characters.");
        return Ok(Flash::bad(why).at(&place, &state.console));
    }
    let said = format!("The view is kept as “{name}”.");
    let kept = SavedFilter { name, query };
    let (user, tenant) = (signed.user.id, signed.caller.tenant);
    match state.central.store.save_filter(user, tenant, kept).await {
        Ok(()) => Ok(Flash::good(said).at(&place, &state.console)),
        Err(store::Error::Conflict(why)) => Ok(Flash::bad(why).at(&place, &state.console)),
        Err(error) => Err(error.into()),
    }
}

pub async fn forget(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let name = form.get("name").unwrap_or_default();
    let (user, tenant) = (signed.user.id, signed.caller.tenant);
    let gone = state.central.store.forget_filter(user, tenant, name).await?;
    let flash = match gone {
        true => Flash::good(format!("The view “{name}” is forgotten.")),
        false => Flash::bad("There is no such view any more."),
    };
    Ok(flash.at("/notifications", &state.console))
}
