//! What `retry`, `discard`, `cancel` and `resend` share: some ids one by one, or a filter as a job with a question and a
//! bar.

use crate::{
    connect::Connect,
    exit::usage,
    filters::{pair_keys, parse_pairs},
    output::{self, ask, progress},
};
use client::{Client, Job, NotificationId};
use std::time::Duration;
use tokio::time::MissedTickBehavior;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub struct Which {
    /// The notifications
    #[arg(value_name = "ID", group = "which")]
    pub ids: Vec<NotificationId>,
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., group = "which", help = filter_help())]
    pub filter: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y', requires = "filter")]
    yes: bool,
    #[command(flatten)]
    pub format: output::Format,
}

fn filter_help() -> String {
    format!(
        "All that match every pair, like errorCode=HTTP_503 site=north, among those that the command is for; or the word all. \
         The keys are {}; each takes one value",
        pair_keys()
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Retry,
    Discard,
    Cancel,
    Resend,
}

impl Verb {
    pub(super) fn name(self) -> &'static str {
        match self {
            Verb::Retry => "retry",
            Verb::Discard => "discard",
            Verb::Cancel => "cancel",
            Verb::Resend => "resend",
        }
    }

    fn question(self, count: &str) -> String {
        match self {
            Verb::Retry => format!("Send {count} parked notifications round again?"),
            Verb::Discard => format!("Give {count} parked notifications up for good?"),
            Verb::Cancel => format!("Call {count} waiting notifications off?"),
            Verb::Resend => format!("Send {count} notifications once more, as new ones?"),
        }
    }

    /// What the rows are that it is for.
    fn of(self) -> &'static str {
        match self {
            Verb::Retry | Verb::Discard => "parked",
            Verb::Cancel => "waiting",
            Verb::Resend => "ended",
        }
    }
}

/// `reason`: with discard and cancel, why.
pub async fn run(verb: Verb, which: &Which, reason: Option<&str>, central: &Connect) -> anyhow::Result<()> {
    let client = central.client()?;
    match which.filter.is_empty() {
        true => one_by_one(verb, which, reason, &client).await,
        false => over_filter(verb, which, reason, &client).await,
    }
}

/// Every id gets its turn; the first failure decides how the command ends.
async fn one_by_one(verb: Verb, which: &Which, reason: Option<&str>, client: &Client) -> anyhow::Result<()> {
    let mut failed = None;
    for id in &which.ids {
        match one(verb, *id, reason, which.format, client).await {
            Ok(said) => said?,
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

async fn one(
    verb: Verb,
    id: NotificationId,
    reason: Option<&str>,
    format: output::Format,
    client: &Client,
) -> client::Result<anyhow::Result<()>> {
    let acted = match (verb, reason) {
        (Verb::Retry, _) => client.retry(id).await?,
        (Verb::Discard, None) => client.discard(id).await?,
        (Verb::Discard, Some(reason)) => client.discard_because(id, reason).await?,
        (Verb::Cancel, None) => client.cancel(id).await?,
        (Verb::Cancel, Some(reason)) => client.cancel_because(id, reason).await?,
        (Verb::Resend, _) => {
            let repeat = client.resend(id).await?;
            return Ok(match format.json {
                true => output::json_line(&repeat),
                false => output::line(repeat.notification_id),
            });
        }
    };
    Ok(match format.json {
        true => output::json_line(&acted),
        false => output::line(format_args!("{id} {}", acted.status)),
    })
}

async fn over_filter(verb: Verb, which: &Which, reason: Option<&str>, client: &Client) -> anyhow::Result<()> {
    let filter = parse_pairs(&which.filter).map_err(usage)?;
    let matching = client.count_parked(verb.name(), &filter).await?;
    if matching.total == 0 {
        output::note(format_args!("no {} notification matches", verb.of()));
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
    // Of those that were counted: what came to be so while somebody made up their mind is not among them.
    let job = client
        .act_on_all(verb.name(), &filter, Some(matching), reason)
        .await?;
    let job = watch(client, job, verb.name()).await?;
    match which.format.json {
        true => output::json(&job)?,
        false => output::line(format_args!(
            "{} done, {} were no longer {}",
            job.done,
            job.skipped,
            verb.of()
        ))?,
    }
    match (job.error, job.stopped_by) {
        (Some(error), _) => anyhow::bail!("the job ended early: {error}"),
        (None, Some(who)) => anyhow::bail!("the job was stopped by {who}"),
        (None, None) => Ok(()),
    }
}

/// The job goes on at central even if nobody watches.
pub(super) async fn watch(client: &Client, mut job: Job, doing: &str) -> anyhow::Result<Job> {
    let bar = progress::bar(job.total, doing);
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
