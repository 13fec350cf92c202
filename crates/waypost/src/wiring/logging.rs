//! Logs: one line per event on standard error, for people or as JSON.

use super::json_log::JsonLines;
use crate::config::log::{Format, Log};
use anyhow::Context;
use std::io::IsTerminal;
use tracing::{Level, Metadata};
use tracing_subscriber::{EnvFilter, filter::FilterFn, fmt::format::JsonFields, prelude::*};

/// Logs from now on. `WAYPOST_LOG`, or else `RUST_LOG`, wins over `log.filter`.
pub fn start(config: &Log) -> anyhow::Result<()> {
    let filter = filter(config)?;
    let discreet = FilterFn::new(is_discreet);
    let discreet = match filter.max_level_hint() {
        Some(level) => discreet.with_max_level_hint(level),
        None => discreet,
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // A log nobody reads any more must not take the node down with it.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    let layer = match config.format {
        Format::Human => layer.boxed(),
        Format::Json => layer
            .fmt_fields(JsonFields::new())
            .event_format(JsonLines)
            .boxed(),
    };
    let log = tracing_subscriber::registry()
        .with(layer)
        .with(filter)
        .with(discreet);
    log.try_init()
        .map_err(|e| anyhow::anyhow!("logging cannot start: {e}"))
}

/// What the log promises not to hold holds for every filter: the driver of PostgreSQL writes the values of every
/// statement at `debug`, bodies and addresses among them.
fn is_discreet(about: &Metadata<'_>) -> bool {
    !about.target().starts_with("tokio_postgres") || *about.level() <= Level::WARN
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
