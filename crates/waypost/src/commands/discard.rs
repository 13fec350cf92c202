//! `waypost discard`: give parked notifications up.

use super::bulk::{self, Verb};
use crate::connect::Connect;

/// Give parked notifications up for good
///
/// Only parked notifications can be discarded; anything else is a conflict (exit code 4). A discarded one stays in
/// the log and is never sent.
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
    bulk::run(Verb::Discard, &args.which, args.reason.as_deref(), &args.central).await
}
