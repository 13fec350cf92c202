//! `waypost cancel`: call off what still waits.

use crate::{connect::Connect, output};
use client::NotificationId;

/// Call off a notification that still waits
///
/// It ends as Discarded. One that is being sent right now may still go out. What is delivered or parked cannot be
/// called off (exit code 4).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notification
    id: NotificationId,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let acted = args.central.client()?.cancel(args.id).await?;
    match args.format.json {
        true => output::json(&acted),
        false => output::line(format_args!("{} {}", args.id, acted.status)),
    }
}
