//! `waypost sites`: which sites there are, and whether they are there.

use crate::{
    connect::Connect,
    output::{
        self, Cells,
        rows::cut,
        table,
        time::{roughly, short},
    },
};
use client::{CallFilter, Client, SitePair, SiteReport, SiteRow};
use comfy_table::Cell;
use domain::site::{Category, OperationStatus};
use std::time::Duration;

/// List the sites, make new ones known, and see what they called and wrote
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Make a site known and print its key, which is shown this once (role admin)
    Add(Add),
    /// List what sites called and wrote, newest first
    Calls(Calls),
}

#[derive(Debug, clap::Args)]
pub struct Calls {
    /// Only those of this site
    site: Option<String>,
    /// Only those that stand so: Submitted, Retrying, Delivered, Parked, Failed, Discarded
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<OperationStatus>,
    /// Only calls (ExternalSystem) or only writes (CachedDbWrite)
    #[arg(long)]
    category: Option<Category>,
    /// Only those to this system or connection
    #[arg(long)]
    target: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// What the site is called; its agent has it as site.id
    id: String,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    if let Some(Command::Add(Add { id })) = &args.command {
        let made = client.register_site(id).await?;
        if args.format.json {
            return output::json(&made);
        }
        output::note(format_args!(
            "the agent of {} gets this as site.key; it is shown this once",
            made.id
        ));
        return output::line(made.key);
    }
    if let Some(Command::Calls(calls)) = args.command {
        return show_calls(&client, calls, args.format).await;
    }
    let sites = client.sites().await?;
    if args.format.json {
        return output::json(&sites);
    }
    if sites.is_empty() {
        output::note("no site yet; `waypost sites add ID` makes one known and prints its key");
        return Ok(());
    }
    let headers = [
        "site", "presence", "since", "waiting", "parked", "version", "remark",
    ];
    output::line(table(&headers, sites.iter().map(row)).trim_fmt())
}

fn damaged(report: &SiteReport) -> Option<String> {
    report
        .damage
        .first()
        .map(|damage| format!("damaged: {}", damage.what))
}

/// What is not well with the site's two machines, or which is the standby.
fn of_pair(pair: &SitePair) -> Option<String> {
    let held = pair.held.as_ref().map(|why| format!("calls are held: {why}"));
    let heard = pair.last_contact_at.map(|at| format!(", heard {}", short(at)));
    let heard = heard.unwrap_or_default();
    let trouble = pair
        .trouble
        .as_ref()
        .map(|why| format!("no standby{heard}: {why}"));
    let standby = pair.other.as_ref().map(|name| {
        let lease = pair.lease_by.as_ref().map(|by| format!(", lease by {by}"));
        let left = pair.lease_seconds.map(|left| format!(" for {left}s"));
        let lease = lease.map(|by| by + &left.unwrap_or_default()).unwrap_or_default();
        format!("standby {name}{}{heard}{lease}", lag(pair))
    });
    let own = pair.own_rows.filter(|n| *n > 0).map(|n| format!("{n} only here"));
    let parts = [held.or(trouble).or(standby), own].into_iter().flatten();
    Some(parts.collect::<Vec<_>>().join("; ")).filter(|words| !words.is_empty())
}

/// How much the standby lacks, and since when.
fn lag(pair: &SitePair) -> String {
    match (pair.behind, pair.behind_seconds) {
        (None | Some(0), _) => String::new(),
        (Some(n), None) => format!(", {n} behind"),
        (Some(n), Some(seconds)) => format!(", {n} behind for {}", roughly(Duration::from_secs(seconds))),
    }
}

async fn show_calls(client: &Client, args: Calls, format: output::Format) -> anyhow::Result<()> {
    let filter = CallFilter {
        site: args.site,
        status: args.status,
        category: args.category,
        target: args.target,
        ..CallFilter::default()
    };
    // One more than asked for says whether there are more.
    let limit = args.limit as usize;
    let mut calls = client.site_calls_first(&filter, limit + 1).await?;
    let more = calls.len() > limit;
    calls.truncate(limit);
    if format.json {
        return output::json(&calls);
    }
    if calls.is_empty() {
        output::note("no site has told of a call or a write that matches");
        return Ok(());
    }
    let rows = calls.iter().map(|call| -> Cells {
        vec![
            Cell::new(&call.site_id),
            Cell::new(call.tracked_operation_id),
            Cell::new(call.category),
            Cell::new(&call.target),
            Cell::new(call.status),
            Cell::new(call.retry_count),
            Cell::new(short(call.updated_at)),
            Cell::new(cut(call.last_error.as_deref().unwrap_or(""), 60)),
        ]
    });
    let headers = [
        "site",
        "operation",
        "category",
        "target",
        "status",
        "tries",
        "changed",
        "error",
    ];
    output::line(table(&headers, rows).trim_fmt())?;
    if more {
        output::note(format_args!("there are more; --limit says how many are shown"));
    }
    Ok(())
}

fn row(site: &SiteRow) -> Cells {
    let report = site.report.as_ref();
    let waiting: Option<u64> = report.map(|r| r.backlog.iter().map(|b| b.waiting).sum());
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let conflict = site
        .conflict
        .as_ref()
        .map(|c| format!("two agents use this id: also {} at {}", c.node, c.peer));
    let remark = conflict
        .or_else(|| report.and_then(|r| r.refusing.clone().or_else(|| damaged(r))))
        .or_else(|| report.and_then(|r| of_pair(r.pair.as_ref()?)))
        .or_else(|| site.reason.clone())
        .unwrap_or_default();
    vec![
        Cell::new(&site.id),
        Cell::new(&site.presence),
        Cell::new(site.since.map(short).unwrap_or_default()),
        Cell::new(number(waiting)),
        Cell::new(number(report.map(|r| r.parked))),
        Cell::new(site.version.as_deref().unwrap_or("")),
        Cell::new(cut(&remark, LONGEST_REMARK)),
    ]
}

/// A standby with its lag, its lease and when it was heard of.
const LONGEST_REMARK: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, SystemClock};

    fn a_pair() -> SitePair {
        SitePair {
            role: "Active".into(),
            turn: 4,
            lease_by: Some("Standby".into()),
            lease_seconds: Some(12),
            held: None,
            own_rows: Some(3),
            behind: Some(70),
            behind_seconds: Some(9),
            other: Some("north-b".into()),
            other_role: Some("Standby".into()),
            last_contact_at: Some(SystemClock.now() - Duration::from_secs(300)),
            trouble: None,
            differences: vec![],
        }
    }

    #[test]
    fn a_pair_is_told_with_its_lag_its_lease_and_when_the_standby_was_heard_of() {
        assert_eq!(
            of_pair(&a_pair()).unwrap(),
            "standby north-b, 70 behind for 9s, heard 5m ago, lease by Standby for 12s; 3 only here"
        );
        let whole = SitePair {
            behind: Some(0),
            own_rows: Some(0),
            lease_by: Some("Nobody".into()),
            lease_seconds: None,
            ..a_pair()
        };
        assert_eq!(
            of_pair(&whole).unwrap(),
            "standby north-b, heard 5m ago, lease by Nobody"
        );
    }

    #[test]
    fn a_pair_without_its_standby_tells_since_when_and_why() {
        let alone = SitePair {
            trouble: Some("connection refused".into()),
            differences: vec![],
            own_rows: None,
            ..a_pair()
        };
        assert_eq!(
            of_pair(&alone).unwrap(),
            "no standby, heard 5m ago: connection refused"
        );
    }
}
