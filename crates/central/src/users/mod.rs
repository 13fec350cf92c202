//! People: who they are, how they sign in, how long that lasts.
//!
//! Always true: tokens are 256 random bits and only their hashes are kept; a refusal does not say whether the name
//! exists; who is kept out, or has no role any more, is out at once; who comes through an identity provider comes no
//! other way, so that leaving the organisation is leaving here.

pub mod password;
pub mod throttle;

use crate::keys::{hash, random_letters};
use domain::{Actor, Clock, FieldError, TenantId, UserId};
use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::{
    Users,
    directory::Role,
    users::{NewSession, NewUser, PasswordHash, Session, User},
};
use throttle::{Throttle, Try};

/// A session nobody uses ends after this.
pub const SESSION_IDLE: Duration = Duration::from_secs(12 * 3600);
/// Not even one in use lasts longer.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// A session in use is renewed at most this often.
const RENEWED_EVERY: Duration = Duration::from_secs(10 * 60);
/// A link that nobody follows.
pub const LINK_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Why somebody can have neither a password nor a link.
pub const THROUGH_PROVIDER: &str = "is not for this person, who signs in through the identity provider";

/// The roles a person can have.
pub const ROLES: [Role; 4] = [Role::Viewer, Role::Operator, Role::Admin, Role::Ops];

#[derive(Debug, thiserror::Error)]
pub enum UserError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Wrong name, wrong password, kept out, no role: all the same from outside.
    #[error("the name or the password is wrong")]
    Refused,
    #[error("too many wrong tries")]
    TooMany { wait: Duration },
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// A user to be made.
#[derive(Debug, Clone)]
pub struct UserDraft {
    pub name: String,
    pub password: Option<String>,
    pub tenant: TenantId,
    pub role: Role,
}

/// A fresh session. The token goes to the browser and nowhere else.
#[derive(Clone)]
pub struct SignedIn {
    pub token: String,
    pub user: User,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SignedIn({})", self.user.name)
    }
}

#[derive(Debug, Clone)]
pub struct UserService {
    store: Arc<dyn Users>,
    clock: Arc<dyn Clock>,
    throttle: Arc<Throttle>,
    /// Somebody was found.
    anybody: Arc<AtomicBool>,
}

/// 256 random bits.
pub fn token() -> String {
    random_letters()
}

impl UserService {
    pub fn new(store: Arc<dyn Users>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            throttle: Arc::default(),
            anybody: Arc::default(),
        }
    }

    /// Whether there is anybody. Asked for every stranger, so that what stays true is asked of the store once.
    pub async fn anybody(&self) -> store::Result<bool> {
        if self.anybody.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let found = self.store.has_users().await?;
        self.anybody.fetch_or(found, Ordering::Relaxed);
        Ok(found)
    }

    pub async fn create(&self, draft: UserDraft, actor: &Actor) -> Result<User, UserError> {
        let mut bad = name_problems(&draft.name);
        if !ROLES.contains(&draft.role) {
            bad.push(FieldError::new("role", "must be viewer, operator, admin or ops"));
        }
        let password = draft.password.as_deref();
        bad.extend(
            password
                .and_then(password::problem)
                .map(|what| FieldError::new("password", what)),
        );
        if !bad.is_empty() {
            return Err(UserError::Fields(bad));
        }
        let password = match password {
            Some(text) => Some(hashed(text).await?),
            None => None,
        };
        let new = NewUser {
            name: draft.name.trim().to_owned(),
            password,
            subject: None,
            tenant: draft.tenant,
            role: draft.role,
        };
        Ok(self.store.create_user(new, actor).await?)
    }

    /// Sets a password and ends the user's sessions and links. Answers whether there is such a user. Refused for who
    /// comes through the identity provider.
    pub async fn set_password(&self, user: UserId, text: &str, actor: &Actor) -> Result<bool, UserError> {
        self.is_local(user, "password").await?;
        if let Some(what) = password::problem(text) {
            return Err(UserError::Fields(vec![FieldError::new("password", what)]));
        }
        Ok(self.store.set_password(user, &hashed(text).await?, actor).await?)
    }

    /// Whether this is the user's password, for changing it; wrong tries count.
    pub async fn is_password(
        &self,
        user: &User,
        text: &str,
        from: Option<IpAddr>,
    ) -> Result<(), SignInError> {
        let one = self.begin(&user.name, from).await?;
        if password::is(text, user.password.as_ref()).await {
            self.throttle.succeeded(&one);
            return Ok(());
        }
        Err(SignInError::Refused)
    }

    /// Reserves a try before anything is looked at.
    async fn begin(&self, name: &str, from: Option<IpAddr>) -> Result<Try, SignInError> {
        let one = self.throttle.begin(name, from, self.clock.now());
        let one = one.map_err(|wait| SignInError::TooMany { wait })?;
        tokio::time::sleep(one.delay).await;
        Ok(one)
    }

    pub async fn sign_in(
        &self,
        name: &str,
        text: &str,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, SignInError> {
        // A name that nobody can have is treated like one that nobody has, and not looked at any further.
        let name = Some(name.trim()).filter(|name| is_name(name)).unwrap_or_default();
        let one = self.begin(name, from).await?;
        let user = match self.store.user_by_name(name).await {
            Ok(user) => user,
            Err(error) => {
                self.throttle.unmade(&one);
                return Err(error.into());
            }
        };
        let local = user.as_ref().filter(|user| user.subject.is_none());
        let kept = local.and_then(|user| user.password.as_ref());
        let right = password::is(text, kept).await;
        match user {
            Some(user) if right && may_enter(&user) => {
                self.throttle.succeeded(&one);
                self.open(user, "password").await
            }
            user => {
                metrics::counter!("waypost_sign_ins_refused_total").increment(1);
                if let Some(user) = user {
                    self.note_refusal(user, from);
                }
                Err(SignInError::Refused)
            }
        }
    }

    /// Written down beside the answer: one that waited for it would tell that the name exists.
    fn note_refusal(&self, user: User, from: Option<IpAddr>) {
        let store = self.store.clone();
        tokio::spawn(async move {
            let detail = from.map_or("from an unknown address".into(), |from| format!("from {from}"));
            if let Err(error) = store.sign_in_refused(&user, &detail).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    actor = %user.actor(),
                    "a refused sign-in could not be written down"
                );
            }
        });
    }

    /// Opens a session for somebody whose identity is established.
    pub async fn open(&self, user: User, how: &'static str) -> Result<SignedIn, SignInError> {
        let Some((tenant, _)) = user.roles.first().filter(|_| may_enter(&user)) else {
            return Err(SignInError::Refused);
        };
        let token = token();
        let session = NewSession {
            hash: hash(&token),
            user: user.id,
            tenant: *tenant,
            csrf: self::token(),
            ttl: SESSION_IDLE,
            how,
        };
        self.store.sign_in(session).await?;
        Ok(SignedIn { token, user })
    }

    /// A text that signs the user in once, for [`LINK_LIFETIME`]. Refused for who comes through the identity provider.
    pub async fn link(&self, user: UserId, actor: &Actor) -> Result<String, UserError> {
        self.is_local(user, "link").await?;
        let token = token();
        self.store
            .create_link(&hash(&token), user, LINK_LIFETIME, actor)
            .await?;
        Ok(token)
    }

    /// A second way in would stay open when the identity provider's is closed.
    async fn is_local(&self, user: UserId, field: &str) -> Result<(), UserError> {
        match self.store.user(user).await? {
            Some(user) if user.subject.is_some() => {
                Err(UserError::Fields(vec![FieldError::new(field, THROUGH_PROVIDER)]))
            }
            _ => Ok(()),
        }
    }

    pub async fn sign_in_by_link(&self, token: &str) -> Result<SignedIn, SignInError> {
        let user = self.store.use_link(&hash(token)).await?;
        let user = match user {
            Some(id) => self.store.user(id).await?,
            None => None,
        };
        self.open(user.ok_or(SignInError::Refused)?, "link").await
    }

    /// The live session of a token; one in use is renewed now and then, up to [`SESSION_LIFETIME`].
    pub async fn session(&self, token: &str) -> store::Result<Option<(Session, User)>> {
        let hash = hash(token);
        let Some((session, user)) = self.store.session(&hash).await? else {
            return Ok(None);
        };
        let now = self.clock.now();
        let end = session.created_at + SESSION_LIFETIME;
        let wanted = SESSION_IDLE.min(end.since(now));
        if now + wanted > session.expires_at + RENEWED_EVERY {
            self.store.renew_session(&hash, wanted).await?;
        }
        Ok(user.role_in(session.tenant).is_some().then_some((session, user)))
    }

    /// Looks at another tenant from now on, if the user may. Answers whether they may.
    pub async fn choose_tenant(&self, token: &str, user: &User, tenant: TenantId) -> store::Result<bool> {
        if user.role_in(tenant).is_none() {
            return Ok(false);
        }
        self.store.choose_tenant(&hash(token), tenant).await
    }

    pub async fn sign_out(&self, token: &str) -> store::Result<bool> {
        self.store.end_session(&hash(token)).await
    }
}

fn may_enter(user: &User) -> bool {
    user.disabled_at.is_none() && !user.roles.is_empty()
}

async fn hashed(text: &str) -> store::Result<PasswordHash> {
    let hash = password::hash(text).await;
    hash.ok_or_else(|| store::Error::unavailable("the password could not be hashed"))
}

/// What is wrong with a user's name.
pub fn name_problems(name: &str) -> Vec<FieldError> {
    if is_name(name.trim()) {
        vec![]
    } else {
        vec![FieldError::new("name", "must have 1 to 255 printable characters")]
    }
}

/// In characters.
const LONGEST_NAME: usize = 255;

fn is_name(text: &str) -> bool {
    // Bytes first: counting the characters of a megabyte to refuse it would be work for nothing.
    !text.is_empty()
        && text.len() <= 4 * LONGEST_NAME
        && text.chars().count() <= LONGEST_NAME
        && !text.contains(char::is_control)
}
