//! `waypost cancel`: call off what still waits.

use super::bulk::{self, Verb};
use crate::connect::Connect;

/// Call off notifications that still wait
///
/// They end as Discarded. One that is being sent right now may still go out. What is delivered or parked cannot be
/// called off (exit code 4).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: bulk::Which,
    /// Why; kept in the audit log. Central may demand it (outbox.discard_needs_reason)
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    bulk::run(Verb::Cancel, &args.which, args.reason.as_deref(), &args.central).await
}
