//! `waypost user`: people who sign in to the console. Works on the database itself: the way to the first user, and
//! to people who belong to several tenants or run the installation.

mod list;
mod opened;

use crate::{
    cli::Global,
    exit::usage,
    output::{self, ask},
};
use central::users::{ROLES, UserDraft};
use list::list;
use opened::{Opened, in_words};
use store::directory::Role;

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
