//! Tenants, for whoever runs the installation; and which of them a session looks at.

use super::{
    failure::{Result, Trouble},
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
};
use crate::{api::tenants::is_tenant_name, problem::Problem, state::Shared};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use domain::{FieldError, TenantId};
use store::directory::Tenant;

#[derive(Template)]
#[template(path = "tenants/page.html")]
struct Page {
    frame: Frame,
    all: Vec<Tenant>,
    bad: Vec<FieldError>,
    name: String,
}
framed!(Page);

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "Tenants", Nav::Tenants).await?,
        all: state.central.store.tenants().await?,
        bad: vec![],
        name: String::new(),
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    Ok(show(&state, &signed).await?.show(&state))
}

pub async fn create(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let name = form.text("name").unwrap_or_default();
    let why = if !is_tenant_name(&name) {
        "must be 1 to 64 of letters, digits, '-', '_' and '.'".to_owned()
    } else {
        match state
            .central
            .store
            .create_tenant(&name, &signed.caller.actor)
            .await
        {
            Ok(made) => {
                return Ok(
                    Flash::good(format!("The tenant {} is made.", made.name)).at("/tenants", &state.console)
                );
            }
            Err(store::Error::Conflict(why)) => why,
            Err(error) => return Err(error.into()),
        }
    };
    let page = Page {
        bad: vec![FieldError::new("Name", why)],
        name,
        ..show(&state, &signed).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

/// Looks at another tenant from now on, if the user may.
pub async fn choose(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let wanted = form.get("tenant").and_then(|id| id.parse().ok()).map(TenantId);
    let known = state.central.store.tenants().await?;
    let found = known.into_iter().find(|tenant| Some(tenant.id) == wanted);
    let refused = || Trouble(Problem::not_found("tenant"));
    let found = found.ok_or_else(refused)?;
    let users = &state.central.users;
    if !users.choose_tenant(&signed.token, &signed.user, found.id).await? {
        return Err(refused());
    }
    Ok(Flash::good(format!("You are looking at the tenant {}.", found.name)).at("/", &state.console))
}
