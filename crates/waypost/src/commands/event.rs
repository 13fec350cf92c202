//! `waypost event`: telling that something happened, and seeing what became of it.

use super::event_replay;
use crate::{
    cli::Global,
    config::{Loaded, Problems, database::Place},
    connect::Connect,
    exit::usage,
    filters::channel,
    output::{self, table},
    wiring::store,
};
use anyhow::Context;
use client::{
    Channel, Timestamp,
    events::{EventFilter, EventRow, NewEvent, ScheduleRow},
};
use comfy_table::Cell;
use serde_json::{Map, Value};
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Tell that something happened
    Emit(Emit),
    /// List events, newest first
    Outbox(Outbox),
    /// List what events became: what was sent, or when it will be
    Schedules(Schedules),
    /// Work once more on what failed: requeue what is parked, create what is missing
    Replay(event_replay::Replay),
    /// Send an entity's message once more
    Resend(Resend),
    /// Say what follows from events of a name
    #[command(subcommand)]
    Types(Types),
    /// Make the outbox in the database of an event source of the configuration
    Install(Install),
    /// Let a role of Waypost's own PostgreSQL put in events for a tenant, on the database itself
    Grant(Grant),
}

#[derive(Debug, clap::Args)]
pub struct Install {
    /// The event source; all of them if left out
    name: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Grant {
    /// The role that the application connects as
    role: String,
    /// The tenant; the first one if left out
    #[arg(long = "for", value_name = "TENANT", default_value = "default")]
    tenant: String,
    /// The database; the configuration's if left out
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Emit {
    /// What happened, like booking.confirmed
    event_type: String,
    /// What it happened to: the booking's number
    entity_id: String,
    /// Its values as a JSON object; - reads it from standard input
    #[arg(long, default_value = "{}")]
    payload: String,
    /// What it is about, like reminders; people may ask not to be written to about a topic
    #[arg(long)]
    topic: Option<String>,
    /// The same id again is the same event
    #[arg(long, value_name = "UUID")]
    event_id: Option<uuid::Uuid>,
    /// Ties it to what caused it
    #[arg(long)]
    correlation_id: Option<String>,
    /// Not before
    #[arg(long, value_name = "TIME")]
    due_at: Option<Timestamp>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Outbox {
    /// Pending, Published, Failed or Deferred
    #[arg(long)]
    status: Option<String>,
    /// Only events of this name
    #[arg(long)]
    event_type: Option<String>,
    /// Only what happened to this one
    #[arg(long)]
    entity_id: Option<String>,
    /// Of all tenants; needs a key of the role ops
    #[arg(long)]
    all: bool,
    /// With --all: only of this tenant
    #[arg(long, value_name = "NAME", requires = "all")]
    of: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Schedules {
    /// Pending, Published, Completed, Failed or Cancelled
    #[arg(long)]
    status: Option<String>,
    /// Only about this sort of thing
    #[arg(long, requires = "entity_id")]
    entity_type: Option<String>,
    /// Only about this one
    #[arg(long, requires = "entity_type")]
    entity_id: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Resend {
    /// What sort of thing, like booking
    entity_type: String,
    /// Which one
    entity_id: String,
    /// The type of message
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    channel: Channel,
    /// Only this template
    #[arg(long, value_name = "ID")]
    template: Option<String>,
    /// Names the request: asked twice under one name, it is sent once
    #[arg(long)]
    request: Option<String>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

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
    central: Connect,
}

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Install(args) => install(args, global).await,
        Command::Grant(args) => grant(args, global).await,
        Command::Emit(args) => emit(args).await,
        Command::Outbox(args) => outbox(args).await,
        Command::Schedules(args) => schedules(args).await,
        Command::Replay(args) => event_replay::run(args).await,
        Command::Resend(args) => resend(args).await,
        Command::Types(Types::List(args)) => types(args).await,
        Command::Types(Types::Put(args)) => {
            let text = read(&args.file)?;
            let definition: Value = serde_json::from_str(&text).context("the file is not JSON")?;
            args.central
                .client()?
                .put_event_type(&args.name, &definition)
                .await?;
            output::note(format_args!("{} is known", args.name));
            Ok(())
        }
        Command::Types(Types::Rm(args)) => {
            args.central.client()?.delete_event_type(&args.name).await?;
            output::note(format_args!("{} is gone", args.name));
            Ok(())
        }
    }
}

async fn install(args: Install, global: &Global) -> anyhow::Result<()> {
    let loaded = Loaded::read(global.config.as_deref())?;
    let wanted = |name: &str| args.name.as_deref().is_none_or(|asked| asked == name);
    let sources = &loaded.config.events.source;
    let chosen: Vec<_> = sources.iter().filter(|source| wanted(&source.name)).collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "the configuration has no such [[event_source]]"
    );
    for source in chosen {
        if !source.outbox {
            output::note(format_args!("{} is asked for lookups only", source.name));
            continue;
        }
        let built = source.build().map_err(anyhow::Error::msg)?;
        built
            .install()
            .await
            .with_context(|| format!("event source {}", source.name))?;
        output::note(format_args!("{} has an outbox", source.name));
    }
    Ok(())
}

async fn grant(args: Grant, global: &Global) -> anyhow::Result<()> {
    let place = match &args.database {
        Some(url) => Place::parse(url).map_err(|p| usage(format!("--database: {}", p.what)))?,
        None => {
            let config = Loaded::read(global.config.as_deref())?.config;
            config.database.place().map_err(|p| Problems(vec![p]))?
        }
    };
    let opened = store::for_command(&place, false).await?;
    opened.grant_emit(&args.role, &args.tenant).await?;
    store::close(&opened).await;
    output::note(format_args!("{} may emit for {}", args.role, args.tenant));
    Ok(())
}

fn read(file: &std::path::Path) -> anyhow::Result<String> {
    match file.as_os_str() == "-" {
        true => std::io::read_to_string(std::io::stdin()).context("cannot read standard input"),
        false => std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display())),
    }
}

async fn emit(args: Emit) -> anyhow::Result<()> {
    let payload = match args.payload.as_str() {
        "-" => read(std::path::Path::new("-"))?,
        text => text.to_owned(),
    };
    let payload: Map<String, Value> =
        serde_json::from_str(&payload).context("--payload takes a JSON object")?;
    let event = NewEvent {
        topic: args.topic,
        event_id: args.event_id.map(client::events::EventId),
        correlation_id: args.correlation_id,
        due_at: args.due_at,
        ..NewEvent::new(args.event_type, args.entity_id, payload)
    };
    let emitted = args.central.client()?.emit(&event).await?;
    if args.format.json {
        return output::json(&emitted);
    }
    let known = if emitted.duplicate { " (known already)" } else { "" };
    output::line(format_args!("{}{known}", emitted.event_id))
}

async fn outbox(args: Outbox) -> anyhow::Result<()> {
    let filter = EventFilter {
        status: args.status,
        event_type: args.event_type,
        entity_id: args.entity_id,
        tenant: args.of,
        ..EventFilter::default()
    };
    let client = args.central.client()?;
    let rows: Vec<EventRow> = match args.all {
        true => client.outbox(&filter, args.limit).await?,
        false => client.events(&filter, args.limit).await?,
    };
    if args.format.json {
        return output::json(&rows);
    }
    let rows = rows.iter().map(|e| {
        vec![
            Cell::new(e.event_id),
            Cell::new(&e.event_type),
            Cell::new(&e.entity_id),
            Cell::new(e.status),
            Cell::new(e.attempts),
            Cell::new(e.created_at),
            Cell::new(e.last_error.as_deref().unwrap_or("")),
        ]
    });
    let heads = [
        "event", "type", "entity", "status", "attempts", "created", "error",
    ];
    output::line(table(&heads, rows).trim_fmt())
}

async fn schedules(args: Schedules) -> anyhow::Result<()> {
    let filter = EventFilter {
        status: args.status,
        entity_type: args.entity_type,
        entity_id: args.entity_id,
        ..EventFilter::default()
    };
    let rows: Vec<ScheduleRow> = args.central.client()?.schedules(&filter, args.limit).await?;
    if args.format.json {
        return output::json(&rows);
    }
    let rows = rows.iter().map(|s| {
        vec![
            Cell::new(s.id),
            Cell::new(&s.event_type),
            Cell::new(format_args!("{} {}", s.entity_type, s.entity_id)),
            Cell::new(s.status),
            Cell::new(s.due_at),
            Cell::new(s.messages.len()),
            Cell::new(s.last_error.as_deref().unwrap_or("")),
        ]
    });
    let heads = ["event", "type", "entity", "status", "due", "messages", "error"];
    output::line(table(&heads, rows).trim_fmt())
}

async fn resend(args: Resend) -> anyhow::Result<()> {
    let entity = (args.entity_type.as_str(), args.entity_id.as_str());
    let (template, request) = (args.template.as_deref(), args.request.as_deref());
    let client = args.central.client()?;
    let resent = client
        .resend_for_entity(entity, args.channel, template, request)
        .await?;
    if args.format.json {
        return output::json(&resent);
    }
    for one in &resent.notifications {
        output::line(one.notification_id)?;
    }
    Ok(())
}

async fn types(args: Plain) -> anyhow::Result<()> {
    let types = args.central.client()?.event_types().await?;
    if args.format.json {
        return output::json(&types);
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
