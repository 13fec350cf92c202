//! Tenants, for whoever runs the installation; and which of them a session looks at.

use super::{
    download::{Column, Download},
    failure::{Result, Trouble},
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
};
use crate::{
    api::tenants::{in_use, is_tenant_name},
    csv::Cell,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use domain::{FieldError, TenantId, Usage};
use store::directory::{Tenant, TenantDeletion};

#[derive(Template)]
#[template(path = "tenants/page.html")]
struct Page {
    frame: Frame,
    all: Vec<Tenant>,
    bad: Vec<FieldError>,
    name: String,
}
framed!(Page);

/// What hangs on a tenant, and whether to delete it all the same.
#[derive(Template)]
#[template(path = "tenants/delete.html")]
struct Deleting {
    frame: Frame,
    tenant: Tenant,
    usage: Usage,
}
framed!(Deleting);

impl Deleting {
    fn hangs(&self) -> bool {
        self.usage.words().is_some()
    }
}

/// Every tenant there is.
pub struct Tenants;

impl Download for Tenants {
    type Row = Tenant;
    type Filter = ();
    const FILE: &'static str = "tenants.csv";
    const COLUMNS: &'static [Column<Tenant>] = &[
        ("name", |one| Cell::text(&one.name)),
        ("createdAt", |one| Cell::plain(one.created_at)),
    ];

    async fn rows(state: &Shared, _: &Signed, (): &()) -> Result<Vec<Tenant>> {
        Ok(state.central.store.tenants().await?)
    }
}

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "Tenants", Nav::Tenants).await?,
        all: Tenants::rows(state, signed, &()).await?,
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

/// Asks before a tenant is deleted.
pub async fn ask_delete(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let wanted = params.text("id");
    params.finish()?;
    let tenant = of_id(&state, wanted.as_deref()).await?;
    let page = Deleting {
        frame: Frame::new(&state, &signed, format!("Delete {}", tenant.name), Nav::Tenants).await?,
        usage: state.central.usage_of_tenant(tenant.id).await?,
        tenant,
    };
    Ok(page.show(&state))
}

/// Ends a tenant that nobody needs any more. Not the one that is being looked at: its sessions end with it.
pub async fn delete(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let found = named(&state, &form).await?;
    let flash = if found.id == signed.caller.tenant {
        Flash::bad("Look at another tenant first: this one is the one you are in.")
    } else {
        match state.central.delete_tenant(found.id, &signed.caller.actor).await {
            Ok(TenantDeletion::Deleted) => Flash::good(format!("The tenant {} is gone.", found.name)),
            Ok(TenantDeletion::InUse(hangs)) => {
                Flash::bad(format!("Nothing was deleted: {}.", in_use(&found.name, &hangs)))
            }
            Ok(TenantDeletion::NotFound) => return Err(Trouble(Problem::not_found("tenant"))),
            Err(store::Error::Conflict(why)) => Flash::bad(format!("Nothing was deleted: {why}.")),
            Err(error) => return Err(error.into()),
        }
    };
    Ok(flash.at("/tenants", &state.console))
}

async fn named(state: &Shared, form: &Form) -> Result<Tenant> {
    of_id(state, form.get("tenant")).await
}

async fn of_id(state: &Shared, id: Option<&str>) -> Result<Tenant> {
    let wanted = id.and_then(|id| id.parse().ok()).map(TenantId);
    let known = state.central.store.tenants().await?;
    let found = known.into_iter().find(|tenant| Some(tenant.id) == wanted);
    found.ok_or_else(|| Trouble(Problem::not_found("tenant")))
}

/// Looks at another tenant from now on, if the user may.
pub async fn choose(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let found = named(&state, &form).await?;
    let refused = || Trouble(Problem::not_found("tenant"));
    let users = &state.central.users;
    if !users.choose_tenant(&signed.token, &signed.user, found.id).await? {
        return Err(refused());
    }
    Ok(Flash::good(format!("You are looking at the tenant {}.", found.name)).at("/", &state.console))
}
