//! `waypost migrate`: the schema, brought up to date.

use crate::{
    cli::Global,
    config::{Loaded, Problems},
    output,
    wiring::store,
};

/// Bring the database's schema up to date
///
/// `waypost serve` does the same when it starts; this is for those who want it as a step of its own. Works on the
/// database itself. A schema that is newer than this program is refused.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, global: &Global) -> anyhow::Result<()> {
    let config = Loaded::read(global.config.as_deref())?.config;
    let place = config.database.place().map_err(|p| Problems(vec![p]))?;
    let opened = store::for_command(&place, true).await?;
    let version = opened.schema_version().await?;
    store::close(&opened).await;
    output::line(format_args!("{} has schema version {version}", place.shown()))
}
