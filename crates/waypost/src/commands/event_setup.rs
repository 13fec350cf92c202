//! `waypost event install` and `waypost event grant`: on the databases themselves, without a server.

use crate::{
    cli::Global,
    config::{Loaded, Problems, database::Place},
    exit::{not_found, usage},
    output,
    wiring::store,
};
use anyhow::Context;

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

pub async fn install(args: Install, global: &Global) -> anyhow::Result<()> {
    let loaded = Loaded::read(global.config.as_deref())?;
    let wanted = |name: &str| args.name.as_deref().is_none_or(|asked| asked == name);
    let sources = &loaded.config.events.source;
    let chosen: Vec<_> = sources.iter().filter(|source| wanted(&source.name)).collect();
    if chosen.is_empty() {
        return Err(not_found(match &args.name {
            Some(name) => format!("the configuration has no [[event_source]] named {name:?}"),
            None => "the configuration has no [[event_source]]".into(),
        }));
    }
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

pub async fn grant(args: Grant, global: &Global) -> anyhow::Result<()> {
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
