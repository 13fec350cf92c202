//! `waypost parked`: messages that wait for a person, at the site's own agent or through central; one by one, or all
//! that match a filter.

use super::{
    bulk::{Verb, watch},
    site_messages::{PAGE, Turns, note_total},
};
use crate::{
    connect::{Connect, ConnectSite},
    exit::usage,
    filters::parse_parked,
    output::{self, Cells, ask, progress, rows::cut, table, time::short},
};
use client::{ParkedAction, ParkedCount, ParkedFilter, ParkedPage};
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
    Retry(Which),
    /// Give parked messages up for good
    Discard(Discard),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Those that match every pair: category=, target=, errorCode=, instance=, from=, to=
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    filter: Vec<String>,
    /// Not what is parked, but what waits for this system or connection, which the site no longer has
    #[arg(long, value_name = "TARGET")]
    removed: Option<String>,
    #[command(flatten)]
    format: output::Format,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub struct Which {
    /// Their ids, as `waypost parked list` shows them
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<String>,
    /// Every parked one
    #[arg(long, group = "which")]
    all: bool,
    /// Those that match every pair: category=, target=, errorCode=, instance=, from=, to=
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., group = "which")]
    filter: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub struct Discard {
    #[command(flatten)]
    which: Which,
    /// What waits for this system or connection, which the site no longer has
    #[arg(long, value_name = "TARGET", group = "which")]
    removed: Option<String>,
}

/// Whom to ask.
enum ParkedSource {
    Agent(client::site::Site),
    Central(client::Client, String),
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let source = match args.site {
        Some(site) => ParkedSource::Central(args.central.client()?, site),
        None => ParkedSource::Agent(args.agent.site()?),
    };
    match args.command {
        Command::List(list) => show(&source, &list).await,
        Command::Retry(which) => act(&source, ParkedAction::Retry, &which, None).await,
        Command::Discard(Discard { which, removed }) => {
            act(&source, ParkedAction::Discard, &which, removed).await
        }
    }
}

fn filter_of(pairs: &[String], removed: Option<String>) -> anyhow::Result<ParkedFilter> {
    let mut filter = parse_parked(pairs).map_err(usage)?;
    if let Some(target) = removed {
        filter.removed = true;
        filter.target = Some(target);
    }
    Ok(filter)
}

async fn act(
    source: &ParkedSource,
    action: ParkedAction,
    which: &Which,
    removed: Option<String>,
) -> anyhow::Result<()> {
    match which.ids.is_empty() {
        false => one_by_one(source, action, &which.ids).await,
        true => {
            let filter = filter_of(&which.filter, removed)?;
            over_filter(source, action, filter, which.yes).await
        }
    }
}

async fn one_by_one(source: &ParkedSource, action: ParkedAction, ids: &[String]) -> anyhow::Result<()> {
    let mut turns = Turns::of(ids);
    for id in ids {
        let acted = source.act(action, id).await;
        turns.took(id, acted.map(|()| now_is(action)))?;
    }
    turns.end()
}

fn now_is(action: ParkedAction) -> &'static str {
    match action {
        ParkedAction::Retry => "waits again",
        ParkedAction::Discard => "is discarded",
    }
}

async fn over_filter(
    source: &ParkedSource,
    action: ParkedAction,
    filter: ParkedFilter,
    yes: bool,
) -> anyhow::Result<()> {
    let ParkedCount { total, until } = source.count(action, &filter).await?;
    if total == 0 {
        output::note("no message matches");
        return Ok(());
    }
    let question = match action {
        ParkedAction::Retry => format!("Send {total} parked messages round again?"),
        ParkedAction::Discard if filter.removed => format!("Give {total} waiting messages up for good?"),
        ParkedAction::Discard => format!("Give {total} parked messages up for good?"),
    };
    if !ask::confirm(&question, yes)? {
        output::note("nothing was done");
        return Ok(());
    }
    // Those that were counted: what is parked meanwhile stays.
    let filter = ParkedFilter {
        until: Some(until),
        ..filter
    };
    let (done, error) = match source {
        ParkedSource::Agent(site) => at_agent(site, action, &filter, total).await,
        ParkedSource::Central(client, site) => {
            let verb = match action {
                ParkedAction::Retry => Verb::Retry,
                ParkedAction::Discard => Verb::Discard,
            };
            let job = client.act_on_site_parked(site, action, &filter).await?;
            let job = watch(client, job, verb.name()).await?;
            (job.done, job.error.map(|error| anyhow::anyhow!(error)))
        }
    };
    output::line(format_args!("{done} of {total} done"))?;
    match error {
        None => Ok(()),
        Some(error) => Err(error.context("it ended early")),
    }
}

/// Step by step, as far as it goes.
async fn at_agent(
    site: &client::site::Site,
    action: ParkedAction,
    filter: &ParkedFilter,
    total: u64,
) -> (u64, Option<anyhow::Error>) {
    let bar = progress::bar(total, action.word());
    let (mut done, mut cursor) = (0, None);
    loop {
        match site.act_on_parked(action, filter, cursor.as_deref()).await {
            Err(error) => return (done, Some(error.into())),
            Ok(step) => {
                done += step.done;
                cursor = step.next_cursor;
                bar.set_position(done);
            }
        }
        if cursor.is_none() {
            bar.finish_and_clear();
            return (done, None);
        }
    }
}

async fn show(source: &ParkedSource, list: &List) -> anyhow::Result<()> {
    let filter = filter_of(&list.filter, list.removed.clone())?;
    let mut found = source.page(&filter, list.limit.min(PAGE), None).await?;
    while let Some(cursor) = found.next_cursor.take()
        && (found.items.len() as u32) < list.limit
    {
        let left = list.limit - found.items.len() as u32;
        let more = source.page(&filter, left.min(PAGE), Some(&cursor)).await?;
        found.items.extend(more.items);
        found.next_cursor = more.next_cursor;
    }
    if list.format.json {
        return output::json(&found);
    }
    if found.items.is_empty() {
        output::note("nothing is parked there; what still waits is in `waypost waiting list`");
        return Ok(());
    }
    let rows = found.items.iter().map(|m| -> Cells {
        vec![
            Cell::new(&m.message_id),
            Cell::new(m.category),
            Cell::new(&m.target),
            Cell::new(cut(m.summary.as_deref().unwrap_or(""), 60)),
            Cell::new(m.retry_count),
            Cell::new(m.parked_at.map(short).unwrap_or_default()),
            Cell::new(cut(m.last_error.as_deref().unwrap_or(""), 80)),
        ]
    });
    let headers = ["id", "category", "target", "what", "tries", "parked", "why"];
    output::line(table(&headers, rows).trim_fmt())?;
    note_total(found.items.len(), found.total);
    Ok(())
}

impl ParkedSource {
    async fn page(
        &self,
        filter: &ParkedFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> client::Result<ParkedPage> {
        match self {
            Self::Agent(site) => site.parked_where(filter, limit, cursor).await,
            Self::Central(client, site) => client.site_parked_where(site, filter, limit, cursor).await,
        }
    }

    async fn count(&self, action: ParkedAction, filter: &ParkedFilter) -> client::Result<ParkedCount> {
        match self {
            Self::Agent(site) => site.count_parked(action, filter).await,
            Self::Central(client, site) => client.count_site_parked(site, action, filter).await,
        }
    }

    async fn act(&self, action: ParkedAction, id: &str) -> client::Result<()> {
        match (self, action) {
            (Self::Agent(site), ParkedAction::Retry) => site.retry_parked(id).await,
            (Self::Agent(site), ParkedAction::Discard) => site.discard_parked(id).await,
            (Self::Central(client, site), ParkedAction::Retry) => client.retry_site_parked(site, id).await,
            (Self::Central(client, site), ParkedAction::Discard) => {
                client.discard_site_parked(site, id).await
            }
        }
    }
}
