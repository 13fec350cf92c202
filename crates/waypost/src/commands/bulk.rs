//! What `retry` and `discard` share: some ids one by one, or a filter as a job with a question and a bar.

use crate::{
    connect::Connect,
    exit::usage,
    filters::parse_pairs,
    output::{self, ask, progress},
};
use client::{Client, Filter, Job, Matching, NotificationId};
use std::time::Duration;
use tokio::time::MissedTickBehavior;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub struct Which {
    /// The notifications
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<NotificationId>,
    /// All parked ones that match every pair, like errorCode=HTTP_503 site=north; or the word all. The filters are those of
    /// `list`
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., group = "which")]
    filter: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y', requires = "filter")]
    yes: bool,
    #[command(flatten)]
    format: output::Format,
}

#[derive(Debug, Clone, Copy)]
pub enum Verb {
    Retry,
    Discard,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Verb::Retry => "retry",
            Verb::Discard => "discard",
        }
    }

    fn question(self, count: &str) -> String {
        match self {
            Verb::Retry => format!("Send {count} parked notifications round again?"),
            Verb::Discard => format!("Give {count} parked notifications up for good?"),
        }
    }
}

pub async fn run(verb: Verb, which: &Which, central: &Connect) -> anyhow::Result<()> {
    let client = central.client()?;
    match which.filter.is_empty() {
        true => one_by_one(verb, which, &client).await,
        false => over_filter(verb, which, &client).await,
    }
}

/// Every id gets its turn; the first failure decides how the command ends.
async fn one_by_one(verb: Verb, which: &Which, client: &Client) -> anyhow::Result<()> {
    let mut failed = None;
    for id in &which.ids {
        let acted = match verb {
            Verb::Retry => client.retry(*id).await,
            Verb::Discard => client.discard(*id).await,
        };
        match acted {
            Ok(acted) if which.format.json => output::json_line(&acted)?,
            Ok(acted) => output::line(format_args!("{id} {}", acted.status))?,
            Err(error) if which.ids.len() == 1 => return Err(error.into()),
            Err(error) => {
                output::note(format_args!("{id}: {error}"));
                failed = failed.or(Some(error));
            }
        }
    }
    failed.map_or(Ok(()), |error| {
        Err(anyhow::Error::from(error).context("not all of them"))
    })
}

async fn over_filter(verb: Verb, which: &Which, client: &Client) -> anyhow::Result<()> {
    let filter = parse_pairs(&which.filter).map_err(usage)?;
    let matching = client.count_parked(verb.name(), &filter).await?;
    if matching.total == 0 {
        output::note("no parked notification matches");
        return Ok(());
    }
    let count = match matching.total_at_least {
        true => format!("at least {}", matching.total),
        false => matching.total.to_string(),
    };
    if !ask::confirm(&verb.question(&count), which.yes)? {
        output::note("nothing was done");
        return Ok(());
    }
    let job = watch(client, start(verb, client, &filter, matching).await?, verb).await?;
    match which.format.json {
        true => output::json(&job)?,
        false => output::line(format_args!(
            "{} done, {} were no longer parked",
            job.done, job.skipped
        ))?,
    }
    match job.error {
        None => Ok(()),
        Some(error) => anyhow::bail!("the job ended early: {error}"),
    }
}

/// Of those that were counted: what was parked while somebody made up their mind is not among them.
async fn start(verb: Verb, client: &Client, filter: &Filter, counted: Matching) -> client::Result<Job> {
    match verb {
        Verb::Retry => client.retry_all(filter, Some(counted)).await,
        Verb::Discard => client.discard_all(filter, Some(counted)).await,
    }
}

/// The job goes on at central even if nobody watches.
pub(super) async fn watch(client: &Client, mut job: Job, verb: Verb) -> anyhow::Result<Job> {
    let bar = progress::bar(job.total, verb.name());
    let mut tick = tokio::time::interval(Duration::from_millis(300));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !job.finished {
        tick.tick().await;
        job = client.job(&job.id).await?;
        bar.set_length(job.total.max(job.done + job.skipped));
        bar.set_position(job.done + job.skipped);
    }
    bar.finish_and_clear();
    Ok(job)
}
