//! `waypost waiting`: messages that wait at the site's own agent, seen and acted on there or through central, and what happened
//! to one.

use super::site_messages::{PAGE, Turns, note_total};
use crate::{
    connect::{Connect, ConnectSite},
    exit::usage,
    output::{self, Cells, rows::cut, table, time::short},
};
use client::{
    Client,
    site::{Site, TriedNow, WaitingPage},
};
use comfy_table::Cell;

/// List what waits at a site, have it tried now, give it up
///
/// Asks the agent on this machine (WAYPOST_SITE_URL, WAYPOST_SITE_TOKEN), or with --site that site through central. What is parked
/// is another matter: `waypost parked`.
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
    /// List what waits, in the order it was accepted
    List(List),
    /// Try messages now, whatever their due time says; counted like any other try
    Try(Ids),
    /// Give waiting messages up for good
    Discard(Ids),
    /// Show what happened to one message, by its id, also after it has left; only the agent of this machine tells
    Events(Events),
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
    /// Their ids, as `waypost waiting list` shows them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Events {
    /// The notification's or the tracked operation's id
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    format: output::Format,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let source = match args.site {
        Some(site) => WaitingSource::Central(args.central.client()?, site),
        None => WaitingSource::Agent(args.agent.site()?),
    };
    match (args.command, source) {
        (Command::List(list), source) => show(&source, &list).await,
        (Command::Try(Ids { ids }), source) => each(&source, &ids, Action::Try).await,
        (Command::Discard(Ids { ids }), source) => each(&source, &ids, Action::Discard).await,
        (Command::Events(events), WaitingSource::Agent(site)) => follow(&site, &events).await,
        (Command::Events(_), WaitingSource::Central(..)) => Err(usage(
            "--site does not go with events: a site's event log is read on its own machine; what central knows of a call or write is in `waypost sites calls`",
        )),
    }
}

/// Whom to ask.
enum WaitingSource {
    Agent(Site),
    Central(Client, String),
}

impl WaitingSource {
    async fn page(&self, limit: u32, cursor: Option<&str>) -> client::Result<WaitingPage> {
        match self {
            Self::Agent(site) => site.waiting(limit, cursor).await,
            Self::Central(client, site) => client.site_waiting(site, limit, cursor).await,
        }
    }

    async fn try_now(&self, id: &str) -> client::Result<TriedNow> {
        match self {
            Self::Agent(site) => site.try_waiting(id).await,
            Self::Central(client, site) => client.try_site_waiting(site, id).await,
        }
    }

    async fn discard(&self, id: &str) -> client::Result<()> {
        match self {
            Self::Agent(site) => site.discard_waiting(id).await,
            Self::Central(client, site) => client.discard_site_waiting(site, id).await,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Try,
    Discard,
}

impl Action {
    /// What became of it, in words.
    async fn on(self, source: &WaitingSource, id: &str) -> client::Result<String> {
        match self {
            Self::Try => {
                let tried = source.try_now(id).await?;
                Ok(match tried.last_error {
                    None if tried.status == "Trying" => "is still being tried".to_owned(),
                    Some(why) => format!("is {}: {why}", tried.status),
                    None => format!("is {}", tried.status),
                })
            }
            Self::Discard => {
                source.discard(id).await?;
                Ok("is discarded".to_owned())
            }
        }
    }
}

async fn each(source: &WaitingSource, ids: &[String], action: Action) -> anyhow::Result<()> {
    let mut turns = Turns::of(ids);
    for id in ids {
        turns.took(id, action.on(source, id).await)?;
    }
    turns.end()
}

async fn show(source: &WaitingSource, list: &List) -> anyhow::Result<()> {
    let mut found = source.page(list.limit.min(PAGE), None).await?;
    while let Some(cursor) = found.next_cursor.take()
        && (found.items.len() as u32) < list.limit
    {
        let left = list.limit - found.items.len() as u32;
        let more = source.page(left.min(PAGE), Some(&cursor)).await?;
        found.items.extend(more.items);
        found.next_cursor = more.next_cursor;
    }
    if list.format.json {
        return output::json(&found);
    }
    if found.items.is_empty() {
        output::note("nothing waits there; what was given up is in `waypost parked list`");
        return Ok(());
    }
    let rows = found.items.iter().map(|m| -> Cells {
        vec![
            Cell::new(&m.message_id),
            Cell::new(m.category),
            Cell::new(&m.target),
            Cell::new(m.retry_count),
            Cell::new(short(m.due_at)),
            Cell::new(cut(m.last_error.as_deref().unwrap_or(""), 80)),
        ]
    });
    let headers = ["id", "category", "target", "tries", "due", "why"];
    output::line(table(&headers, rows).trim_fmt())?;
    note_total(found.items.len(), found.total);
    Ok(())
}

async fn follow(site: &Site, events: &Events) -> anyhow::Result<()> {
    let found = site.events_of(&events.id).await?;
    if events.format.json {
        return output::json(&found);
    }
    let rows = found.iter().rev().map(|e| -> Cells {
        vec![
            Cell::new(short(e.at)),
            Cell::new(&e.what),
            Cell::new(&e.target),
            Cell::new(e.actor.as_deref().unwrap_or("")),
            Cell::new(cut(e.detail.as_deref().unwrap_or(""), 80)),
        ]
    });
    let headers = ["at", "what", "target", "by", "detail"];
    output::line(table(&headers, rows).trim_fmt())
}
