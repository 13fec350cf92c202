//! `waypost retry`: send parked notifications round again.

use super::bulk::{self, Verb};
use crate::connect::Connect;

/// Send parked notifications round again
///
/// Only parked notifications can be sent round again; anything else is a conflict (exit code 4). Recipients who
/// accepted already are not sent to again.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: bulk::Which,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    bulk::run(Verb::Retry, &args.which, None, &args.central).await
}
