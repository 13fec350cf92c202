//! `waypost show`: everything about one notification.

use crate::{
    connect::Connect,
    output::{self, rows},
};
use client::{AuditRow, Client, NotificationId, NotificationRow};
use serde::Serialize;

/// Show everything about a notification: content, recipients, what happened to it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notification
    id: NotificationId,
    /// What was sent and what came back in an attempt: the one of this number, or else the last that is kept
    #[arg(long, value_name = "N", num_args = 0..=1)]
    transcript: Option<Option<u32>>,
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
    if let Some(number) = args.transcript {
        let said = client
            .transcript(args.id, wanted(&client, args.id, number).await?)
            .await?;
        return match args.format.json {
            true => output::json(&said),
            false => rows::transcript(&said),
        };
    }
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

/// The attempt that is asked for, or the last of which something is kept.
async fn wanted(client: &Client, id: NotificationId, number: Option<u32>) -> anyhow::Result<u32> {
    if let Some(number) = number {
        return Ok(number);
    }
    let attempts = client.attempts(id).await?;
    let mut kept = attempts.iter().filter(|row| row.has_transcript == Some(true));
    let last = kept.next_back().and_then(|row| row.attempt);
    last.ok_or_else(|| {
        let detail = "nothing is kept of what was said in its attempts".into();
        client::Error::NotFound { detail }.into()
    })
}
