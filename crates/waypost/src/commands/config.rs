//! `waypost config`: write, check and show the configuration.

use super::check_ports;
use crate::{
    cli::Global,
    config::{DEFAULT_FILE, Loaded, Problems, template},
    exit::conflict,
    output::{self, table},
    wiring::{links, store},
};
use anyhow::Context;
use comfy_table::Cell;
use std::{io::Write, path::PathBuf};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Write a commented waypost.toml that says everything and changes nothing
    Init(Init),
    /// Say whether central would start with this configuration: its values, its database, its ports, and those of a site's agent
    Check,
    /// Show what is in force and where each value came from; secrets are masked
    Show(Show),
}

#[derive(Debug, clap::Args)]
pub struct Init {
    /// Where to write it: waypost.toml, or the file in --config, unless it is said here; - for standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    format: output::Format,
}

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Init(args) => init(args, global),
        Command::Check => check(global).await,
        Command::Show(args) => show(&args, global),
    }
}

fn init(args: Init, global: &Global) -> anyhow::Result<()> {
    let file = args.file.or_else(|| global.config.clone());
    let file = file.unwrap_or_else(|| DEFAULT_FILE.into());
    if file.as_os_str() == "-" {
        return output::line(template().trim_end());
    }
    let name = file.display();
    let made = std::fs::File::create_new(&file);
    match made {
        Ok(mut file) => {
            file.write_all(template().as_bytes())
                .with_context(|| format!("cannot write {name}"))?;
            output::note(format_args!(
                "{name} is there; nothing in it is in force until its # is taken away"
            ));
            Ok(())
        }
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(conflict(format!("{name} is there already; it is left as it is")))
        }
        Err(e) => Err(e).with_context(|| format!("cannot write {name}")),
    }
}

async fn check(global: &Global) -> anyhow::Result<()> {
    let loaded = Loaded::read(global.config.as_deref())?;
    let place = loaded.config.database.place().map_err(|p| Problems(vec![p]))?;
    if let Some(missing) = loaded.config.secrets.missing(&place) {
        return Err(Problems(vec![missing]).into());
    }
    if let (Some(cert), Some(key)) = (
        &loaded.config.server.tls_cert_file,
        &loaded.config.server.tls_key_file,
    ) {
        web::Tls::from_files(cert, key).context("TLS cannot be set up")?;
    }
    links::tls(&loaded.config.server)?;
    store::reach(&place).await?;
    check_ports::check(&loaded.config.server, &loaded.config.site).await?;
    let file = loaded
        .file
        .as_ref()
        .map_or("no file".into(), |f| f.display().to_string());
    output::line(format_args!(
        "the configuration is sound ({file}, database {})",
        place.shown()
    ))
}

fn show(args: &Show, global: &Global) -> anyhow::Result<()> {
    let shown = Loaded::read(global.config.as_deref())?.shown();
    if args.format.json {
        return output::json(&shown);
    }
    let rows = shown.iter().map(|s| {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".into());
        vec![
            Cell::new(s.key),
            Cell::new(text(&s.value)),
            Cell::new(s.origin.as_deref().unwrap_or("")),
        ]
    });
    output::line(table(&["key", "value", "from"], rows).trim_fmt())
}
