//! `waypost site pair`, `promote` and `demote`: the two machines of a site.

use crate::{
    connect::ConnectSite,
    output::{self, time::short},
};
use client::site::Pair;

#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    agent: ConnectSite,
}

#[derive(Debug, clap::Args)]
pub struct Promote {
    /// Also where the other machine cannot be asked, or has more: it is certain that it does not run
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    agent: ConnectSite,
}

#[derive(Debug, clap::Args)]
pub struct Demote {
    #[command(flatten)]
    agent: ConnectSite,
}

pub async fn show(args: &Show) -> anyhow::Result<()> {
    let pair = args.agent.site()?.pair().await?;
    if args.format.json {
        return output::json(&pair);
    }
    for line in in_words(&pair) {
        output::line(line)?;
    }
    Ok(())
}

pub async fn promote(args: &Promote) -> anyhow::Result<()> {
    let pair = args.agent.site()?.promote(args.force).await?;
    output::note(format_args!(
        "this machine is the active one (turn {}); it starts anew as that",
        pair.epoch
    ));
    Ok(())
}

pub async fn demote(args: &Demote) -> anyhow::Result<()> {
    args.agent.site()?.demote().await?;
    output::note(format_args!(
        "this machine has handed over and is the standby; `waypost site pair` shows when the other is active"
    ));
    Ok(())
}

fn in_words(pair: &Pair) -> Vec<String> {
    let other = &pair.other;
    let name = other.name.as_deref().unwrap_or(&other.address);
    let heard = other
        .last_contact_at
        .map_or_else(|| "never heard".to_owned(), |at| format!("heard {}", short(at)));
    let mut lines = vec![format!("this machine  {} (turn {})", pair.role, pair.epoch)];
    lines.push(match &other.trouble {
        Some(why) => format!("the other     {name}, {heard}; it cannot be asked: {why}"),
        None => format!(
            "the other     {name}, {}, {heard}",
            other.role.as_deref().unwrap_or("not asked yet")
        ),
    });
    lines.push(match (pair.copied_rows, pair.behind) {
        (Some(rows), _) => format!("the copy      is being made as a whole, {rows} rows so far"),
        (None, Some(0)) => "the copy      is complete".into(),
        (None, Some(n)) => {
            let whole = pair
                .behind_seconds
                .map(|ago| format!("; it was complete {ago} s ago"));
            format!("the copy      lacks {n} changes{}", whole.unwrap_or_default())
        }
        (None, None) => "the copy      is not known".into(),
    });
    if let Some(by) = &pair.lease_by {
        lines.push(match (by.as_str(), pair.lease_seconds) {
            (by, Some(left)) => format!("the lease     by {by}, {left} s left"),
            (_, None) => "the lease     is not needed: no other machine has anything of this one".into(),
        });
    }
    if let Some(why) = &pair.held {
        lines.push(format!(
            "held          calls and writes that both machines know are not attempted: {why}"
        ));
    }
    if let Some(why) = &pair.unrelieved {
        lines.push(format!("hand over     this machine would: {why}"));
    }
    if let Some(own) = pair.own_rows.filter(|own| *own > 0) {
        lines.push(format!("own rows      {own} messages are on this machine alone"));
    }
    if pair.alone {
        lines.push(
            "note          the standby does not follow: messages are taken in without waiting for it".into(),
        );
    }
    lines.extend(
        pair.differences
            .iter()
            .map(|words| format!("note          {words}")),
    );
    lines
}
