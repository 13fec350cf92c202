//! Users, in and out. Passwords go in and never come out.

use super::names::{RoleName, Time};
use crate::{auth::Caller, people};
use domain::Timestamp;
use serde::Serialize;
use store::{directory::Role, users::User};
use utoipa::ToSchema;

/// Somebody who may sign in to the tenant's console.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: i64,
    /// Shown in the audit log as `user:NAME`.
    pub name: String,
    /// In this tenant.
    #[schema(value_type = Option<RoleName>)]
    pub role: Option<Role>,
    pub has_password: bool,
    pub disabled: bool,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub last_sign_in_at: Option<Timestamp>,
}

impl UserView {
    pub fn of(user: User, caller: &Caller) -> Self {
        Self {
            id: user.id.0,
            role: people::role_here(&user, caller),
            has_password: user.password.is_some(),
            disabled: user.disabled_at.is_some(),
            created_at: user.created_at,
            last_sign_in_at: user.last_sign_in_at,
            name: user.name,
        }
    }
}

/// A user to be made.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct UserRequest {
    /// One person in all tenants: a name that is taken anywhere is a conflict.
    #[schema(max_length = 255)]
    pub name: String,
    /// `viewer`, `operator` or `admin`; `ops` is given with the command line on the database itself.
    pub role: RoleName,
    /// At least 10 characters. Left out: ask for a link.
    pub password: Option<String>,
}

/// What is to change; what is left out stays.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct UserChange {
    pub role: Option<RoleName>,
    pub password: Option<String>,
    /// Kept out; every session ends at once.
    pub disabled: Option<bool>,
}

/// A link that signs the user in once, within 24 hours.
#[derive(Serialize, ToSchema)]
pub struct LinkView {
    /// A path on this server.
    pub path: String,
}

impl std::fmt::Debug for LinkView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkView")
    }
}
