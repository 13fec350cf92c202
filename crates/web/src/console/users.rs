//! Who may sign in to this tenant, and as what.

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
    api::PathText,
    csv::Cell,
    origin,
    people::{self, ROLES},
    problem::{Code, Problem},
    state::Shared,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use central::users::password;
use domain::FieldError;
use store::{directory::Role, users::User};

#[derive(Template)]
#[template(path = "users/page.html")]
struct Page {
    frame: Frame,
    users: Vec<Listed>,
    bad: Vec<FieldError>,
    name: String,
    role: Role,
    shortest: usize,
}
framed!(Page);

#[derive(Template)]
#[template(path = "users/one.html")]
struct One {
    frame: Frame,
    user: User,
    role: Role,
    /// The person belongs to this tenant alone.
    ours: bool,
    oneself: bool,
    bad: Vec<FieldError>,
    shortest: usize,
}
framed!(One);

/// A person, and what they are in the tenant that is looked at.
pub struct Listed {
    user: User,
    role: Option<Role>,
}

/// Everybody who may sign in to the tenant.
pub struct Users;

impl Download for Users {
    type Row = Listed;
    type Filter = ();
    const FILE: &'static str = "users.csv";
    const COLUMNS: &'static [Column<Listed>] = &[
        ("id", |one| Cell::plain(one.user.id)),
        ("name", |one| Cell::text(&one.user.name)),
        ("role", |one| Cell::plain_or_empty(one.role)),
        ("disabled", |one| Cell::plain(one.user.disabled_at.is_some())),
        ("lastSignInAt", |one| {
            Cell::plain_or_empty(one.user.last_sign_in_at)
        }),
        ("createdAt", |one| Cell::plain(one.user.created_at)),
    ];

    async fn rows(state: &Shared, signed: &Signed, (): &()) -> Result<Vec<Listed>> {
        let users = state.central.store.users(signed.caller.tenant).await?;
        let listed = users.into_iter().map(|user| Listed {
            role: people::role_here(&user, &signed.caller),
            user,
        });
        Ok(listed.collect())
    }
}

async fn show(state: &Shared, signed: &Signed) -> Result<Page> {
    Ok(Page {
        frame: Frame::new(state, signed, "Users", Nav::Users).await?,
        users: Users::rows(state, signed, &()).await?,
        bad: vec![],
        name: String::new(),
        role: Role::Viewer,
        shortest: password::MIN_CHARS,
    })
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    Ok(show(&state, &signed).await?.show(&state))
}

/// With a password, or with a link that signs in once.
pub async fn create(State(state): State<Shared>, signed: Signed, headers: HeaderMap, form: Form) -> Result {
    let name = form.text("name").unwrap_or_default();
    let role = form
        .get("role")
        .and_then(|role| role.parse().ok())
        .unwrap_or(Role::Viewer);
    let text = form
        .get("password")
        .filter(|text| !text.is_empty())
        .map(str::to_owned);
    let by_link = text.is_none();
    let made = people::create(&state, &signed.caller, name.clone(), role, text).await;
    let problem = match made {
        Ok(user) if by_link => {
            let link = people::link(&state, &signed.caller, &user).await?;
            let link = format!("{}{link}", origin::of(&headers, &state.console));
            let once = Once::new(&signed, state.central.clock.now(), "/users", &user.name, link);
            return Ok(once.go(&state.console, state.central.directory.sealer()));
        }
        Ok(user) => {
            return Ok(Flash::good(format!("{} can sign in now.", user.name)).at("/users", &state.console));
        }
        Err(problem) => problem,
    };
    let page = Page {
        bad: blamed(problem, "name")?,
        name,
        role,
        ..show(&state, &signed).await?
    };
    Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
}

/// Problems that belong on the page; others are pages of their own.
fn blamed(problem: Problem, field: &str) -> Result<Vec<FieldError>> {
    match problem.code {
        Code::ValidationFailed => Ok(problem.errors),
        Code::Conflict => Ok(vec![FieldError::new(field, problem.detail)]),
        _ => Err(Trouble(problem)),
    }
}

async fn show_one(state: &Shared, signed: &Signed, id: &str) -> Result<One> {
    let user = people::find(state, &signed.caller, id).await?;
    let role = people::role_here(&user, &signed.caller).unwrap_or(Role::Viewer);
    Ok(One {
        frame: Frame::new(state, signed, user.name.clone(), Nav::Users).await?,
        ours: people::is_ours(&user, &signed.caller),
        oneself: user.id == signed.user.id,
        bad: vec![],
        shortest: password::MIN_CHARS,
        role,
        user,
    })
}

pub async fn one(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    Ok(show_one(&state, &signed, &id).await?.show(&state))
}

pub async fn role(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let user = people::find(&state, &signed.caller, &id).await?;
    let role = match form.get("role") {
        Some("none") => None,
        Some(text) => Some(
            text.parse()
                .map_err(|why: String| Trouble(Problem::field("role", why)))?,
        ),
        None => return Err(Trouble(Problem::field("role", "is missing"))),
    };
    people::set_role(&state, &signed.caller, &user, role).await?;
    let (said, place) = match role {
        Some(role) => (
            format!("{} is {role} here from now on.", user.name),
            format!("/users/{id}"),
        ),
        None => (
            format!("{} may do nothing here any more.", user.name),
            "/users".into(),
        ),
    };
    Ok(Flash::good(said).at(&place, &state.console))
}

pub async fn password(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    let user = people::find(&state, &signed.caller, &id).await?;
    let text = form.get("password").unwrap_or_default();
    match people::set_password(&state, &signed.caller, &user, text).await {
        Ok(()) => {
            let said = format!(
                "{} has a new password, and all sessions under the old one have ended.",
                user.name
            );
            Ok(Flash::good(said).at(&format!("/users/{id}"), &state.console))
        }
        Err(problem) => {
            let page = One {
                bad: blamed(problem, "password")?,
                ..show_one(&state, &signed, &id).await?
            };
            Ok(page.show_as(&state, StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

pub async fn disable(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    form: Form,
) -> Result {
    let user = people::find(&state, &signed.caller, &id).await?;
    let disabled = form.get("disabled") != Some("false");
    people::set_disabled(&state, &signed.caller, &user, disabled).await?;
    let said = match disabled {
        true => format!("{} is kept out; every session has ended.", user.name),
        false => format!("{} may sign in again.", user.name),
    };
    Ok(Flash::good(said).at(&format!("/users/{id}"), &state.console))
}

/// A link that signs the user in once; shown this once.
pub async fn link(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Result {
    let user = people::find(&state, &signed.caller, &id).await?;
    let link = people::link(&state, &signed.caller, &user).await?;
    let link = format!("{}{link}", origin::of(&headers, &state.console));
    let place = format!("/users/{}", user.id);
    let once = Once::new(&signed, state.central.clock.now(), &place, &user.name, link);
    Ok(once.go(&state.console, state.central.directory.sealer()))
}
