//! What scripts send to a site: the same messages as [`super::load`], as a site takes them.

use super::{
    http::Bare,
    stopwatch::{Rate, Stopwatch},
};
use crate::limits::Sample;
use anyhow::ensure;
use bytes::Bytes;
use domain::{Content, ProviderId, Target, site::Category};
use serde_json::json;
use site::{Outgoing, SendOptions, Site, payload, payload::NotificationPayload};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use store::buffer::Origin;

/// Senders that fill a buffer, side by side.
const FILLING: u64 = 256;
const PROVIDER: &str = "noop";
const SUBJECT: &str = "Order confirmation";

/// Sends until so many have been sent in all, or for so long.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    Rows(u64),
    Over(Duration),
}

/// How a message gets to a site.
#[derive(Clone)]
pub enum Door {
    /// By a call inside its process, which is what its buffer can take.
    Call(Arc<Site>),
    /// By its local API, on a connection that is kept: the door that scripts and programs have.
    Api(Arc<Bare>),
}

impl Door {
    async fn send(&self, n: u64) -> anyhow::Result<()> {
        match self {
            Self::Call(site) => {
                let sent = site.send(message(n)).await?;
                ensure!(sent.accepted && !sent.duplicate, "a message was not accepted");
                Ok(())
            }
            Self::Api(client) => client.post(body(n)).await,
        }
    }
}

/// Puts so many messages into a site's buffer.
pub async fn fill(site: &Arc<Site>, rows: u64, progress: impl Fn(u64)) -> anyhow::Result<()> {
    let door = Door::Call(site.clone());
    // In steps, so that whoever watches sees something.
    let step = (rows / 20).max(1);
    let mut sent = 0;
    while sent < rows {
        let n = step.min(rows - sent);
        send(&door, FILLING, Until::Rows(n)).await?;
        sent += n;
        progress(sent);
    }
    Ok(())
}

/// So many senders, each sending one message at a time and waiting for the answer; accepted per second.
pub async fn send(door: &Door, senders: u64, until: Until) -> anyhow::Result<Rate> {
    let (watch, start, taken) = (Stopwatch::start(), Instant::now(), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..senders)
        .map(|_| {
            let (door, taken) = (door.clone(), taken.clone());
            tokio::spawn(async move {
                let mut accepted = 0;
                loop {
                    let n = taken.fetch_add(1, Ordering::Relaxed);
                    let over = match until {
                        Until::Rows(rows) => n >= rows,
                        Until::Over(time) => start.elapsed() >= time,
                    };
                    if over {
                        return anyhow::Ok(accepted);
                    }
                    door.send(n).await?;
                    accepted += 1;
                }
            })
        })
        .collect();
    let mut accepted = 0;
    for task in tasks {
        accepted += task.await??;
    }
    Ok(watch.stop(accepted))
}

/// The same message as a script writes it.
fn body(n: u64) -> Bytes {
    let json = json!({
        "to": [address(n)],
        "providerId": PROVIDER,
        "subject": SUBJECT,
        "body": Sample::body(n),
    });
    Bytes::from(json.to_string())
}

fn address(n: u64) -> String {
    format!("user{n}@example.org")
}

fn message(n: u64) -> Outgoing {
    let payload = NotificationPayload {
        content: Content {
            target: Target::Recipients(vec![address(n)]),
            provider: Some(ProviderId::new(PROVIDER)),
            subject: SUBJECT.into(),
            body: Sample::body(n),
            ..Content::default()
        },
        ..NotificationPayload::default()
    };
    Outgoing {
        category: Category::Notification,
        target: "(recipients)".into(),
        payload: payload::text(&payload),
        summary: None,
        origin: Origin::default(),
        options: SendOptions::default(),
    }
}
