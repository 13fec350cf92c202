//! `waypost provider`: ways out.

mod policy;
mod settings;
mod show;

use crate::{
    cli::Global,
    config::{Loaded, Problems},
    connect::Connect,
    exit::usage,
    output,
    wiring::{node, store},
};
use client::{Client, ProviderDraft, ProviderKind};
use domain::Tracer;
use policy::Policy;
use settings::{ask_again, ask_for_missing, merge, read};
use show::{captured, kinds, list, say};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Set a provider up
    Add(Add),
    /// Change some of what a provider is set up with; the rest, and its secrets, stay
    Set(Set),
    /// List the providers, with what holds them
    List(Plain),
    /// Show a provider; secrets are masked
    Show(One),
    /// Make one real attempt through a provider and say what came of it (exit code 1 if it failed)
    Test(Test),
    /// Show what a capture provider kept instead of sending it, newest first
    Captured(Captured),
    /// Stop a provider; what is sent to it waits
    Hold(Hold),
    /// Let a held provider go on
    Resume(One),
    /// Remove a provider; not while notifications wait for it
    Rm(One),
    /// List the kinds of provider and their settings
    Kinds(Plain),
    /// Seal all secrets again with the current secrets.key, on the database itself
    Reseal,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// smtp, webhook, capture, …: `waypost provider kinds` lists them
    #[arg(long)]
    kind: String,
    /// What notifications will call it; made of the name if left out
    #[arg(long)]
    id: Option<String>,
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// A setting, like host=mail.example.com. Secrets: password=@FILE, or password=- to be asked
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Among providers of the same type the lowest comes first
    #[arg(long)]
    order: Option<i32>,
    /// Set it up switched off
    #[arg(long)]
    disabled: bool,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Set {
    /// The provider
    id: String,
    /// A setting, like host=mail.example.com. Secrets: password=@FILE, password=- to be asked, password= to remove it
    #[arg(value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// Among providers of the same type the lowest comes first
    #[arg(long)]
    order: Option<i32>,
    /// Switch it on or off
    #[arg(long, value_name = "BOOL")]
    enabled: Option<bool>,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Plain {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct One {
    /// The provider
    id: String,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Test {
    /// The provider
    id: String,
    /// Whom to send the test to, for types that need somebody
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// Print what was sent and what came back
    #[arg(long)]
    transcript: bool,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Captured {
    /// The provider
    id: String,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Hold {
    /// The provider
    id: String,
    /// Why, for those who will ask
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command, global: &Global) -> anyhow::Result<()> {
    match command {
        Command::Add(args) => add(args).await,
        Command::Set(args) => set(args).await,
        Command::List(args) => list(args).await,
        Command::Show(args) => say(&args.central.client()?.provider(&args.id).await?, args.format),
        Command::Test(args) => test(args).await,
        Command::Captured(args) => captured(args).await,
        Command::Hold(args) => {
            let held = args
                .central
                .client()?
                .hold_provider(&args.id, args.reason.as_deref())
                .await?;
            say(&held, args.format)
        }
        Command::Resume(args) => say(
            &args.central.client()?.resume_provider(&args.id).await?,
            args.format,
        ),
        Command::Rm(args) => {
            args.central.client()?.delete_provider(&args.id).await?;
            output::note(format_args!("{} is gone", args.id));
            Ok(())
        }
        Command::Kinds(args) => kinds(args).await,
        Command::Reseal => reseal(global).await,
    }
}

async fn add(args: Add) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let kind = kind(&client, &args.kind).await?;
    let mut settings = read(&kind, &args.set)?;
    ask_for_missing(&kind, &mut settings)?;
    let draft = ProviderDraft {
        id: args.id,
        name: args.name,
        kind: args.kind,
        enabled: args.disabled.then_some(false),
        order: args.order,
        settings,
        retry: args.policy.retry(None)?,
        limits: args.policy.limits(None)?,
        on_ambiguous: args.policy.on_ambiguous,
        version: None,
    };
    say(&client.create_provider(&draft).await?, args.format)
}

/// Secrets come back masked, and a masked secret stays as it is: so what was read can be sent back with changes.
async fn set(args: Set) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let current = client.provider(&args.id).await?;
    let kind = kind(&client, &current.kind).await?;
    let mut settings = current.settings.clone();
    merge(&mut settings, read(&kind, &args.set)?);
    ask_again(&kind, &current.settings, &mut settings)?;
    let draft = ProviderDraft {
        id: None,
        name: Some(args.name.unwrap_or(current.name)),
        kind: current.kind,
        enabled: Some(args.enabled.unwrap_or(current.enabled)),
        order: Some(args.order.unwrap_or(current.order)),
        settings,
        retry: args.policy.retry(Some(current.retry))?,
        limits: args.policy.limits(Some(current.limits))?,
        on_ambiguous: args.policy.on_ambiguous.or(Some(current.on_ambiguous)),
        version: Some(current.version),
    };
    say(&client.replace_provider(&args.id, &draft).await?, args.format)
}

async fn kind(client: &Client, name: &str) -> anyhow::Result<ProviderKind> {
    let kinds = client.provider_kinds().await?;
    let known = kinds
        .iter()
        .map(|k| k.kind.clone())
        .collect::<Vec<_>>()
        .join(", ");
    let found = kinds.into_iter().find(|k| k.kind == name);
    found.ok_or_else(|| usage(format!("there is no kind {name:?}; there are {known}")))
}

async fn test(args: Test) -> anyhow::Result<()> {
    let report = args
        .central
        .client()?
        .test_provider(&args.id, args.to.as_deref())
        .await?;
    if args.format.json {
        output::json(&report)?;
    } else {
        let words = [report.code.as_deref(), report.detail.as_deref()];
        let words = words.into_iter().flatten().collect::<Vec<_>>().join(" – ");
        output::line(format_args!(
            "{} in {} ms  {words}",
            report.outcome, report.duration_ms
        ))?;
        for part in report.transcript.iter().filter(|_| args.transcript) {
            output::line(format_args!("\n{}:\n{}", part.side, part.text))?;
        }
    }
    match report.ok {
        true => Ok(()),
        false => anyhow::bail!("the test of {} failed", args.id),
    }
}

async fn reseal(global: &Global) -> anyhow::Result<()> {
    let config = Loaded::read(global.config.as_deref())?.config;
    let place = config.database.place().map_err(|p| Problems(vec![p]))?;
    let sealer = config.secrets.sealer(&place).map_err(|p| Problems(vec![p]))?;
    let opened = store::for_command(&place, false).await?;
    let central = node::central(&config, opened.clone(), sealer, node::name(), Tracer::default());
    let (resealed, closed) = central.providers.reseal().await?;
    store::close(&opened).await;
    output::line(format_args!("{resealed} providers resealed"))?;
    match closed.is_empty() {
        true => Ok(()),
        false => anyhow::bail!("some secrets could not be opened:\n  {}", closed.join("\n  ")),
    }
}
