//! `waypost user`: people who sign in to the console. Works on the database itself: the way to the first user, and
//! to people who belong to several tenants or run the installation.

use crate::{
    cli::Global,
    config::{Config, Loaded, Problems, database::Place},
    exit::{not_found, usage},
    output::{self, ask, table, time},
    wiring::store,
};
use ::store::{Store, directory::Role, users::User};
use central::users::{ROLES, UserDraft, UserError, UserService};
use comfy_table::Cell;
use domain::{Actor, FieldError, SystemClock, TenantId};
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Add a user; prints a link that signs them in once, or takes a password
    Add(Add),
    /// List users with their roles
    List(List),
    /// Set a user's password; asks for it, or reads a line of standard input
    Passwd(Named),
    /// Print a link that signs a user in once, within 24 hours
    Link(Named),
    /// Keep a user out; every session ends at once
    Disable(Named),
    /// Let a user in again
    Enable(Named),
    /// Say what a user may do in a tenant
    Role(RoleOf),
}

/// Which database, if not the configuration's.
#[derive(Debug, clap::Args)]
pub struct Where {
    /// The database, if not the one of the configuration
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// What they sign in as; one person in all tenants
    name: String,
    /// viewer looks; operator also sends, retries, discards and holds; admin also sets up; ops looks into all tenants
    #[arg(long)]
    role: Role,
    /// The tenant the role is for
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: String,
    /// Take a password (asked for, or a line of standard input) instead of printing a link
    #[arg(long)]
    password: bool,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, clap::Args)]
pub struct Named {
    /// What they sign in as
    name: String,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, clap::Args)]
pub struct RoleOf {
    /// What they sign in as
    name: String,
    /// viewer, operator, admin, ops, or none to take every right in the tenant away
    role: String,
    /// The tenant the role is for
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: String,
    #[command(flatten)]
    place: Where,
}

/// The database, opened for this command.
struct Opened {
    store: Arc<dyn Store>,
    users: UserService,
    actor: Actor,
    /// How people reach the console, as far as the configuration says.
    base: String,
    shown: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: i64,
    name: String,
    roles: BTreeMap<String, String>,
    has_password: bool,
    disabled: bool,
    created_at: domain::Timestamp,
    last_sign_in_at: Option<domain::Timestamp>,
}

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Add(args) => add(args, global).await,
        Command::List(args) => list(args, global).await,
        Command::Passwd(args) => {
            let opened = Opened::open(&args.place, global, false).await?;
            let user = opened.find(&args.name).await?;
            let text = ask::secret("password")?;
            let set = opened.users.set_password(user.id, &text, &opened.actor).await;
            set.map_err(in_words)?;
            output::note(format_args!(
                "{} has a new password; all sessions have ended",
                user.name
            ));
            opened.close().await
        }
        Command::Link(args) => {
            let opened = Opened::open(&args.place, global, false).await?;
            let user = opened.find(&args.name).await?;
            opened.print_link(&user).await?;
            opened.close().await
        }
        Command::Disable(args) => disable(&args, global, true).await,
        Command::Enable(args) => disable(&args, global, false).await,
        Command::Role(args) => role(args, global).await,
    }
}

impl Opened {
    async fn open(place: &Where, global: &Global, create: bool) -> anyhow::Result<Self> {
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

    async fn find(&self, name: &str) -> anyhow::Result<User> {
        let user = self.store.user_by_name(name).await?;
        user.ok_or_else(|| not_found(format!("there is no user {name:?} in {}", self.shown)))
    }

    async fn tenant(&self, name: &str) -> anyhow::Result<TenantId> {
        let tenant = self.store.tenant_by_name(name).await?;
        tenant.map(|tenant| tenant.id).ok_or_else(|| {
            not_found(format!(
                "there is no tenant {name:?} in {}; `waypost tenant create` makes one",
                self.shown
            ))
        })
    }

    async fn print_link(&self, user: &User) -> anyhow::Result<()> {
        let token = self.users.link(user.id, &self.actor).await.map_err(in_words)?;
        output::note(format_args!(
            "this link signs {} in once, within 24 hours:",
            user.name
        ));
        output::line(format_args!("{}/sign-in/link/{token}", self.base))
    }

    async fn close(self) -> anyhow::Result<()> {
        store::close(&self.store).await;
        Ok(())
    }
}

async fn add(args: Add, global: &Global) -> anyhow::Result<()> {
    if !ROLES.contains(&args.role) {
        return Err(usage(format!(
            "a person cannot be {}; roles are viewer, operator, admin and ops",
            args.role
        )));
    }
    let opened = Opened::open(&args.place, global, true).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let password = match args.password {
        true => Some(ask::secret("password")?),
        false => None,
    };
    let draft = UserDraft {
        name: args.name,
        password,
        tenant,
        role: args.role,
    };
    let user = opened
        .users
        .create(draft, &opened.actor)
        .await
        .map_err(in_words)?;
    output::note(format_args!(
        "{} is {} of tenant {} in {}",
        user.name, args.role, args.tenant, opened.shown
    ));
    if user.password.is_none() {
        opened.print_link(&user).await?;
    }
    opened.close().await
}

async fn list(args: List, global: &Global) -> anyhow::Result<()> {
    let opened = Opened::open(&args.place, global, false).await?;
    let tenants: BTreeMap<TenantId, String> = opened
        .store
        .tenants()
        .await?
        .into_iter()
        .map(|tenant| (tenant.id, tenant.name))
        .collect();
    let rows: Vec<Row> = opened
        .store
        .all_users()
        .await?
        .into_iter()
        .map(|user| Row {
            id: user.id.0,
            roles: user
                .roles
                .iter()
                .map(|(tenant, role)| {
                    let name = tenants.get(tenant).cloned().unwrap_or_else(|| tenant.to_string());
                    (name, role.to_string())
                })
                .collect(),
            has_password: user.password.is_some(),
            disabled: user.disabled_at.is_some(),
            created_at: user.created_at,
            last_sign_in_at: user.last_sign_in_at,
            name: user.name,
        })
        .collect();
    store::close(&opened.store).await;
    if args.format.json {
        return output::json(&rows);
    }
    let cells = rows.iter().map(|row| {
        let roles: Vec<_> = row
            .roles
            .iter()
            .map(|(tenant, role)| format!("{role} of {tenant}"))
            .collect();
        vec![
            Cell::new(&row.name),
            Cell::new(roles.join(", ")),
            Cell::new(if row.disabled { "kept out" } else { "" }),
            Cell::new(time::short(row.created_at)),
            Cell::new(row.last_sign_in_at.map(time::short).unwrap_or_default()),
        ]
    });
    output::line(table(&["name", "roles", "", "added", "last sign-in"], cells).trim_fmt())
}

async fn disable(args: &Named, global: &Global, disabled: bool) -> anyhow::Result<()> {
    let opened = Opened::open(&args.place, global, false).await?;
    let user = opened.find(&args.name).await?;
    opened
        .store
        .set_disabled(user.id, disabled, &opened.actor)
        .await?;
    output::note(match disabled {
        true => format!("{} is kept out; every session has ended", user.name),
        false => format!("{} may sign in again", user.name),
    });
    opened.close().await
}

async fn role(args: RoleOf, global: &Global) -> anyhow::Result<()> {
    let role = match args.role.as_str() {
        "none" => None,
        text => match text.parse() {
            Ok(role) if ROLES.contains(&role) => Some(role),
            _ => return Err(usage("the role is viewer, operator, admin, ops or none")),
        },
    };
    let opened = Opened::open(&args.place, global, false).await?;
    let user = opened.find(&args.name).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    opened
        .store
        .set_role(user.id, tenant, role, &opened.actor)
        .await?;
    output::note(match role {
        Some(role) => format!("{} is {role} of tenant {}", user.name, args.tenant),
        None => format!("{} may do nothing in tenant {} any more", user.name, args.tenant),
    });
    opened.close().await
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

fn in_words(error: UserError) -> anyhow::Error {
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
