//! `waypost show`: everything about one notification.

use crate::{
    connect::Connect,
    output::{self, rows},
};
use client::{AuditRow, NotificationId, NotificationRow};
use serde::Serialize;

/// Show everything about a notification: content, recipients, what happened to it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notification
    id: NotificationId,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    notification: NotificationRow,
    attempts: Vec<AuditRow>,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let notification = client.notification(args.id).await?;
    let attempts = client.attempts(args.id).await?;
    if args.format.json {
        return output::json(&Whole {
            notification,
            attempts,
        });
    }
    rows::notification(&notification)?;
    output::line(format_args!("\n{}", rows::audit(&attempts)))
}
