//! `waypost status`: how far one notification is.

use crate::{
    connect::Connect,
    output::{self, rows, time},
};
use client::{NotificationId, StatusReport};
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// Say how far a notification is
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notification
    id: NotificationId,
    /// Go on until it is delivered, parked or discarded
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let mut last: Option<StatusReport> = None;
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let report = client.status(args.id).await?;
        if last.as_ref() != Some(&report) {
            say(&args, &report)?;
        }
        if !args.watch || report.status.is_terminal() {
            return Ok(());
        }
        last = Some(report);
    }
}

fn say(args: &Args, report: &StatusReport) -> anyhow::Result<()> {
    if args.format.json {
        return if args.watch {
            output::json_line(report)
        } else {
            output::json(report)
        };
    }
    let mut words = vec![report.status.to_string()];
    if let Some(at) = report.delivered_at {
        words.push(time::full(at));
    }
    if let Some(receipt) = &report.receipt {
        words.push(format!("({receipt})"));
    }
    if report.retry_count > 0 {
        words.push(format!("after {} tries", report.retry_count));
    }
    if let Some(waiting) = &report.waiting {
        words.push(format!("– {}", rows::waits(waiting)));
    }
    if let Some(error) = &report.last_error {
        words.push(format!("– {error}"));
    }
    output::line(words.join(" "))
}
