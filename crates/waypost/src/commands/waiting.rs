//! `waypost waiting`: messages that wait at the agent of this machine, and what happened to one.

use super::site_messages::{PAGE, Turns, note_total};
use crate::{
    connect::ConnectSite,
    output::{self, Cells, rows::cut, table, time::short},
};
use client::site::Site;
use comfy_table::Cell;

/// List what waits at the site agent of this machine, have it tried now, give it up
///
/// Asks the agent at WAYPOST_SITE_URL with WAYPOST_SITE_TOKEN. What is parked is another matter: `waypost parked`.
#[derive(Debug, clap::Args)]
pub struct Args {
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
    /// Show what happened to one message, by its id, also after it has left
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
    let site = args.agent.site()?;
    match args.command {
        Command::List(list) => show(&site, &list).await,
        Command::Events(events) => follow(&site, &events).await,
        Command::Try(Ids { ids }) => each(&site, &ids, Action::Try).await,
        Command::Discard(Ids { ids }) => each(&site, &ids, Action::Discard).await,
    }
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Try,
    Discard,
}

impl Action {
    /// What became of it, in words.
    async fn on(self, site: &Site, id: &str) -> client::Result<String> {
        match self {
            Self::Try => {
                let tried = site.try_waiting(id).await?;
                Ok(match tried.last_error {
                    Some(why) => format!("is {}: {why}", tried.status),
                    None => format!("is {}", tried.status),
                })
            }
            Self::Discard => {
                site.discard_waiting(id).await?;
                Ok("is discarded".to_owned())
            }
        }
    }
}

async fn each(site: &Site, ids: &[String], action: Action) -> anyhow::Result<()> {
    let mut turns = Turns::of(ids);
    for id in ids {
        turns.took(id, action.on(site, id).await)?;
    }
    turns.end()
}

async fn show(site: &Site, list: &List) -> anyhow::Result<()> {
    let mut found = site.waiting(list.limit.min(PAGE), None).await?;
    while let Some(cursor) = found.next_cursor.take()
        && (found.items.len() as u32) < list.limit
    {
        let left = list.limit - found.items.len() as u32;
        let more = site.waiting(left.min(PAGE), Some(&cursor)).await?;
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
