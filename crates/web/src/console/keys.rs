//! API keys of the tenant. A key's text is shown once: on the page that follows the form that made it.

use super::{
    download::{Column, Download},
    failure::{Result, Trouble},
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    once::Once,
    show::Badge,
};
use crate::{
    api::{PathText, keys::name_problems},
    csv::Cell,
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::{extract::State, http::StatusCode};
use domain::FieldError;
use store::directory::{ApiKey, Role};

/// Roles that can be given here; `ops` reaches beyond the tenant.
const ROLES: [(Role, &str); 5] = [
    (Role::Producer, "sends, and asks after what it sent"),
    (Role::Viewer, "looks"),
    (Role::Operator, "looks, sends, retries, discards, holds providers"),
    (Role::Admin, "may do everything within the tenant"),
    (Role::Site, "is for a site's agent"),
];

#[derive(Template)]
#[template(path = "keys/page.html")]
struct Page {
    frame: Frame,
    keys: Vec<ApiKey>,
    bad: Vec<FieldError>,
    name: String,
    role: Role,
}
framed!(Page);

/// Every key, the newest first and those that no longer work last. Their texts are kept nowhere.
pub struct Keys;

impl Download for Keys {
    type Row = ApiKey;
    type Filter = ();
    const FILE: &'static str = "keys.csv";
    const COLUMNS: &'static [Column<ApiKey>] = &[
        ("id", |key| Cell::plain(key.id)),
        ("name", |key| Cell::text(&key.name)),
        ("role", |key| Cell::plain(key.role)),
        ("createdAt", |key| Cell::plain(key.created_at)),
        ("lastUsedAt", |key| Cell::plain_or_empty(key.last_used_at)),
        ("revokedAt", |key| Cell::plain_or_empty(key.revoked_at)),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<ApiKey>> {
        let mut keys = state.central.store.keys(signed.caller.tenant).await?;
        keys.reverse();
        keys.sort_by_key(|key| key.revoked_at.is_some());
        Ok(keys)
    }
}

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "API keys", Nav::Keys).await?,
        keys: Keys::rows(state, signed, &()).await?,
        bad: vec![],
        name: String::new(),
        role: Role::Producer,
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    Ok(show(&state, &signed).await?.show(&state))
}

pub async fn create(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let name = form.text("name").unwrap_or_default();
    let role = form.get("role").and_then(|role| role.parse::<Role>().ok());
    let mut bad = name_problems("Name", &name);
    let role = match role {
        Some(role) if ROLES.iter().any(|(known, _)| *known == role) => role,
        _ => {
            bad.push(FieldError::new("Role", "must be one of those in the list"));
            Role::Producer
        }
    };
    if bad.is_empty() {
        let made = state
            .central
            .keys
            .create(signed.caller.tenant, &name, role, &signed.caller.actor)
            .await;
        match made {
            Ok(made) => {
                let now = state.central.clock.now();
                let once = Once::new(&signed, now, "/keys", &made.key.name, made.text);
                return Ok(once.go(&state.console, state.central.directory.sealer()));
            }
            Err(store::Error::Conflict(why)) => bad.push(FieldError::new("Name", why)),
            Err(error) => return Err(error.into()),
        }
    }
    let page = Page {
        name,
        bad,
        role,
        ..show(&state, &signed).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

pub async fn revoke(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let id: i64 = id.parse().map_err(|_| Trouble(Problem::not_found("key")))?;
    let revoked = state
        .central
        .keys
        .revoke(signed.caller.tenant, id, &signed.caller.actor)
        .await?;
    let flash = match revoked {
        true => Flash::good("The key no longer works."),
        false => Flash::bad("There is no such key any more."),
    };
    Ok(flash.at("/keys", &state.console))
}
