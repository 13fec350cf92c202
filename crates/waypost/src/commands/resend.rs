//! `waypost resend`: a notification that has ended once more.

use crate::{connect::Connect, output};
use client::NotificationId;

/// Send a notification that has ended once more, to everybody, as a new one
///
/// Prints the id of the new notification. What was delivered, parked or discarded can be repeated and stays as it is;
/// `waypost retry` sends what is parked on to those it has not reached.
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
