//! Logs: one line per event on standard error, for people or as JSON.

use super::json_log::JsonLines;
use crate::config::log::{Format, Log};
use anyhow::Context;
use std::io::IsTerminal;
use tracing_subscriber::{EnvFilter, fmt::format::JsonFields};

/// Logs from now on. `WAYPOST_LOG`, or else `RUST_LOG`, wins over `log.filter`.
pub fn start(config: &Log) -> anyhow::Result<()> {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(config)?)
        .with_writer(std::io::stderr)
        // A log nobody reads any more must not take the node down with it.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    let started = match config.format {
        Format::Human => builder.try_init(),
        Format::Json => {
            let builder = builder.fmt_fields(JsonFields::new());
            builder.event_format(JsonLines).try_init()
        }
    };
    started.map_err(|e| anyhow::anyhow!("logging cannot start: {e}"))
}

fn filter(config: &Log) -> anyhow::Result<EnvFilter> {
    let given = ["WAYPOST_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| Some((name, std::env::var(name).ok().filter(|text| !text.is_empty())?)));
    let (name, text) = given.unwrap_or(("log.filter", config.filter.clone()));
    EnvFilter::builder().parse(&text).with_context(|| {
        format!("{name} is not a log filter; it takes levels by module, like \"info,central=debug\"")
    })
}
