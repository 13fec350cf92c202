//! `waypost event`: telling that something happened, and seeing what became of it.

use super::{event_log, event_replay, event_setup, event_types};
use crate::{
    cli::Global,
    connect::Connect,
    exit::usage,
    filters::channel,
    output::{self, table},
};
use anyhow::Context;
use client::{
    Channel, Timestamp,
    events::{EventFilter, EventRow, NewEvent, ScheduleRow},
};
use comfy_table::Cell;
use serde::de::IgnoredAny;
use serde_json::Map;
use std::collections::BTreeMap;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Tell that something happened
    Emit(Emit),
    /// List events, newest first
    Outbox(Outbox),
    /// List what events became: what was sent, or when it will be
    Schedules(Schedules),
    /// Everything sent about one entity, newest first, and what was not and why
    Log(event_log::Log),
    /// Work once more on what failed: requeue what is parked, create what is missing
    Replay(event_replay::Replay),
    /// Send an entity's message once more
    Resend(Resend),
    /// Say what follows from events of a name
    #[command(subcommand)]
    Types(event_types::Types),
    /// Make the outbox in the database of an event source of the configuration
    Install(event_setup::Install),
    /// Let a role of Waypost's own PostgreSQL put in events for a tenant, on the database itself
    Grant(event_setup::Grant),
}

#[derive(Debug, clap::Args)]
pub struct Emit {
    /// What happened, like booking.confirmed
    event_type: String,
    /// What it happened to: the booking's number
    entity_id: String,
    /// What sort of thing that is, where the event type does not say
    #[arg(long)]
    entity_type: Option<String>,
    /// Its values as a JSON object, which arrives as it is written; - reads it from standard input
    #[arg(long, default_value = "{}")]
    payload: String,
    /// The version of what the payload looks like; 1 if left out
    #[arg(long, value_name = "N")]
    schema_version: Option<i32>,
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

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Install(args) => event_setup::install(args, global).await,
        Command::Grant(args) => event_setup::grant(args, global).await,
        Command::Emit(args) => emit(args).await,
        Command::Outbox(args) => outbox(args).await,
        Command::Schedules(args) => schedules(args).await,
        Command::Log(args) => event_log::run(args).await,
        Command::Replay(args) => event_replay::run(args).await,
        Command::Resend(args) => resend(args).await,
        Command::Types(command) => event_types::run(command).await,
    }
}

pub(super) fn read(file: &std::path::Path) -> anyhow::Result<String> {
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
    let _: BTreeMap<String, IgnoredAny> = serde_json::from_str(&payload)
        .map_err(|error| usage(format!("--payload takes a JSON object: {error}")))?;
    let event = NewEvent {
        entity_type: args.entity_type,
        payload,
        schema_version: args.schema_version,
        topic: args.topic,
        event_id: args.event_id.map(client::events::EventId),
        correlation_id: args.correlation_id,
        due_at: args.due_at,
        ..NewEvent::new(args.event_type, args.entity_id, Map::new())
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
    if rows.is_empty() {
        output::note(
            "no such event; `waypost event emit` hands one in, `waypost event install` makes an outbox in an application's own database",
        );
        return Ok(());
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
    if rows.is_empty() {
        output::note(
            "nothing is scheduled; an event whose type has an active template becomes a schedule, `waypost event outbox` shows events",
        );
        return Ok(());
    }
    let rows = rows.iter().map(|s| {
        vec![
            Cell::new(s.id),
            Cell::new(&s.event_type),
            Cell::new(format_args!("{} {}", s.entity_type, s.entity_id)),
            Cell::new(s.status),
            Cell::new(s.due_at),
            Cell::new(messages(s)),
            Cell::new(s.last_error.as_deref().unwrap_or("")),
        ]
    });
    let heads = ["event", "type", "entity", "status", "due", "messages", "error"];
    output::line(table(&heads, rows).trim_fmt())
}

/// What each template came to, and why where it is not simply sent.
fn messages(schedule: &ScheduleRow) -> String {
    let each = schedule.messages.iter().map(|message| {
        let word = message
            .status
            .map_or(message.came_to.as_str(), |status| status.as_str());
        match message.reason.as_ref().or(message.last_error.as_ref()) {
            Some(why) => format!("{} {word}: {why}", message.channel),
            None => format!("{} {word}", message.channel),
        }
    });
    each.collect::<Vec<_>>().join("; ")
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
    for one in &resent.skipped {
        let why = one.reason.as_deref().unwrap_or("");
        output::note(format_args!("not sent: {}: {why}", one.template_name));
    }
    anyhow::ensure!(!resent.notifications.is_empty(), "nothing was sent");
    Ok(())
}
