//! `waypost key`: API keys.

use crate::{
    cli::Global,
    config::{Loaded, Problems, database::Place},
    connect::Connect,
    exit::{not_found, usage},
    output::{self, table, time},
    wiring::store,
};
use ::store::directory::Role;
use client::ApiKey;
use comfy_table::Cell;
use domain::{Actor, SystemClock};
use std::sync::Arc;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Create(Create),
    /// List the keys of the tenant; their texts are not kept
    List(List),
    /// Revoke a key; it works no longer than a few seconds after
    Revoke(Revoke),
}

/// Make a key, on the database itself: the way to the first one, and to keys of role ops
///
/// Prints the key's text, which is shown this once and kept nowhere.
#[derive(Debug, clap::Args)]
pub struct Create {
    /// viewer reads; operator also retries, discards and cancels; admin also sets up; producer only sends and asks
    /// after what it sent; ops reads and replays in all tenants and manages them
    #[arg(long)]
    role: Role,
    /// The tenant it is for
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: String,
    /// What it is called in the log; the role's name if left out
    #[arg(long)]
    name: Option<String>,
    /// The database, if not the one of the configuration
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    #[command(flatten)]
    format: output::Format,
}

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Revoke {
    /// The number of the key, from `waypost key list`
    id: i64,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Create(args) => create(args, global).await,
        Command::List(args) => list(args).await,
        Command::Revoke(args) => {
            args.central.client()?.revoke_key(args.id).await?;
            output::note(format_args!("key {} is revoked", args.id));
            Ok(())
        }
    }
}

async fn create(args: Create, global: &Global) -> anyhow::Result<()> {
    let place = match &args.database {
        Some(url) => Place::parse(url).map_err(|p| usage(format!("--database: {}", p.what)))?,
        None => {
            let config = Loaded::read(global.config.as_deref())?.config;
            config.database.place().map_err(|p| Problems(vec![p]))?
        }
    };
    let opened = store::for_command(&place, true).await?;
    let Some(tenant) = opened.tenant_by_name(&args.tenant).await? else {
        return Err(not_found(format!(
            "there is no tenant {:?} in {}; `waypost tenant create` makes one",
            args.tenant,
            place.shown()
        )));
    };
    let keys = central::keys::Keys::new(opened.clone(), Arc::new(SystemClock));
    let name = args.name.as_deref().unwrap_or(args.role.as_str());
    let minted = keys
        .create(tenant.id, name, args.role, &Actor::new("cli"))
        .await?;
    store::close(&opened).await;
    let key = ApiKey {
        id: minted.key.id,
        name: minted.key.name,
        role: minted.key.role.to_string(),
        created_at: minted.key.created_at,
        revoked_at: None,
        last_used_at: None,
        key: Some(minted.text.clone()),
    };
    if args.format.json {
        return output::json(&key);
    }
    output::note(format_args!(
        "key {:?} of role {} for tenant {} in {}; its text is shown this once:",
        key.name,
        key.role,
        args.tenant,
        place.shown()
    ));
    output::line(minted.text)
}

async fn list(args: List) -> anyhow::Result<()> {
    let keys = args.central.client()?.keys().await?;
    if args.format.json {
        return output::json(&keys);
    }
    let rows = keys.iter().map(|k| {
        vec![
            Cell::new(k.id),
            Cell::new(&k.name),
            Cell::new(&k.role),
            Cell::new(time::short(k.created_at)),
            Cell::new(k.last_used_at.map_or("never".into(), time::short)),
            Cell::new(k.revoked_at.map(time::short).unwrap_or_default()),
        ]
    });
    output::line(table(&["id", "name", "role", "made", "last used", "revoked"], rows).trim_fmt())
}
