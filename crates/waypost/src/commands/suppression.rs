//! `waypost suppression`: who must not be written to.

use crate::{
    connect::Connect,
    filters::channel,
    output::{self, table, time},
};
use client::{Channel, Suppression};
use comfy_table::Cell;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List who must not be written to, newest first
    List(List),
    /// Send nothing to an address any more
    Add(Add),
    /// Let an address be written to again
    Rm(One),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Only entries of this address
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// The address
    address: String,
    /// Only over this channel; every channel if left out
    #[arg(long, value_name = "CHANNEL", value_parser = channel)]
    channel: Option<Channel>,
    /// Only about this topic or event type; everything if left out
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct One {
    /// The entry's number, as `suppression list` shows it
    id: i64,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => {
            let found = args
                .central
                .client()?
                .suppressions(args.address.as_deref())
                .await?;
            say(&found, args.format)
        }
        Command::Add(args) => {
            let client = args.central.client()?;
            let topic = args.topic.as_deref();
            let made = client
                .suppress(&args.address, args.channel, topic, &args.reason)
                .await?;
            say(&[made], args.format)
        }
        Command::Rm(args) => {
            args.central.client()?.unsuppress(args.id).await?;
            output::note(format_args!("entry {} is gone", args.id));
            Ok(())
        }
    }
}

fn say(entries: &[Suppression], format: output::Format) -> anyhow::Result<()> {
    if format.json {
        return output::json(&entries);
    }
    if entries.is_empty() {
        output::note("nobody is on it; `waypost suppression add ADDRESS` puts somebody on");
        return Ok(());
    }
    let rows = entries.iter().map(|one| {
        vec![
            Cell::new(one.id),
            Cell::new(&one.address),
            Cell::new(one.channel.map_or("every", |channel| channel.as_str())),
            Cell::new(one.topic.as_deref().unwrap_or("everything")),
            Cell::new(&one.reason),
            Cell::new(one.source),
            Cell::new(time::short(one.created_at)),
        ]
    });
    let heads = ["id", "address", "channel", "topic", "reason", "source", "since"];
    output::line(table(&heads, rows).trim_fmt())
}
