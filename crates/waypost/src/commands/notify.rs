//! `waypost notify`: send one.

use crate::{
    connect::Connect,
    exit::usage,
    filters::{channel, moment_ahead},
    output::{self, ask, rows},
};
use client::{Channel, Client, Notification, NotificationId, Status, StatusReport, Timestamp};
use domain::retry::parse_human;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// Send a notification
///
/// When this says "accepted", the notification is on central's disk. Without --id or --key it gets a fresh id; give
/// one of them and the same command can be repeated without sending twice.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("target").required(true).multiple(true))]
pub struct Args {
    /// The list to send to
    #[arg(
        long = "to",
        value_name = "LIST",
        group = "target",
        conflicts_with = "recipient"
    )]
    list: Option<String>,
    /// An address to send to; may be given several times
    #[arg(long, value_name = "ADDRESS", group = "target")]
    recipient: Vec<String>,
    /// The provider to send through; alone, for providers that know where to send
    #[arg(long, value_name = "ID", group = "target")]
    provider: Option<String>,
    /// Email unless the provider says otherwise; Webhook, Capture, …
    #[arg(long = "type", value_name = "TYPE", value_parser = channel)]
    channel: Option<Channel>,
    /// The subject, or title
    #[arg(long)]
    subject: Option<String>,
    /// The text; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    body: String,
    /// Fields that only some types know, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    data: Option<serde_json::Value>,
    /// The id to send under (a UUID)
    #[arg(long, value_name = "UUID", conflicts_with = "key")]
    id: Option<NotificationId>,
    /// A key of your own to send under, like order-7:confirmed
    #[arg(long)]
    key: Option<String>,
    /// The rule that asks for it
    #[arg(long, value_name = "NAME")]
    rule: Option<String>,
    /// The run of the rule; without --id and --key, the same message of the same run goes out once
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Not before this time: 2026-01-31T12:00:00Z, or 2h for in two hours
    #[arg(long, value_name = "TIME", value_parser = moment_ahead)]
    send_at: Option<Timestamp>,
    /// Not after this time; what is late is parked. A time, or 2h for in two hours
    #[arg(long, value_name = "TIME", value_parser = moment_ahead)]
    expires_at: Option<Timestamp>,
    /// Takes the place of those sent before with the same key that have not gone out yet, like tank-4:level
    #[arg(long, value_name = "KEY")]
    supersedes: Option<String>,
    /// Wait until it is delivered, parked or discarded; exit 0 only if it was delivered
    #[arg(long)]
    wait: bool,
    /// How long to wait at most
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_human, requires = "wait")]
    timeout: Duration,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

/// Left to itself, clap would take any text for a JSON string.
pub fn json_object(text: &str) -> Result<serde_json::Value, String> {
    match serde_json::from_str(text) {
        Ok(object @ serde_json::Value::Object(_)) => Ok(object),
        Ok(_) => Err("must be a JSON object, like {\"priority\": 1}".into()),
        Err(e) => Err(format!("is not JSON: {e}")),
    }
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let accepted = client.submit(&args.notification()?).await?;
    let id = accepted.notification_id;
    if !args.wait {
        return match args.format.json {
            true => output::json(&accepted),
            false => {
                output::note(if accepted.duplicate {
                    "accepted already"
                } else {
                    "accepted"
                });
                output::line(id)
            }
        };
    }
    let report = until_ended(&client, id, args.timeout).await?;
    match args.format.json {
        true => output::json(&report)?,
        false => output::line(format_args!("{id} {}", report.status))?,
    }
    match report.status {
        Status::Delivered => Ok(()),
        status => anyhow::bail!("{id} is {status}{}; `waypost show {id}` says more", why(&report)),
    }
}

/// What it hangs on, or what ended it.
fn why(report: &StatusReport) -> String {
    let mut words = String::new();
    if let Some(waiting) = &report.waiting {
        words.push_str(&format!(": {}", rows::waits(waiting)));
    }
    if let Some(code) = &report.error_code {
        words.push_str(&format!(": {code}"));
    }
    if let Some(error) = &report.last_error {
        words.push_str(&format!(" {error}"));
    }
    words
}

/// Looks every half second: a person waits. Says what it hangs on, whenever that is something else than before.
async fn until_ended(client: &Client, id: NotificationId, longest: Duration) -> anyhow::Result<StatusReport> {
    let mut told = None;
    let end = Instant::now() + longest;
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let report = client.status(id).await?;
        if report.status.is_terminal() || Instant::now() >= end {
            return Ok(report);
        }
        // What is just being sent, or next, is nothing to tell of.
        let hangs = report
            .waiting
            .as_ref()
            .filter(|waiting| !matches!(waiting.reason.as_str(), "sending" | "queued"));
        if let Some(waiting) = hangs
            && told.as_ref() != Some(&waiting.reason)
        {
            output::note(format_args!("{}{}", report.status, why(&report)));
            told = Some(waiting.reason.clone());
        }
    }
}

impl Args {
    fn notification(&self) -> anyhow::Result<Notification> {
        let body = match self.body.as_str() {
            "-" => ask::input()?,
            text => text.to_owned(),
        };
        if body.is_empty() {
            return Err(usage("the body is empty"));
        }
        let mut notification = match (&self.list, self.recipient.is_empty()) {
            (Some(list), _) => Notification::to_list(list),
            (None, false) => Notification::to(&self.recipient),
            (None, true) => Notification::default(),
        };
        notification = notification.body(body);
        if let Some(provider) = &self.provider {
            notification = notification.provider(provider);
        }
        if let Some(channel) = self.channel {
            notification = notification.channel(channel);
        }
        if let Some(subject) = &self.subject {
            notification = notification.subject(subject);
        }
        if let Some(data) = &self.data {
            notification = notification.type_data(data.clone());
        }
        if let Some(id) = self.id {
            notification = notification.id(id);
        }
        if let Some(key) = &self.key {
            notification = notification.key(key);
        }
        if let Some(rule) = &self.rule {
            notification = notification.rule(rule);
        }
        if let Some(run) = &self.run {
            notification = notification.run(run);
        }
        if let Some(at) = self.send_at {
            notification = notification.send_at(at);
        }
        if let Some(at) = self.expires_at {
            notification = notification.expires_at(at);
        }
        if let Some(key) = &self.supersedes {
            notification = notification.supersedes(key);
        }
        Ok(notification)
    }
}
