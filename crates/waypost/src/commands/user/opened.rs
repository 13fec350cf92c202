//! The database that a command about people works on.

use super::Where;
use crate::{
    cli::Global,
    config::{Config, Loaded, Problems, database::Place},
    exit::{not_found, usage},
    output,
    wiring::store,
};
use ::store::{Store, users::User};
use central::users::{UserError, UserService};
use domain::{Actor, FieldError, SystemClock, TenantId};
use std::sync::Arc;

/// The database, opened for this command.
pub struct Opened {
    pub store: Arc<dyn Store>,
    pub users: UserService,
    pub actor: Actor,
    /// How people reach the console, as far as the configuration says.
    base: String,
    pub shown: String,
}

impl Opened {
    pub async fn open(place: &Where, global: &Global, create: bool) -> anyhow::Result<Self> {
        let (found, base) = match &place.database {
            Some(url) => {
                let found = Place::parse(url).map_err(|p| usage(format!("--database: {}", p.what)))?;
                (found, base(&Config::default()))
            }
            None => {
                let config = Loaded::read(global.config.as_deref())?.config;
                (
                    config.database.place().map_err(|p| Problems(vec![p]))?,
                    base(&config),
                )
            }
        };
        let opened = store::for_command(&found, create).await?;
        Ok(Self {
            users: UserService::new(opened.clone(), Arc::new(SystemClock)),
            store: opened,
            actor: Actor::new("cli"),
            base,
            shown: found.shown(),
        })
    }

    pub async fn find(&self, name: &str) -> anyhow::Result<User> {
        let user = self.store.user_by_name(name).await?;
        user.ok_or_else(|| not_found(format!("there is no user {name:?} in {}", self.shown)))
    }

    pub async fn tenant(&self, name: &str) -> anyhow::Result<TenantId> {
        let tenant = self.store.tenant_by_name(name).await?;
        tenant.map(|tenant| tenant.id).ok_or_else(|| {
            not_found(format!(
                "there is no tenant {name:?} in {}; `waypost tenant create` makes one",
                self.shown
            ))
        })
    }

    pub async fn print_link(&self, user: &User) -> anyhow::Result<()> {
        let token = self.users.link(user.id, &self.actor).await.map_err(in_words)?;
        output::note(format_args!(
            "this link signs {} in once, within 24 hours:",
            user.name
        ));
        output::line(format_args!("{}/sign-in/link/{token}", self.base))
    }

    pub async fn close(self) -> anyhow::Result<()> {
        store::close(&self.store).await;
        Ok(())
    }
}

/// How people reach the console.
fn base(config: &Config) -> String {
    let server = &config.server;
    match &server.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => {
            let scheme = if server.tls_cert_file.is_some() {
                "https"
            } else {
                "http"
            };
            format!("{scheme}://{}", server.listen)
        }
    }
}

pub fn in_words(error: UserError) -> anyhow::Error {
    match error {
        UserError::Fields(problems) => {
            let words: Vec<_> = problems
                .iter()
                .map(|FieldError { field, problem }| format!("{field} {problem}"))
                .collect();
            usage(words.join("; "))
        }
        UserError::Store(error) => error.into(),
    }
}
