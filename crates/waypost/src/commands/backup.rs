//! `waypost backup`: a copy of the embedded database, while it is in use.

use crate::{
    cli::Global,
    config::{Loaded, Problems, database::Place},
    exit::{conflict, usage},
    output,
    wiring::store,
};
use std::path::PathBuf;

/// Copy the embedded database while it is in use
///
/// The copy is consistent and complete at one moment; central goes on meanwhile. secrets.key is not in it: keep a
/// copy of that elsewhere, or provider passwords have to be entered again after a restore.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write the copy; must not exist
    file: PathBuf,
}

pub async fn run(args: Args, global: &Global) -> anyhow::Result<()> {
    let config = Loaded::read(global.config.as_deref())?.config;
    let place = config.database.place().map_err(|p| Problems(vec![p]))?;
    if let Place::Postgres(_) = place {
        return Err(usage(
            "only the embedded database is copied like this; for PostgreSQL use pg_dump or its archiving",
        ));
    }
    if args.file.exists() {
        return Err(conflict(format!("{} is there already", args.file.display())));
    }
    let opened = store::for_command(&place, false).await?;
    opened.backup(&args.file).await?;
    store::close(&opened).await;
    let bytes = std::fs::metadata(&args.file)?.len();
    output::line(format_args!(
        "{} ({} KiB)",
        args.file.display(),
        bytes.div_ceil(1024)
    ))
}
