//! `waypost purge`: delete what is past its time, now.

use crate::{
    cli::Global,
    config::{Loaded, Problems},
    output::{self, progress},
    wiring::{node, store},
};
use ::store::maintenance::Purged;
use central::purge;
use serde_json::{Value, json};

/// Delete what is past its time, on the database itself
///
/// Central does the same every outbox.purge_interval. Works on the database itself, in small steps that let central
/// go on. Waiting notifications are never deleted, however old.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: output::Format,
}

/// Counting stops here.
const BOUND: u32 = 1_000_000;

pub async fn run(args: Args, global: &Global) -> anyhow::Result<()> {
    let config = Loaded::read(global.config.as_deref())?.config;
    let place = config.database.place().map_err(|p| Problems(vec![p]))?;
    let opened = store::for_command(&place, false).await?;
    let keep = node::retention(&config);
    let purgeable = opened.purgeable(&keep, BOUND).await?;
    let purged = if args.dry_run {
        purgeable
    } else {
        let bar = progress::bar(purgeable.notifications + purgeable.audit_rows, "purge");
        let purged = purge::purge(&*opened, &keep, |so_far| {
            bar.set_position(so_far.notifications + so_far.audit_rows);
        })
        .await?;
        bar.finish_and_clear();
        purged
    };
    store::close(&opened).await;
    match args.format.json {
        true => output::json(&in_json(&purged, args.dry_run)),
        false if args.dry_run => {
            output::line(purge::work(&purged).words.replacen("purged", "would purge", 1))
        }
        false => output::line(purge::work(&purged).words),
    }
}

fn in_json(purged: &Purged, dry_run: bool) -> Value {
    json!({
        "dryRun": dry_run,
        "notifications": purged.notifications,
        "auditRows": purged.audit_rows,
        "spentKeys": purged.spent_keys,
        "statsRows": purged.stats_rows,
        "siteCalls": purged.site_calls,
        "jobs": purged.jobs,
        "events": purged.events,
        "transcripts": purged.transcripts,
        "oldestLeft": purged.oldest_left,
    })
}
