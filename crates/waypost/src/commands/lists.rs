//! `waypost lists`: who gets what is sent to a name.

use super::removing::Sure;
use crate::{
    connect::Connect,
    exit::usage,
    filters::channel,
    output::{self, table},
};
use client::{Channel, List, Recipient, Removable};
use comfy_table::Cell;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the lists
    List(Plain),
    /// Show who is on a list
    Show(One),
    /// Make a list of these addresses, or replace the one of that name
    Put(Put),
    /// Add somebody to a list
    Add(Add),
    /// Take somebody off a list
    Remove(Entry),
    /// Let somebody on a list get messages again
    Enable(Entry),
    /// Let somebody stay on a list and get nothing
    Disable(Entry),
    /// Delete a list
    Rm(Remove),
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
    /// The list
    name: String,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The list
    name: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Put {
    /// The list
    name: String,
    /// Who is on it
    #[arg(value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Nobody: take everybody off the list, or make one without anybody on it
    #[arg(long, conflicts_with = "addresses")]
    empty: bool,
    /// The type of these addresses; Email if left out
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    channel: Option<Channel>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// The list
    list: String,
    /// The address
    address: String,
    /// Whose it is
    #[arg(long)]
    name: Option<String>,
    /// The type of the address; Email if left out
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    channel: Option<Channel>,
    /// Put them on it switched off: they get nothing until `lists enable`
    #[arg(long)]
    disabled: bool,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Entry {
    /// The list
    list: String,
    /// The address
    address: String,
    /// Only the entry of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    channel: Option<Channel>,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::List(args) => list(args).await,
        Command::Show(args) => say(&args.central.client()?.list_named(&args.name).await?, args.format),
        Command::Put(args) => put(args).await,
        Command::Add(args) => {
            let recipient = Recipient {
                enabled: !args.disabled,
                ..entry(args.address, args.name, args.channel)
            };
            args.central
                .client()?
                .add_recipient(&args.list, &recipient)
                .await?;
            output::note(format_args!("{} is on {}", recipient.address, args.list));
            Ok(())
        }
        Command::Remove(args) => {
            args.central
                .client()?
                .remove_recipient(&args.list, &args.address, args.channel)
                .await?;
            output::note(format_args!("{} is off {}", args.address, args.list));
            Ok(())
        }
        Command::Enable(args) => switch(args, true).await,
        Command::Disable(args) => switch(args, false).await,
        Command::Rm(args) => remove(args).await,
    }
}

async fn remove(args: Remove) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let question = format!("Remove the list {}?", args.name);
    if !args
        .sure
        .confirm(&client, Removable::List(&args.name), &question)
        .await?
    {
        return Ok(());
    }
    client.delete_list(&args.name).await?;
    output::note(format_args!("{} is gone", args.name));
    Ok(())
}

async fn switch(args: Entry, enabled: bool) -> anyhow::Result<()> {
    let client = args.central.client()?;
    client
        .switch_recipient(&args.list, &args.address, args.channel, enabled)
        .await?;
    let now = if enabled { "gets messages" } else { "gets nothing" };
    output::note(format_args!(
        "{} on {} {now} from now on",
        args.address, args.list
    ));
    Ok(())
}

async fn list(args: Plain) -> anyhow::Result<()> {
    let lists = args.central.client()?.lists().await?;
    if args.format.json {
        return output::json(&lists);
    }
    if lists.is_empty() {
        output::note("no list yet; `waypost lists put NAME ADDRESS` makes one");
        return Ok(());
    }
    let rows = lists
        .iter()
        .map(|l| vec![Cell::new(&l.name), Cell::new(l.recipients.len())]);
    output::line(table(&["name", "recipients"], rows).trim_fmt())
}

async fn put(args: Put) -> anyhow::Result<()> {
    if args.addresses.is_empty() && !args.empty {
        return Err(usage(format!(
            "say who is on {}, or --empty for a list without anybody",
            args.name
        )));
    }
    let list = List {
        name: args.name,
        recipients: args
            .addresses
            .into_iter()
            .map(|address| entry(address, None, args.channel))
            .collect(),
    };
    say(&args.central.client()?.put_list(&list).await?, args.format)
}

fn entry(address: String, name: Option<String>, channel: Option<Channel>) -> Recipient {
    Recipient {
        name,
        address,
        channel,
        enabled: true,
    }
}

fn say(list: &List, format: output::Format) -> anyhow::Result<()> {
    if format.json {
        return output::json(list);
    }
    let rows = list.recipients.iter().map(|r| {
        vec![
            Cell::new(&r.address),
            Cell::new(r.channel.unwrap_or(Channel::Email)),
            Cell::new(r.name.as_deref().unwrap_or("")),
            Cell::new(if r.enabled { "" } else { "off" }),
        ]
    });
    output::line(table(&["address", "type", "name", "state"], rows).trim_fmt())
}
