//! What an admin may do to users: the same rules behind the API and the console.
//!
//! Always true: an admin sees and changes only what users may do in the admin's own tenant; what concerns the person
//! as a whole (password, being kept out, a link) only for people who belong to no other tenant.

use crate::{
    auth::Caller,
    problem::{Code, Problem, Result},
    state::Shared,
};
use central::users::{UserDraft, UserError};
use domain::{FieldError, UserId};
use store::{directory::Role, users::User};

/// Roles an admin can give; `ops` reaches beyond the tenant.
pub const ROLES: [Role; 3] = [Role::Viewer, Role::Operator, Role::Admin];

/// A user of the caller's tenant.
pub async fn find(state: &Shared, caller: &Caller, id: &str) -> Result<User> {
    let user = match id.parse() {
        Ok(id) => state.central.store.user(UserId(id)).await?,
        Err(_) => None,
    };
    let here = |user: &User| user.roles.iter().any(|(tenant, _)| *tenant == caller.tenant);
    user.filter(here).ok_or_else(|| Problem::not_found("user"))
}

/// What the user may do here.
pub fn role_here(user: &User, caller: &Caller) -> Option<Role> {
    user.roles
        .iter()
        .find(|(tenant, _)| *tenant == caller.tenant)
        .map(|(_, role)| *role)
}

/// Whether the person belongs to this tenant alone.
pub fn is_ours(user: &User, caller: &Caller) -> bool {
    !user.is_ops() && user.roles.iter().all(|(tenant, _)| *tenant == caller.tenant)
}

fn ours(user: &User, caller: &Caller) -> Result<()> {
    if is_ours(user, caller) {
        return Ok(());
    }
    Err(Problem::forbidden(
        "this person belongs to other tenants as well, or runs the installation; use `waypost user` on the database itself",
    ))
}

fn not_oneself(user: &User, caller: &Caller) -> Result<()> {
    if user.actor() == caller.actor {
        return Err(Problem::new(
            Code::Conflict,
            "you would lock yourself out; ask another admin to do it",
        ));
    }
    Ok(())
}

pub fn role_problem(role: Role) -> Option<FieldError> {
    (!ROLES.contains(&role)).then(|| FieldError::new("role", "must be viewer, operator or admin"))
}

pub async fn create(
    state: &Shared,
    caller: &Caller,
    name: String,
    role: Role,
    password: Option<String>,
) -> Result<User> {
    if let Some(problem) = role_problem(role) {
        return Err(Problem::fields(vec![problem]));
    }
    let draft = UserDraft {
        name,
        password,
        tenant: caller.tenant,
        role,
    };
    Ok(state.central.users.create(draft, &caller.actor).await?)
}

/// Gives another role here, or none.
pub async fn set_role(state: &Shared, caller: &Caller, user: &User, role: Option<Role>) -> Result<()> {
    if role == role_here(user, caller) {
        return Ok(());
    }
    not_oneself(user, caller)?;
    if role_here(user, caller) == Some(Role::Ops) {
        return Err(Problem::forbidden(
            "the role ops is given and taken with `waypost user` on the database itself",
        ));
    }
    if let Some(problem) = role.and_then(role_problem) {
        return Err(Problem::fields(vec![problem]));
    }
    state
        .central
        .store
        .set_role(user.id, caller.tenant, role, &caller.actor)
        .await?;
    Ok(())
}

pub async fn set_password(state: &Shared, caller: &Caller, user: &User, text: &str) -> Result<()> {
    ours(user, caller)?;
    state
        .central
        .users
        .set_password(user.id, text, &caller.actor)
        .await?;
    Ok(())
}

pub async fn set_disabled(state: &Shared, caller: &Caller, user: &User, disabled: bool) -> Result<()> {
    ours(user, caller)?;
    if disabled {
        not_oneself(user, caller)?;
    }
    state
        .central
        .store
        .set_disabled(user.id, disabled, &caller.actor)
        .await?;
    Ok(())
}

/// The path of a page that signs the user in, once.
pub async fn link(state: &Shared, caller: &Caller, user: &User) -> Result<String> {
    ours(user, caller)?;
    let token = state.central.users.link(user.id, &caller.actor).await?;
    Ok(format!("/sign-in/link/{token}"))
}

impl From<UserError> for Problem {
    fn from(error: UserError) -> Self {
        match error {
            UserError::Fields(problems) => Problem::fields(problems),
            UserError::Store(error) => error.into(),
        }
    }
}
