//! `waypost tail`: changes as they happen.

use crate::{connect::Connect, output};
use client::{Again, Client, Error, Event};
use domain::{Clock, SystemClock};
use futures_util::StreamExt;

/// Watch changes as they happen
///
/// One line for each change of a notification, until Ctrl-C. When central goes away it waits for it to come back.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the figures too, every few seconds
    #[arg(long)]
    kpis: bool,
    /// Answer in JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let again = Again::tries(0);
    // Somebody who has never been there is an error; somebody who was will be back.
    let mut lost = follow(&client, &args).await?;
    let mut tries = 1;
    loop {
        let Some(wait) = again.wait(tries, &lost) else {
            return Err(lost.into());
        };
        output::note(format_args!("{lost}; waiting for it"));
        tokio::time::sleep(wait).await;
        match follow(&client, &args).await {
            Ok(error) => (lost, tries) = (error, 1),
            Err(error) => match error.downcast::<Error>() {
                Ok(error) => (lost, tries) = (error, tries.saturating_add(1)),
                Err(other) => return Err(other),
            },
        }
    }
}

/// Follows until the connection is lost, and answers how.
async fn follow(client: &Client, args: &Args) -> anyhow::Result<Error> {
    let mut events = client.stream().await?;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => say(&event, args)?,
            Err(error) => return Ok(error),
        }
    }
    Ok(Error::Unreachable {
        url: client.url().to_owned(),
        cause: "the stream ended".into(),
    })
}

fn say(event: &Event, args: &Args) -> anyhow::Result<()> {
    if matches!(event, Event::Kpis(_)) && !args.kpis {
        return Ok(());
    }
    if args.json {
        return output::json_line(event);
    }
    let now = SystemClock.now();
    match event {
        Event::Change {
            notification_id,
            status,
            error_code,
        } => {
            let code = error_code.as_deref().unwrap_or("");
            output::line(format_args!(
                "{now}  {notification_id}  {:<9}  {code}",
                status.as_str()
            ))
        }
        Event::Kpis(k) => output::line(format_args!(
            "{now}  waiting {}  stuck {}  parked {}  delivered {}",
            k.queue_depth, k.stuck_count, k.parked_count, k.delivered_last_interval
        )),
        Event::Missed { changes } => output::line(format_args!("{now}  {changes} changes went by unseen")),
    }
}
