//! People who sign in to the console, their sessions and their one-time links.
//!
//! Always true: only hashes of tokens are kept; the sessions and links of somebody who is kept out, who lost the last
//! role, or whose password changed, are over; every change, every link and every sign-in is in the audit log of the
//! tenants it concerns.

use crate::{Result, directory::Role};
use async_trait::async_trait;
use domain::{Actor, TenantId, Timestamp, UserId};
use std::{
    fmt::{self, Debug},
    time::Duration,
};

#[async_trait]
pub trait Users: Debug + Send + Sync {
    /// `Conflict` when the name is taken, in any case and any tenant, or the subject is.
    async fn create_user(&self, user: NewUser, actor: &Actor) -> Result<User>;
    /// Whoever may anything in the tenant.
    async fn users(&self, tenant: TenantId) -> Result<Vec<User>>;
    async fn all_users(&self) -> Result<Vec<User>>;
    /// Whether there is anybody, kept out or not. Who was ever there stays there.
    async fn has_users(&self) -> Result<bool>;
    async fn user(&self, id: UserId) -> Result<Option<User>>;
    /// The name in any case.
    async fn user_by_name(&self, name: &str) -> Result<Option<User>>;
    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>>;
    /// Sets the password's hash and ends all sessions and links. Answers whether there is such a user.
    async fn set_password(&self, user: UserId, hash: &PasswordHash, actor: &Actor) -> Result<bool>;
    /// What the user may do in the tenant; none takes everything away, and with the last role all sessions and links.
    /// Answers whether there is such a user.
    async fn set_role(
        &self,
        user: UserId,
        tenant: TenantId,
        role: Option<Role>,
        actor: &Actor,
    ) -> Result<bool>;
    /// Keeps the user out, ending all sessions and links, or lets them in again. Answers whether that was a change.
    async fn set_disabled(&self, user: UserId, disabled: bool, actor: &Actor) -> Result<bool>;

    /// Opens a session, remembers the sign-in, and clears a few expired sessions and links away.
    async fn sign_in(&self, session: NewSession) -> Result<()>;
    /// Writes down that a sign-in under this name was refused.
    async fn sign_in_refused(&self, user: &User, detail: &str) -> Result<()>;
    /// The live session with this hash, and whose it is.
    async fn session(&self, hash: &[u8; 32]) -> Result<Option<(Session, User)>>;
    /// Lets a live session last `ttl` from now. Answers whether there was one.
    async fn renew_session(&self, hash: &[u8; 32], ttl: Duration) -> Result<bool>;
    /// The tenant the session looks at from now on.
    async fn choose_tenant(&self, hash: &[u8; 32], tenant: TenantId) -> Result<bool>;
    /// Answers whether there was one.
    async fn end_session(&self, hash: &[u8; 32]) -> Result<bool>;

    /// A link that signs the user in, once. Whoever made it is on record.
    async fn create_link(&self, hash: &[u8; 32], user: UserId, ttl: Duration, actor: &Actor) -> Result<()>;
    /// The views of the list that the user keeps in the tenant, by name.
    async fn saved_filters(&self, user: UserId, tenant: TenantId) -> Result<Vec<SavedFilter>>;
    /// Keeps a view, or changes the one of this name. `Conflict` when the user keeps [`MAX_SAVED_FILTERS`] already.
    async fn save_filter(&self, user: UserId, tenant: TenantId, filter: SavedFilter) -> Result<()>;
    /// Answers whether there was one of this name.
    async fn forget_filter(&self, user: UserId, tenant: TenantId, name: &str) -> Result<bool>;

    /// Whose link it was. It is gone after this, used or expired.
    async fn use_link(&self, hash: &[u8; 32]) -> Result<Option<UserId>>;
}

/// The most views that one user keeps in one tenant.
pub const MAX_SAVED_FILTERS: u32 = 50;
/// The longest name of a view, in characters.
pub const MAX_FILTER_NAME: usize = 100;

/// A view of the list of notifications that somebody comes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub name: String,
    /// The end of the list's address, without `?`.
    pub query: String,
}

pub(crate) fn too_many_filters() -> crate::Error {
    crate::Error::Conflict(format!(
        "{MAX_SAVED_FILTERS} views are kept already; forget one first"
    ))
}

/// A password as it is kept: argon2id in PHC form. Not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    pub name: String,
    pub password: Option<PasswordHash>,
    /// Issuer and subject at the identity provider.
    pub subject: Option<String>,
    pub tenant: TenantId,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub password: Option<PasswordHash>,
    pub subject: Option<String>,
    /// By tenant.
    pub roles: Vec<(TenantId, Role)>,
    pub created_at: Timestamp,
    pub last_sign_in_at: Option<Timestamp>,
    pub disabled_at: Option<Timestamp>,
}

impl User {
    pub fn actor(&self) -> Actor {
        Actor::new(format!("user:{}", self.name))
    }

    /// What the user may do in the tenant. Who runs the installation may look into every one.
    pub fn role_in(&self, tenant: TenantId) -> Option<Role> {
        let own = self
            .roles
            .iter()
            .find(|(t, _)| *t == tenant)
            .map(|(_, role)| *role);
        own.or_else(|| self.is_ops().then_some(Role::Ops))
    }

    /// The tenants whose audit log says what happens to the user.
    pub(crate) fn tenants(&self) -> impl Iterator<Item = TenantId> {
        self.roles.iter().map(|(tenant, _)| *tenant)
    }

    /// Whether the user may nothing any more once the role in this tenant is gone.
    pub(crate) fn has_only(&self, tenant: TenantId) -> bool {
        self.tenants().all(|known| known == tenant)
    }

    /// One user each, from rows that say one role each and stand together.
    pub(crate) fn gather(rows: impl IntoIterator<Item = User>) -> Vec<User> {
        let mut users: Vec<User> = vec![];
        for row in rows {
            match users.last_mut() {
                Some(last) if last.id == row.id => last.roles.extend(row.roles),
                _ => users.push(row),
            }
        }
        users
    }

    pub fn is_ops(&self) -> bool {
        self.roles.iter().any(|(_, role)| *role == Role::Ops)
    }
}

#[derive(Debug, Clone)]
pub struct NewSession {
    pub hash: [u8; 32],
    pub user: UserId,
    pub tenant: TenantId,
    /// What every form of the session carries.
    pub csrf: String,
    pub ttl: Duration,
    /// `password`, `link`, `openid`.
    pub how: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub user: UserId,
    pub tenant: TenantId,
    pub csrf: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// How a name is looked for.
pub(crate) fn name_key(name: &str) -> String {
    name.to_lowercase()
}

/// What the audit log says of a role that was given or taken.
pub(crate) fn role_in_words(role: Option<Role>) -> String {
    role.map_or("no role any more".into(), |role| format!("role {role}"))
}

/// What the audit log says of a new link.
pub(crate) const LINK_MADE: &str = "sign-in link made";

/// Expired sessions that one sign-in clears away at most.
pub(crate) const EXPIRED_CLEARED_AT_ONCE: u32 = 100;
