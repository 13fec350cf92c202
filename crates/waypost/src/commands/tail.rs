//! `waypost tail`: changes as they happen.

use crate::{connect::Connect, filters::FilterFlags, output};
use client::{Again, Client, Error, Event, NotificationRow};
use domain::{Clock, IdRange, SystemClock};
use futures_util::{Stream, StreamExt};

/// Watch changes as they happen
///
/// One line for each change of a notification, with its subject and the reason, until Ctrl-C. --status asks for changes to
/// that status, the other filters for notifications. When central goes away it waits for it to come back.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    filter: FilterFlags,
    /// Show the figures too, every few seconds
    #[arg(long)]
    kpis: bool,
    /// Answer in JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let again = Again::tries(0);
    // Somebody who has never been there is an error; somebody who was will be back.
    let events = client.stream().await?;
    let mut lost = follow(&client, events, &args).await?;
    let mut tries = 1;
    loop {
        let Some(wait) = again.wait(tries, &lost.why) else {
            return Err(lost.why.into());
        };
        output::note(format_args!("{}; waiting for it", lost.why));
        tokio::time::sleep(wait).await;
        match client.stream().await {
            Ok(events) => {
                let first = futures_util::stream::iter(lost.in_hand.map(Ok));
                (lost, tries) = (follow(&client, first.chain(events), &args).await?, 1);
            }
            Err(error) => (lost.why, tries) = (error, tries.saturating_add(1)),
        }
    }
}

/// Central is not there any more.
struct Lost {
    why: Error,
    /// A change whose row could not be looked at.
    in_hand: Option<Event>,
}

/// Follows until central is lost, be it on the stream or when it is asked about a row, and answers how.
async fn follow(
    client: &Client,
    mut events: impl Stream<Item = Result<Event, Error>> + Unpin,
    args: &Args,
) -> anyhow::Result<Lost> {
    let lost = |why, in_hand| Ok(Lost { why, in_hand });
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => return lost(error, None),
        };
        match wanted(client, &event, args).await {
            Ok(Some(row)) => say(&event, row.as_deref(), args)?,
            Ok(None) => {}
            Err(error) => return lost(error, Some(event)),
        }
    }
    let ended = Error::Unreachable {
        url: client.url().to_owned(),
        cause: "the stream ended".into(),
    };
    lost(ended, None)
}

/// The row that changed, as it is by now, if it is among those asked for; nothing for what is about no row.
async fn wanted(
    client: &Client,
    event: &Event,
    args: &Args,
) -> Result<Option<Option<Box<NotificationRow>>>, Error> {
    let Event::Change {
        notification_id,
        status,
        ..
    } = event
    else {
        return Ok(Some(None));
    };
    let mut filter = args.filter.filter();
    // A line tells what it changed to; by now it may be something else again.
    let asked = std::mem::take(&mut filter.status);
    if !asked.is_empty() && !asked.contains(status) {
        return Ok(None);
    }
    // Central answers for this id alone; whether it has the words is seen here, without a search for each change.
    let words = filter.keyword.replace(notification_id.to_string());
    let Some(row) = client.list_first(&filter, 1).await?.pop() else {
        return Ok(None);
    };
    let found =
        has_words(&row, words.as_deref()) || has_for_a_recipient(client, &row, words.as_deref()).await?;
    Ok(found.then(|| Some(Box::new(row))))
}

/// Whether it has the words once its recipients are looked at, who are not told in a list: one of several may be known to
/// the provider by an id of its own.
async fn has_for_a_recipient(
    client: &Client,
    row: &NotificationRow,
    words: Option<&str>,
) -> Result<bool, Error> {
    if row.to.as_ref().is_some_and(|to| to.len() == 1) {
        return Ok(false);
    }
    match client.notification(row.notification_id).await {
        Ok(whole) => Ok(has_words(&whole, words)),
        Err(Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What happened, with what a reader wants to know about the notification.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct EventLine<'a> {
    #[serde(flatten)]
    event: &'a Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<&'a str>,
}

/// Whether the list would find the row by these words: its id, or each word in the subject, an address or a provider's id.
fn has_words(row: &NotificationRow, words: Option<&str>) -> bool {
    let Some(words) = words else { return true };
    let id = row.notification_id;
    if IdRange::of(words).is_some_and(|ids| (ids.first..=ids.last).contains(&id)) {
        return true;
    }
    let single = [&row.subject, &row.provider_message_id].into_iter().flatten();
    let addresses = row.to.iter().flatten().chain(&row.resolved_targets);
    let ids = row
        .recipients
        .iter()
        .filter_map(|one| one.provider_message_id.as_ref());
    let texts: Vec<_> = single
        .chain(addresses)
        .chain(ids)
        .map(|text| text.to_lowercase())
        .collect();
    let is_in = |word: &str| texts.iter().any(|text| text.contains(&word.to_lowercase()));
    words.split_whitespace().all(is_in)
}

fn say(event: &Event, row: Option<&NotificationRow>, args: &Args) -> anyhow::Result<()> {
    if matches!(event, Event::Kpis(_)) && !args.kpis {
        return Ok(());
    }
    if args.json {
        return output::json_line(&EventLine {
            event,
            subject: row.and_then(|row| row.subject.as_deref()),
            last_error: row.and_then(|row| row.last_error.as_deref()),
        });
    }
    let now = SystemClock.now();
    match event {
        Event::Change {
            notification_id,
            status,
            error_code,
        } => {
            let code = error_code.as_deref().unwrap_or("");
            let subject = row.and_then(|row| row.subject.as_deref()).unwrap_or("");
            let reason = row.and_then(|row| row.last_error.as_deref()).unwrap_or("");
            let reason = if code.is_empty() { "" } else { reason };
            let line = format!(
                "{now}  {notification_id}  {:<9}  {subject}  {code} {reason}",
                status.as_str()
            );
            output::line(line.trim_end())
        }
        Event::Kpis(k) => output::line(format_args!(
            "{now}  waiting {}  stuck {}  parked {}  delivered {}",
            k.queue_depth, k.stuck_count, k.parked_count, k.delivered_last_interval
        )),
        Event::Missed { changes } => output::line(format_args!("{now}  {changes} changes went by unseen")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use domain::{NotificationId, Status};

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    #[tokio::test]
    async fn central_gone_between_a_change_and_the_look_at_its_row_is_waited_for() {
        let Typed { args } = Typed::parse_from(["tail"]);
        // Nobody listens there any more.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", gone.local_addr().unwrap());
        drop(gone);
        let client = Client::builder(&url).retrying(Again::tries(1)).build().unwrap();
        let change = Event::Change {
            notification_id: NotificationId::mint(),
            status: Status::Parked,
            error_code: None,
        };
        let events = futures_util::stream::iter([Ok(change)]);
        let Lost { why, in_hand } = follow(&client, events, &args).await.unwrap();
        assert!(Again::tries(0).wait(1, &why).is_some(), "{why}");
        assert!(why.to_string().contains(&url), "{why}");
        assert!(in_hand.is_some(), "it is told once central is back");
    }

    #[test]
    fn a_row_has_the_words_by_which_the_list_would_find_it() {
        let row: NotificationRow = serde_json::from_value(serde_json::json!({
            "notificationId": "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d", "type": "Email", "status": "Parked", "retryCount": 0,
            "subject": "Pump 7 is empty", "to": ["Ann@example.com"], "resolvedTargets": ["bob@example.com"],
            "providerMessageId": "4XmQ", "createdAt": "2026-01-01T00:00:00.000Z",
            "recipients": [{
                "address": "Ann@example.com", "state": "Accepted", "generation": 0, "providerMessageId": "5YnR",
                "code": null, "error": null, "at": "2026-01-01T00:00:00.000Z"
            }]
        }))
        .unwrap();
        let found = [
            "pump",
            "empty PUMP",
            "ann@example.com",
            "bob@ 7",
            "4xmq",
            "5ynr pump",
            "0198f3c2",
            "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d",
            "<0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d@example.com>",
        ];
        for words in found {
            assert!(has_words(&row, Some(words)), "{words}");
        }
        for words in [
            "tank",
            "pump carl@example.com",
            "0198f3c3",
            "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7e",
        ] {
            assert!(!has_words(&row, Some(words)), "{words}");
        }
        assert!(has_words(&row, None));
    }
}
