//! `waypost resend`: a delivered notification once more.

use crate::{connect::Connect, output};
use client::NotificationId;

/// Send a delivered notification once more, as a new one
///
/// Prints the id of the new notification. Only what was delivered can be repeated; for what is parked there is
/// `waypost retry`.
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
    let accepted = args.central.client()?.resend(args.id).await?;
    match args.format.json {
        true => output::json(&accepted),
        false => output::line(accepted.notification_id),
    }
}
