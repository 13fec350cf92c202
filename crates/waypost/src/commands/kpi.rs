//! `waypost kpi`: the figures.

use crate::{
    connect::Connect,
    output::{self, Cells, table, time::roughly},
};
use client::Kpis;
use comfy_table::Cell;
use std::time::Duration;

/// Show the figures: waiting, stuck, parked, delivered
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One line for each source site
    #[arg(long)]
    by_site: bool,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

const HEADERS: [&str; 6] = ["site", "waiting", "stuck", "parked", "delivered", "oldest"];

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    if args.by_site {
        let sites = client.kpis_by_site().await?;
        if args.format.json {
            return output::json(&sites);
        }
        let rows = sites.iter().map(|s| {
            let mut row = vec![Cell::new(s.site.as_deref().unwrap_or("–"))];
            row.extend(cells(&s.kpis));
            row
        });
        return output::line(table(&HEADERS, rows).trim_fmt());
    }
    let kpis = client.kpis().await?;
    match args.format.json {
        true => output::json(&kpis),
        false => output::line(table(&HEADERS[1..], [cells(&kpis)]).trim_fmt()),
    }
}

fn cells(kpis: &Kpis) -> Cells {
    let oldest = kpis
        .oldest_pending_age_seconds
        .map(|s| roughly(Duration::from_secs(s)));
    vec![
        Cell::new(kpis.queue_depth),
        Cell::new(kpis.stuck_count),
        Cell::new(kpis.parked_count),
        Cell::new(kpis.delivered_last_interval),
        Cell::new(oldest.unwrap_or_else(|| "–".into())),
    ]
}
