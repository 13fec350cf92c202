//! `waypost event types`: what follows from events of a name.

use super::{event::read, removing::Sure};
use crate::{
    connect::Connect,
    exit::usage,
    output::{self, table::table},
};
use client::{
    Client, Removable,
    events::{EventFilter, ReplayOf},
};
use comfy_table::Cell;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub enum Types {
    /// List what is said about types of events
    List(Plain),
    /// Create or replace a type from a JSON file; - reads standard input
    Put(PutType),
    /// Forget a type; new events of it are deferred
    Rm(RmType),
}

#[derive(Debug, clap::Args)]
pub struct Plain {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct PutType {
    /// Its name, like booking.confirmed
    name: String,
    /// What is said about it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct RmType {
    /// Its name
    name: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Types) -> anyhow::Result<()> {
    match command {
        Types::List(args) => list(args).await,
        Types::Put(args) => {
            let text = read(&args.file)?;
            let definition: Value = serde_json::from_str(&text)
                .map_err(|error| usage(format!("{} is not JSON: {error}", args.file.display())))?;
            let client = args.central.client()?;
            client.put_event_type(&args.name, &definition).await?;
            output::note(format_args!("{} is known", args.name));
            offer_replay(&client, &args.name).await
        }
        Types::Rm(args) => remove(args).await,
    }
}

async fn remove(args: RmType) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let question = format!("Forget {}? New events of it are deferred.", args.name);
    if !args
        .sure
        .confirm(&client, Removable::EventType(&args.name), &question)
        .await?
    {
        return Ok(());
    }
    client.delete_event_type(&args.name).await?;
    output::note(format_args!("{} is gone", args.name));
    Ok(())
}

/// Events that came before anybody had said what follows from them wait for somebody to say so.
async fn offer_replay(client: &Client, name: &str) -> anyhow::Result<()> {
    let deferred = EventFilter {
        status: Some("Deferred".into()),
        event_type: Some(name.to_owned()),
        ..EventFilter::default()
    };
    let waiting = client.count_replay(ReplayOf::Events, &deferred).await?.total;
    if waiting > 0 {
        output::note(format_args!(
            "Deferred events of it: {waiting}. To have them worked on: \
             waypost event replay --outbox --filter status=Deferred eventType={name}"
        ));
    }
    Ok(())
}

async fn list(args: Plain) -> anyhow::Result<()> {
    let types = args.central.client()?.event_types().await?;
    if args.format.json {
        return output::json(&types);
    }
    if types.is_empty() {
        output::note(
            "no event type yet, so that every event is deferred; `waypost event types put NAME FILE` makes one",
        );
        return Ok(());
    }
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or("").to_owned();
    let rows = types.iter().map(|one| {
        vec![
            Cell::new(text(one, "name")),
            Cell::new(text(one, "entityType")),
            Cell::new(text(one, "dedupe")),
            Cell::new(&one["version"]),
        ]
    });
    output::line(table(&["name", "entity", "dedupe", "version"], rows).trim_fmt())
}
