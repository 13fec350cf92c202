//! `waypost sites`: which sites there are, and whether they are there.

use super::sites_pair;
use crate::{
    connect::Connect,
    output::{self, Cells, rows::cut, table, time::short},
};
use client::{CallFilter, Client, SitePair, SiteReport, SiteRow};
use comfy_table::Cell;
use domain::site::{Category, OperationStatus};

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
    let pairs = sites.iter().any(|site| pair_of(site).is_some());
    let mut headers = vec!["site", "presence", "since", "waiting", "parked", "version"];
    headers.extend(pairs.then_some("machines"));
    headers.push("remark");
    output::line(table(&headers, sites.iter().map(|site| row(site, pairs))).trim_fmt())
}

fn damaged(report: &SiteReport) -> Option<String> {
    report
        .damage
        .first()
        .map(|damage| format!("damaged: {}", damage.what))
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

fn pair_of(site: &SiteRow) -> Option<&SitePair> {
    site.report.as_ref()?.pair.as_ref()
}

/// With `pairs` there is a column for the machines of those that have two.
fn row(site: &SiteRow, pairs: bool) -> Cells {
    let report = site.report.as_ref();
    let waiting: Option<u64> = report.map(|r| r.backlog.iter().map(|b| b.waiting).sum());
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let conflict = site
        .conflict
        .as_ref()
        .map(|c| format!("two agents use this id: also {} at {}", c.node, c.peer));
    let remark = conflict
        .or_else(|| report.and_then(|r| r.refusing.clone().or_else(|| damaged(r))))
        .or_else(|| pair_of(site).and_then(sites_pair::trouble))
        .or_else(|| site.reason.clone())
        .unwrap_or_default();
    let mut cells = vec![
        Cell::new(&site.id),
        Cell::new(&site.presence),
        Cell::new(site.since.map(short).unwrap_or_default()),
        Cell::new(number(waiting)),
        Cell::new(number(report.map(|r| r.parked))),
        Cell::new(site.version.as_deref().unwrap_or("")),
    ];
    let machines = pair_of(site).map(|pair| sites_pair::stands(pair, site.node.as_deref()));
    cells.extend(pairs.then(|| Cell::new(machines.unwrap_or_default())));
    cells.push(Cell::new(cut(&remark, LONGEST_REMARK)));
    cells
}

/// Of what is wrong; `--json` has all of it.
const LONGEST_REMARK: usize = 100;
