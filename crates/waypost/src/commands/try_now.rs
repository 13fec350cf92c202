//! `waypost try`: the next attempt now.

use crate::{connect::Connect, output};
use client::NotificationId;

/// Try a waiting notification now instead of later
///
/// What comes of it counts as usual. One whose provider is held waits on: `waypost provider try` probes it. What has ended
/// cannot be tried (exit code 4).
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
    let acted = args.central.client()?.try_now(args.id).await?;
    match args.format.json {
        true => output::json(&acted),
        false => output::line(format_args!("{} {}, due now", args.id, acted.status)),
    }
}
