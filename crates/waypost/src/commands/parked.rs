//! `waypost parked`: messages that wait for a person, at the site's own agent or through central.

use crate::{
    connect::{Connect, ConnectSite},
    output::{self, Cells, rows::cut, table, time::short},
};
use client::ParkedPage;
use comfy_table::Cell;

/// List, retry and discard what is parked at a site
///
/// Asks the agent on this machine (WAYPOST_SITE_URL, WAYPOST_SITE_TOKEN), or with --site that site through central.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The site to ask through central; without it the agent of this machine is asked
    #[arg(long, value_name = "ID", global = true)]
    site: Option<String>,
    #[command(flatten)]
    central: Connect,
    #[command(flatten)]
    agent: ConnectSite,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List what is parked, oldest first
    List(List),
    /// Send parked messages round again, with a whole budget
    Retry(Ids),
    /// Give parked messages up for good
    Discard(Ids),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: output::Format,
}

#[derive(Debug, clap::Args)]
pub struct Ids {
    /// Their ids, as `waypost parked list` shows them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Whom to ask.
enum Desk {
    Agent(client::site::Site),
    Central(client::Client, String),
}

/// The most one page holds.
const PAGE: u32 = 500;

pub async fn run(args: Args) -> anyhow::Result<()> {
    let desk = match args.site {
        Some(site) => Desk::Central(args.central.client()?, site),
        None => Desk::Agent(args.agent.site()?),
    };
    match args.command {
        Command::List(list) => show(&desk, &list).await,
        Command::Retry(Ids { ids }) => {
            for id in &ids {
                desk.retry(id).await?;
                output::note(format_args!("{id} waits again"));
            }
            Ok(())
        }
        Command::Discard(Ids { ids }) => {
            for id in &ids {
                desk.discard(id).await?;
                output::note(format_args!("{id} is discarded"));
            }
            Ok(())
        }
    }
}

async fn show(desk: &Desk, list: &List) -> anyhow::Result<()> {
    let mut found = desk.page(list.limit.min(PAGE), None).await?;
    while let Some(cursor) = found.next_cursor.take()
        && (found.items.len() as u32) < list.limit
    {
        let left = list.limit - found.items.len() as u32;
        let more = desk.page(left.min(PAGE), Some(&cursor)).await?;
        found.items.extend(more.items);
        found.next_cursor = more.next_cursor;
    }
    if list.format.json {
        return output::json(&found);
    }
    let rows = found.items.iter().map(|m| -> Cells {
        vec![
            Cell::new(&m.message_id),
            Cell::new(m.category),
            Cell::new(&m.target),
            Cell::new(m.retry_count),
            Cell::new(m.parked_at.map(short).unwrap_or_default()),
            Cell::new(cut(m.last_error.as_deref().unwrap_or(""), 80)),
        ]
    });
    let headers = ["id", "category", "target", "tries", "parked", "why"];
    output::line(table(&headers, rows).trim_fmt())?;
    if (found.items.len() as u64) < found.total {
        output::note(format_args!("{} of {}", found.items.len(), found.total));
    }
    Ok(())
}

impl Desk {
    async fn page(&self, limit: u32, cursor: Option<&str>) -> client::Result<ParkedPage> {
        match self {
            Self::Agent(site) => site.parked(limit, cursor).await,
            Self::Central(client, site) => client.site_parked(site, limit, cursor).await,
        }
    }

    async fn retry(&self, id: &str) -> client::Result<()> {
        match self {
            Self::Agent(site) => site.retry_parked(id).await,
            Self::Central(client, site) => client.retry_site_parked(site, id).await,
        }
    }

    async fn discard(&self, id: &str) -> client::Result<()> {
        match self {
            Self::Agent(site) => site.discard_parked(id).await,
            Self::Central(client, site) => client.discard_site_parked(site, id).await,
        }
    }
}
