//! `waypost audit`: what happened, newest first.

use crate::{
    connect::Connect,
    filters::moment,
    output::{self, rows},
};
use client::{AuditFilter, NotificationId, Timestamp};
use domain::{AuditKind, AuditStatus};

/// Read the audit log, newest first
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Not older than this: a time like 2026-01-31T12:00:00Z, or an age like 2h
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Timestamp>,
    /// Not younger than this
    #[arg(long, value_name = "TIME", value_parser = moment)]
    to: Option<Timestamp>,
    /// Only this: NotifySend, NotifyDeliver, NotifyRequeue, LaneHeld, ProviderChanged, …
    #[arg(long)]
    kind: Option<AuditKind>,
    /// Only what came out like this: Attempted, Delivered, Parked, …
    #[arg(long)]
    status: Option<AuditStatus>,
    /// Only what this one did: system, key:NAME, cli
    #[arg(long)]
    actor: Option<String>,
    /// Only attempts that failed and whose notification is tried again, also those that cost no try
    #[arg(long)]
    retried: bool,
    /// Only about this notification
    #[arg(long, value_name = "UUID")]
    correlation: Option<NotificationId>,
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
    let filter = AuditFilter {
        from: args.from,
        to: args.to,
        kind: args.kind,
        status: args.status,
        actor: args.actor,
        retried: args.retried,
        correlation: args.correlation,
    };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let found = client.audit_first(&filter, limit).await?;
    if found.is_empty() && !args.format.json {
        output::note(match filter == AuditFilter::default() {
            true => "nothing is on record",
            false => "nothing on record that matches; take a filter away",
        });
        return Ok(());
    }
    match args.format.json {
        true => output::json(&found),
        false => output::line(rows::audit(&found)),
    }
}
