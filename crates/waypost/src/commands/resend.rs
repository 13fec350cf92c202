//! `waypost resend`: notifications that have ended once more.

use super::bulk::{self, Verb};
use crate::{connect::Connect, exit::usage, filters::moment_ahead, output};
use client::Timestamp;

/// Send notifications that have ended once more, to everybody, as new ones
///
/// Prints the id of each new notification. What was delivered, parked or discarded can be repeated and stays as it is;
/// `waypost retry` sends what is parked on to those it has not reached. A filter is about parked ones unless it names
/// another status.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: bulk::Which,
    /// Deliver by then or not at all: a time, or 2h for in two hours. The end of the one that is repeated does not count any more
    #[arg(long, value_name = "TIME", value_parser = moment_ahead, conflicts_with = "filter")]
    expires_at: Option<Timestamp>,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let Some(expires_at) = args.expires_at else {
        return bulk::run(Verb::Resend, &args.which, None, &args.central).await;
    };
    let [id] = args.which.ids.as_slice() else {
        return Err(usage("--expires-at goes with one notification"));
    };
    let accepted = args.central.client()?.resend_until(*id, expires_at).await?;
    match args.which.format.json {
        true => output::json(&accepted),
        false => output::line(accepted.notification_id),
    }
}
