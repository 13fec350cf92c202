//! `waypost event replay`: some by their ids, or all of a filter as a job with a question and a bar.

use super::bulk::watch;
use crate::{
    connect::Connect,
    exit::usage,
    filters::moment,
    output::{self, ask},
};
use client::{
    Client,
    events::{EventFilter, EventId, ReplayOf},
};

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub struct Replay {
    /// The event's id
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<uuid::Uuid>,
    /// All that failed and match every pair: status=, eventType=, entityType=, entityId=, from=, to=; or the word all
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., group = "which")]
    filter: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y', requires = "filter")]
    yes: bool,
    /// The event itself, which is Failed or Deferred
    #[arg(long)]
    outbox: bool,
    /// With --outbox and --filter: of all tenants; needs a key of the role ops
    #[arg(long, requires = "outbox", requires = "filter")]
    all: bool,
    /// With --outbox: whose it is, where several tenants have the id; needs a key of the role ops
    #[arg(long, value_name = "NAME", requires = "outbox")]
    of: Option<String>,
    /// Also templates that were made after the event
    #[arg(long, conflicts_with = "outbox")]
    new_templates: bool,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Replay) -> anyhow::Result<()> {
    let client = args.central.client()?;
    if !args.filter.is_empty() {
        return over_filter(&args, &client).await;
    }
    for id in &args.ids {
        let id = EventId(*id);
        if args.outbox {
            replay_outbox(&client, id, args.of.as_deref()).await?;
            output::note(format_args!("{id} is due again"));
            continue;
        }
        let done = client.replay_schedule(id, args.new_templates).await?;
        match done.due_again {
            true => output::note(format_args!("{id} is due again")),
            false => output::note(format_args!(
                "{id}: {} go round again, {} were created",
                done.requeued, done.created
            )),
        }
        if let Some(why) = done.reason {
            output::note(format_args!("{id}: what is missing was not made: {why}"));
        }
    }
    Ok(())
}

/// The tenant's own; or, for who may, that of whichever tenant has it.
async fn replay_outbox(client: &Client, id: EventId, tenant: Option<&str>) -> client::Result<()> {
    if tenant.is_some() {
        return client.replay_event(id, tenant).await;
    }
    match client.replay_own_event(id).await {
        Err(missing) if missing.is_not_found() => match client.replay_event(id, None).await {
            Err(client::Error::Forbidden { .. }) => Err(missing),
            elsewhere => elsewhere,
        },
        own => own,
    }
}

async fn over_filter(args: &Replay, client: &Client) -> anyhow::Result<()> {
    let filter = parse(&args.filter).map_err(usage)?;
    let filter = EventFilter {
        tenant: args.of.clone(),
        ..filter
    };
    let (of, what) = match (args.outbox, args.all || args.of.is_some()) {
        (true, true) => (ReplayOf::EventsOfAll, "events"),
        (true, false) => (ReplayOf::Events, "events"),
        (false, _) => {
            let new_templates = args.new_templates;
            (ReplayOf::Schedules { new_templates }, "schedules")
        }
    };
    let matching = client.count_replay(of, &filter).await?;
    if matching.total == 0 && !matching.total_at_least {
        output::note(format_args!("nothing that could be replayed matches"));
        return Ok(());
    }
    let count = match matching.total_at_least {
        true => format!("at least {}", matching.total),
        false => matching.total.to_string(),
    };
    if !ask::confirm(&format!("Replay {count} {what}?"), args.yes)? {
        output::note("nothing was done");
        return Ok(());
    }
    // Of those that were counted: what failed while somebody made up their mind is not among them.
    let job = client.replay_all(of, &filter, Some(matching)).await?;
    let job = watch(client, job, "replay").await?;
    match args.format.json {
        true => output::json(&job)?,
        false => output::line(format_args!(
            "{} worked on again, {} left alone",
            job.done, job.skipped
        ))?,
    }
    match (job.error, job.stopped_by) {
        (Some(error), _) => anyhow::bail!("the job ended early: {error}"),
        (None, Some(who)) => anyhow::bail!("the job was stopped by {who}"),
        (None, None) => Ok(()),
    }
}

fn parse(pairs: &[String]) -> Result<EventFilter, String> {
    let mut filter = EventFilter::default();
    if pairs == ["all"] {
        return Ok(filter);
    }
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!(
                "{pair:?} is not KEY=VALUE; the word all, alone, means everything"
            ));
        };
        let text = Some(value.to_owned());
        match key {
            "status" => filter.status = text,
            "eventType" => filter.event_type = text,
            "entityType" => filter.entity_type = text,
            "entityId" => filter.entity_id = text,
            "from" => filter.from = Some(moment(value)?),
            "to" => filter.to = Some(moment(value)?),
            other => {
                return Err(format!(
                    "{other:?} is no filter; there are status, eventType, entityType, entityId, from, to"
                ));
            }
        }
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_make_a_filter_and_a_wrong_one_is_named() {
        let pairs = |texts: &[&str]| parse(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(pairs(&["all"]).unwrap(), EventFilter::default());
        let found = pairs(&["status=Deferred", "eventType=booking.confirmed"]).unwrap();
        assert_eq!(found.status.as_deref(), Some("Deferred"));
        assert!(
            pairs(&["all", "status=Failed"])
                .unwrap_err()
                .contains("KEY=VALUE")
        );
        assert!(pairs(&["colour=red"]).unwrap_err().contains("colour"));
    }
}
