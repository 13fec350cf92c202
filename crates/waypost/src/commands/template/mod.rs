//! `waypost template`: templates in files of a folder, one file a variant, so that they live with the program that emits
//! the events.

mod file;
mod sync;

use super::removing::Sure;
use crate::{
    connect::Connect,
    exit::usage,
    filters::channel,
    output::{self, table, time},
};
use anyhow::Context;
use client::{Channel, Removable, TemplatePreview, TemplateRow};
use comfy_table::Cell;
use std::{io::Read, path::PathBuf};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the templates
    List(List),
    /// Write every template into a file of a folder
    Pull(sync::Pull),
    /// Save every file of a folder as a template, or as a new version of one
    Push(sync::Push),
    /// Show what a message of a template would say
    Preview(Preview),
    /// Send one message of a template to an address of your own
    Test(Test),
    /// Remove a template; its versions stay readable
    Rm(Remove),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Only those of this event type
    #[arg(long, value_name = "TYPE")]
    event_type: Option<String>,
    /// Only those of this channel
    #[arg(long, value_name = "CHANNEL", value_parser = channel)]
    channel: Option<Channel>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Preview {
    /// The template's id, or a file of it, which need not have been pushed
    template: String,
    /// A file with the event's payload in JSON, or `-` for standard input; no values if left out
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// An event that came, with whose values it is filled instead
    #[arg(long, value_name = "UUID", conflicts_with = "payload")]
    event: Option<uuid::Uuid>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Test {
    /// The template's id
    id: i64,
    /// The address it goes to
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// A file with the event's payload in JSON, or `-` for standard input; no values if left out
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The template's id
    id: i64,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list(args).await,
        Command::Pull(args) => sync::pull(args).await,
        Command::Push(args) => sync::push(args).await,
        Command::Preview(args) => preview(args).await,
        Command::Test(args) => test(args).await,
        Command::Rm(args) => remove(args).await,
    }
}

async fn remove(args: Remove) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let question = format!("Remove template {}? Its versions stay readable.", args.id);
    if !args
        .sure
        .confirm(&client, Removable::Template(args.id), &question)
        .await?
    {
        return Ok(());
    }
    client.delete_template(args.id).await?;
    output::note(format_args!("template {} is gone", args.id));
    Ok(())
}

async fn list(args: List) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let templates = client.templates(args.event_type.as_deref(), args.channel).await?;
    if args.format.json {
        return output::json(&templates);
    }
    if templates.is_empty() {
        output::note(
            "no such template; `waypost template push DIR` saves those of a folder, the console has an editor",
        );
        return Ok(());
    }
    let rows = templates.iter().map(|t| {
        vec![
            Cell::new(t.id),
            Cell::new(&t.event_type),
            Cell::new(t.channel),
            Cell::new(&t.name),
            Cell::new(t.language.as_deref().unwrap_or("")),
            Cell::new(scope(t)),
            Cell::new(t.version),
            Cell::new(if t.active { "" } else { "inactive" }),
            Cell::new(time::short(t.saved_at)),
        ]
    });
    let heads = [
        "id",
        "event type",
        "channel",
        "name",
        "language",
        "scope",
        "version",
        "state",
        "saved",
    ];
    output::line(table(&heads, rows).trim_fmt())
}

fn scope(template: &TemplateRow) -> String {
    match (&template.scope_type, &template.scope_id) {
        (Some(scope_type), Some(scope_id)) => format!("{scope_type} {scope_id}"),
        _ => String::new(),
    }
}

async fn preview(args: Preview) -> anyhow::Result<()> {
    let event = args.event.map(client::events::EventId);
    let payload = payload(args.payload)?;
    let client = args.central.client()?;
    let preview = match (args.template.parse(), event) {
        (Ok(id), None) => client.preview_template(id, &payload).await?,
        (Ok(id), Some(event)) => client.preview_template_of_event(id, event).await?,
        (Err(_), event) => {
            let draft = file::read(args.template.as_ref())?;
            match event {
                None => client.preview_draft(&draft, &payload).await?,
                Some(event) => client.preview_draft_of_event(&draft, event).await?,
            }
        }
    };
    if args.format.json {
        return output::json(&preview);
    }
    let TemplatePreview {
        subject,
        body,
        body_html,
        type_data,
        to,
        warnings,
    } = preview;
    if let Some(to) = to {
        output::line(format_args!("To: {to}"))?;
    }
    if !subject.is_empty() {
        output::line(format_args!("Subject: {subject}"))?;
    }
    output::line(format_args!("\n{body}"))?;
    if let Some(html) = body_html {
        output::line(format_args!("\n--- HTML ---\n{html}"))?;
    }
    if let Some(data) = type_data {
        output::line(format_args!(
            "\n--- data ---\n{}",
            serde_json::to_string_pretty(&data)?
        ))?;
    }
    warn(&warnings);
    Ok(())
}

async fn test(args: Test) -> anyhow::Result<()> {
    let payload = payload(args.payload)?;
    let client = args.central.client()?;
    let tested = client
        .test_template(args.id, args.to.as_deref(), &payload)
        .await?;
    warn(&tested.warnings);
    match args.format.json {
        true => output::json(&tested),
        false => output::line(tested.notification_id),
    }
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        output::note(format_args!("warning: {warning}"));
    }
}

/// More than the largest body that central takes.
const MAX_PAYLOAD_BYTES: u64 = 2 << 20;

fn payload(from: Option<PathBuf>) -> anyhow::Result<String> {
    let mut text = String::new();
    match from {
        None => text.push_str("{}"),
        Some(path) if path.as_os_str() == "-" => {
            std::io::stdin()
                .take(MAX_PAYLOAD_BYTES)
                .read_to_string(&mut text)?;
        }
        Some(path) => {
            let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
            file.take(MAX_PAYLOAD_BYTES).read_to_string(&mut text)?;
        }
    }
    match text.trim().is_empty() {
        true => Err(usage("the payload is empty; give a JSON object")),
        false => Ok(text),
    }
}
