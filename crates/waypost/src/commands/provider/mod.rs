//! `waypost provider`: ways out.

mod order;
mod policy;
mod prompts;
mod settings;
mod show;

use super::removing::Sure;
use crate::{
    cli::Global,
    config::{Loaded, Problems},
    connect::Connect,
    exit::usage,
    output,
    wiring::{node, store},
};
use client::{ProviderDraft, ProviderKind, Removable};
use domain::Tracer;
use order::Order;
use policy::Policy;
use prompts::{Terminal, ask_kind, ask_missing};
use settings::{ask_again, merge, read};
use show::{captured, kinds, list, say, show};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Set a provider up
    Add(Add),
    /// Change some of what a provider is set up with; the rest, and its secrets, stay
    Set(Set),
    /// List the providers, with what holds them
    List(Plain),
    /// List who takes each type's notifications, and say whether the next one takes over
    Order(Order),
    /// Show a provider; secrets are masked
    Show(One),
    /// Make one real attempt through a provider and say what came of it (exit code 1 if it failed)
    Test(Test),
    /// Show what a capture provider kept instead of sending it, newest first
    Captured(Captured),
    /// Make a new secret address for receipts and print it, this once; the one before stops working
    Callback(One),
    /// Stop a provider; what is sent to it waits
    Hold(Hold),
    /// Let a held provider go on
    Resume(One),
    /// Try a provider now: a pause ends, a held one is probed, what waits for another attempt is due
    Try(One),
    /// Remove a provider; not while notifications wait for it
    Rm(Remove),
    /// List the kinds of provider and their settings
    Kinds(Plain),
    /// Seal all secrets again with the current secrets.key, on the database itself
    Reseal,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// A setting, like host=mail.example.com. Secrets: password=@FILE, or password=- to be asked. At a terminal, what is
    /// needed and missing is asked for
    #[arg(value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// smtp, webhook, capture, …: `waypost provider kinds` lists them
    #[arg(long)]
    kind: Option<String>,
    /// What notifications will call it; made of the name if left out
    #[arg(long)]
    id: Option<String>,
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// The same as NAME=VALUE alone
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
    settings: Vec<String>,
    /// The same as NAME=VALUE alone
    #[arg(long, value_name = "NAME=VALUE")]
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
pub struct Remove {
    /// The provider
    id: String,
    #[command(flatten)]
    sure: Sure,
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
    /// Fields that only some types know, as a JSON object: a template, for kinds that send nothing else
    #[arg(long, value_name = "JSON", value_parser = super::notify::json_object)]
    data: Option<serde_json::Value>,
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
        Command::Order(args) => order::order(args).await,
        Command::Show(args) => show(args).await,
        Command::Test(args) => test(args).await,
        Command::Captured(args) => captured(args).await,
        Command::Callback(args) => callback(args).await,
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
        Command::Try(args) => {
            let moved = args.central.client()?.try_provider(&args.id).await?;
            match args.format.json {
                true => output::json(&serde_json::json!({ "moved": moved })),
                false => output::line(format_args!(
                    "{} is tried now; {moved} notifications are due",
                    args.id
                )),
            }
        }
        Command::Rm(args) => remove(args).await,
        Command::Kinds(args) => kinds(args).await,
        Command::Reseal => reseal(global).await,
    }
}

async fn remove(args: Remove) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let question = format!("Remove the provider {}?", args.id);
    if !args
        .sure
        .confirm(&client, Removable::Provider(&args.id), &question)
        .await?
    {
        return Ok(());
    }
    client.delete_provider(&args.id).await?;
    output::note(format_args!("{} is gone", args.id));
    Ok(())
}

async fn callback(args: One) -> anyhow::Result<()> {
    let made = args.central.client()?.new_callback(&args.id).await?;
    if args.format.json {
        return output::json(&made);
    }
    output::line(&made.url)?;
    output::note(match made.told_by.as_str() {
        "eachMessage" => "each message carries it: there is nothing to enter at the provider",
        _ => "enter it at the provider; it is not shown again",
    });
    Ok(())
}

async fn add(args: Add) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let kinds = client.provider_kinds().await?;
    let mut terminal = Terminal::find();
    let name = match (args.kind, &mut terminal) {
        (Some(name), _) => name,
        (None, Some(terminal)) => ask_kind(&kinds, terminal)?,
        (None, None) => return Err(usage("say which kind: --kind smtp, --kind webhook, …")),
    };
    let kind = named(kinds, name.trim())?;
    let mut settings = read(&kind, &[args.settings, args.set].concat())?;
    // Without anybody to ask, central names what is missing.
    if let Some(terminal) = &mut terminal {
        ask_missing(&kind, &mut settings, terminal)?;
    }
    let draft = ProviderDraft {
        id: args.id,
        name: args.name,
        kind: kind.kind,
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
    let kind = named(client.provider_kinds().await?, &current.kind)?;
    let mut settings = current.settings.clone();
    merge(&mut settings, read(&kind, &[args.settings, args.set].concat())?)?;
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

fn named(kinds: Vec<ProviderKind>, name: &str) -> anyhow::Result<ProviderKind> {
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
        .test_provider_with(&args.id, args.to.as_deref(), args.data.as_ref())
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
        if let Some(reason) = report.resumed {
            output::line(format_args!(
                "it was held ({reason}); that has ended, and what waited goes out"
            ))?;
        }
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
