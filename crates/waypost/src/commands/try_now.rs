//! `waypost try`: the next attempt now.

use crate::{connect::Connect, output};
use client::NotificationId;

/// Try waiting notifications now instead of later
///
/// What comes of it counts as usual. One whose provider is held waits on: `waypost provider try` probes it. What has ended
/// cannot be tried (exit code 4); the others are tried all the same.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notifications
    #[arg(required = true, value_name = "ID")]
    ids: Vec<NotificationId>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

/// Every id gets its turn; the first failure decides how the command ends.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let mut failed = None;
    for id in &args.ids {
        match client.try_now(*id).await {
            Ok(acted) if args.format.json => output::json_line(&acted)?,
            Ok(acted) => output::line(format_args!("{id} {}, due now", acted.status))?,
            Err(error) if args.ids.len() == 1 => return Err(error.into()),
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
