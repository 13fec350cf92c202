//! `waypost sites`: which sites there are, and whether they are there.

use crate::{
    connect::Connect,
    output::{self, Cells, rows::cut, table, time::short},
};
use client::{SiteReport, SiteRow};
use comfy_table::Cell;

/// List the sites, and make new ones known
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
    let sites = client.sites().await?;
    if args.format.json {
        return output::json(&sites);
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

fn row(site: &SiteRow) -> Cells {
    let report = site.report.as_ref();
    let waiting: Option<u64> = report.map(|r| r.backlog.iter().map(|b| b.waiting).sum());
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let remark = report
        .and_then(|r| r.refusing.clone().or_else(|| damaged(r)))
        .or_else(|| site.reason.clone())
        .unwrap_or_default();
    vec![
        Cell::new(&site.id),
        Cell::new(&site.presence),
        Cell::new(site.since.map(short).unwrap_or_default()),
        Cell::new(number(waiting)),
        Cell::new(number(report.map(|r| r.parked))),
        Cell::new(site.version.as_deref().unwrap_or("")),
        Cell::new(cut(&remark, 60)),
    ]
}
