//! `waypost list`: notifications, newest first.

use crate::{
    connect::Connect,
    filters::FilterFlags,
    output::{self, rows},
};

/// List notifications, newest first
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    filter: FilterFlags,
    /// At most so many; 0 for all of them
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let filter = args.filter.filter();
    let mut found = client.list_first(&filter, limit.saturating_add(1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    if args.format.json {
        return output::json(&found);
    }
    if found.is_empty() {
        output::note(match filter == client::Filter::default() {
            true => "there are no notifications; send one: `waypost notify --help`",
            false => "none match; take a filter away",
        });
        return Ok(());
    }
    output::line(rows::notifications(&found))?;
    if more {
        output::note(format_args!("the newest {limit}; --limit shows more"));
    }
    Ok(())
}
