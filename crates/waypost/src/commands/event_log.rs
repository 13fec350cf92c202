//! `waypost event log`: everything sent about one entity, and what was not and why.

use crate::{
    connect::Connect,
    output::{self, table::table},
};
use comfy_table::Cell;
use serde_json::Value;

#[derive(Debug, clap::Args)]
pub struct Log {
    /// What sort of thing, like booking
    entity_type: String,
    /// Which one
    entity_id: String,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Log) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let log = client.communications(&args.entity_type, &args.entity_id).await?;
    if args.format.json {
        return output::json(&log);
    }
    if log.is_empty() {
        output::note("nothing is known to have been sent");
        return Ok(());
    }
    let text = |row: &Value, name: &str| match &row[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let columns = [
        ("made", "createdAt"),
        ("type", "channel"),
        ("status", "status"),
        ("to", "toAddress"),
        ("event", "eventType"),
        ("template", "templateName"),
        ("version", "templateVersion"),
        ("attempts", "attempts"),
        ("by", "requestedBy"),
        ("receipt", "receipt"),
        ("error", "lastError"),
    ];
    let rows = log
        .iter()
        .map(|row| columns.map(|(_, field)| Cell::new(text(row, field))).into());
    output::line(table(&columns.map(|(head, _)| head), rows).trim_fmt())
}
