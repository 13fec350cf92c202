//! `waypost tenant`: who shares this installation without seeing each other.

use super::removing::Sure;
use crate::{
    connect::Connect,
    output::{self, table, time},
};
use client::Removable;
use comfy_table::Cell;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the tenants
    List(List),
    /// Make a tenant
    Create(Create),
    /// Remove a tenant; not while it has providers, or anything waits or is parked
    Rm(Remove),
}

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Create {
    /// What it is called
    name: String,
    /// Make its first admin key too, under this name, and print its text
    #[arg(long, value_name = "NAME")]
    admin_key: Option<String>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The tenant
    name: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list(args).await,
        Command::Create(args) => create(args).await,
        Command::Rm(args) => remove(args).await,
    }
}

async fn remove(args: Remove) -> anyhow::Result<()> {
    let question = format!(
        "Delete the tenant {}, with its keys, lists, roles and sites?",
        args.name
    );
    let client = args.central.client()?;
    let tenant = Removable::Tenant(&args.name);
    if !args.sure.confirm(&client, tenant, &question).await? {
        return Ok(());
    }
    client.delete_tenant(&args.name).await?;
    output::note(format_args!("{} is gone", args.name));
    Ok(())
}

async fn list(args: List) -> anyhow::Result<()> {
    let tenants = args.central.client()?.tenants().await?;
    if args.format.json {
        return output::json(&tenants);
    }
    let rows = tenants
        .iter()
        .map(|t| vec![Cell::new(&t.name), Cell::new(time::full(t.created_at))]);
    output::line(table(&["name", "made"], rows).trim_fmt())
}

async fn create(args: Create) -> anyhow::Result<()> {
    let made = args
        .central
        .client()?
        .create_tenant(&args.name, args.admin_key.as_deref())
        .await?;
    if args.format.json {
        return output::json(&made);
    }
    output::note(format_args!("tenant {} is there", made.tenant.name));
    match made.admin_key.and_then(|key| key.key) {
        Some(text) => output::line(text),
        None => Ok(()),
    }
}
