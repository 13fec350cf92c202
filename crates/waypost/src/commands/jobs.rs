//! `waypost jobs`: bulk actions.

use crate::{
    connect::Connect,
    output::{self, table::table},
};
use client::Job;
use comfy_table::Cell;

/// List bulk actions and how far they are; show one; stop one
///
/// What a stopped one has done stays done.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show one
    Show(One),
    /// Stop one
    Stop(One),
}

#[derive(Debug, clap::Args)]
struct One {
    /// The bulk action
    id: String,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let jobs = match &args.command {
        None => client.jobs().await?,
        Some(Command::Show(one)) => vec![client.job(&one.id).await?],
        Some(Command::Stop(one)) => vec![client.stop_job(&one.id).await?],
    };
    if args.format.json {
        return match args.command {
            None => output::json(&jobs),
            Some(_) => jobs.first().map_or(Ok(()), output::json),
        };
    }
    if jobs.is_empty() {
        output::note(
            "no bulk action yet; retry, discard, cancel, resend and event replay with --filter start one",
        );
        return Ok(());
    }
    let rows = jobs.iter().map(|job| {
        vec![
            Cell::new(&job.id),
            Cell::new(&job.action),
            Cell::new(state(job)),
            Cell::new(job.done),
            Cell::new(job.skipped),
            Cell::new(job.total),
            Cell::new(&job.actor),
            Cell::new(
                job.rest
                    .get("filter")
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ),
        ]
    });
    let head = [
        "id", "action", "state", "done", "skipped", "total", "by", "filter",
    ];
    output::line(table(&head, rows).trim_fmt())
}

fn state(job: &Job) -> String {
    match (&job.stopped_by, &job.error, job.finished) {
        (Some(who), _, _) => format!("stopped by {who}"),
        (None, Some(error), true) => format!("failed: {error}"),
        (None, Some(error), false) => format!("waits: {error}"),
        (None, None, true) => "done".into(),
        (None, None, false) => "working".into(),
    }
}
