//! What nodes tell each other: LISTEN on a session of its own, and one coalesced NOTIFY for what has gathered.
//!
//! Always true: nothing is notified inside an ingest transaction (NOTIFY takes a database-wide lock at commit, which
//! would end group commit); a lost listening session is followed by one `LookAgain`; a node never hears itself.

use super::{
    server::{Server, Use},
    session::{Db, Session},
    sql,
};
use crate::{
    Result,
    loops::Loops,
    signals::{Change, Signal},
};
use domain::{LaneId, NotificationId, TenantId, lock::lock};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::{Notify, broadcast};
use tokio_postgres::AsyncMessage;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::warn;

/// Signals closer together than this travel as one.
const COALESCE_WINDOW: Duration = Duration::from_millis(5);
/// Before the listening session is tried again.
const RECONNECT_WAIT: Duration = Duration::from_secs(1);
/// A payload has at most 8000 bytes; more lanes than this are "look again".
const LANES: usize = 350;
/// What one payload of changes may take; the server's limit less the sender and the words before them.
const CHANGES_BYTES: usize = 7_900;
/// The most changes that wait to be told; more only happen while the server does not answer, and are counted.
const CHANGES_WAITING: usize = 1_000;
/// A code that is longer, or is no plain word, is not told along.
const LONGEST_CODE: usize = 64;

#[derive(Debug)]
pub(super) struct SignalBus {
    heard: broadcast::Sender<Signal>,
    gathered: Arc<Gathered>,
}

/// What is to be told, and the bell for the task that tells it.
#[derive(Debug, Default)]
struct Gathered {
    pending: Mutex<Pending>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    lanes: BTreeSet<i64>,
    directory: bool,
    relays: bool,
    events: bool,
    look_again: bool,
    watching: bool,
    changes: Vec<Change>,
    missed: u64,
}

impl SignalBus {
    pub fn start(
        db: &Db,
        server: &Server,
        tasks: &TaskTracker,
        stop: &CancellationToken,
        loops: &Loops,
    ) -> SignalBus {
        let heard = broadcast::channel(1_024).0;
        let gathered = Arc::new(Gathered::default());
        // Two stores of one node, as in tests or in a rolling restart, are still two.
        let sender = uuid::Uuid::new_v4().simple().to_string();
        let channel = format!("waypost_{}", server.schema);
        let listener = Listener {
            server: server.clone(),
            channel: channel.clone(),
            sender: sender.clone(),
            heard: heard.clone(),
        };
        let listening = stop.clone().run_until_cancelled_owned(listener.run());
        tasks.spawn(loops.watch("hearing other nodes", listening));
        let notifier = Notifier {
            db: db.clone(),
            channel,
            sender,
            gathered: gathered.clone(),
        };
        let telling = stop.clone().run_until_cancelled_owned(notifier.run());
        tasks.spawn(loops.watch("telling other nodes", telling));
        SignalBus { heard, gathered }
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Signal> {
        self.heard.subscribe()
    }

    pub fn announce(&self, signal: Signal) {
        {
            let mut pending = self.gathered.pending();
            match signal {
                Signal::Lanes(lanes) => pending.lanes.extend(lanes.iter().map(|lane| lane.0)),
                Signal::Directory => pending.directory = true,
                Signal::Relays => pending.relays = true,
                Signal::Events => pending.events = true,
                Signal::LookAgain => pending.look_again = true,
                Signal::Watching => pending.watching = true,
                Signal::Changes { mut changes, missed } => {
                    let room = CHANGES_WAITING.saturating_sub(pending.changes.len());
                    let left_out = changes.len().saturating_sub(room);
                    changes.truncate(room);
                    pending.changes.append(&mut changes);
                    pending.missed += missed + left_out as u64;
                }
            }
        }
        self.gathered.bell.notify_one();
    }
}

impl Gathered {
    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

struct Notifier {
    db: Db,
    channel: String,
    sender: String,
    gathered: Arc<Gathered>,
}

impl Notifier {
    async fn run(self) {
        loop {
            self.gathered.bell.notified().await;
            let pending = std::mem::take(&mut *self.gathered.pending());
            for payload in payloads(&self.sender, &pending) {
                if let Err(error) = self.send(&payload).await {
                    // Polling is the net: the others find out a little later.
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "other nodes could not be told"
                    );
                }
            }
            tokio::time::sleep(COALESCE_WINDOW).await;
        }
    }

    async fn send(&self, payload: &str) -> Result<()> {
        // On a claim session: nobody waits for the disk because of a signal.
        let session = self.db.session(Use::Claim).await?;
        session.rows(sql::notify, &[&self.channel, &payload]).await?;
        Ok(())
    }
}

struct Listener {
    server: Server,
    channel: String,
    sender: String,
    heard: broadcast::Sender<Signal>,
}

impl Listener {
    async fn run(self) {
        let mut lost_before = false;
        loop {
            match self.listen(lost_before).await {
                Ok(()) => warn!("the listening session ended, reconnecting"),
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot listen for other nodes, trying again"
                    );
                }
            }
            lost_before = true;
            tokio::time::sleep(RECONNECT_WAIT).await;
        }
    }

    /// Returns when the session ends.
    async fn listen(&self, lost_before: bool) -> Result<()> {
        let (client, mut connection) = self.server.connect(Use::Claim).await?;
        let listen = sql::listen(&self.channel);
        let mut subscribing = Some(Box::pin(client.batch_execute(&listen)));
        loop {
            let message = std::future::poll_fn(|cx| connection.poll_message(cx));
            tokio::select! {
                result = async { subscribing.as_mut().expect("checked").await }, if subscribing.is_some() => {
                    subscribing = None;
                    result.map_err(|e| crate::Error::from(super::failed::Failed::from(e)))?;
                    if lost_before {
                        let _ = self.heard.send(Signal::LookAgain);
                    }
                }
                message = message => match message {
                    Some(Ok(AsyncMessage::Notification(note))) => self.hear(note.payload()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(super::failed::Failed::from(error).into()),
                    None => return Ok(()),
                },
            }
        }
    }

    fn hear(&self, payload: &str) {
        if let Some(signal) = read(&self.sender, payload) {
            // Nobody listening is fine.
            let _ = self.heard.send(signal);
        }
    }
}

/// `SENDER lanes 1,2,3`, `SENDER directory`, `SENDER relays`, `SENDER events`, `SENDER again`, `SENDER watching`, and
/// `SENDER changes MISSED TENANT,ID,STATUS,CODE;…`.
fn payloads(sender: &str, pending: &Pending) -> Vec<String> {
    let mut payloads = vec![];
    if pending.look_again || pending.lanes.len() > LANES {
        payloads.push(format!("{sender} again"));
    } else if !pending.lanes.is_empty() {
        let lanes: Vec<String> = pending.lanes.iter().map(i64::to_string).collect();
        payloads.push(format!("{sender} lanes {}", lanes.join(",")));
    }
    if pending.directory {
        payloads.push(format!("{sender} directory"));
    }
    if pending.relays {
        payloads.push(format!("{sender} relays"));
    }
    if pending.events {
        payloads.push(format!("{sender} events"));
    }
    if pending.watching {
        payloads.push(format!("{sender} watching"));
    }
    let mut missed = pending.missed;
    let mut text = String::new();
    for change in &pending.changes {
        let one = print_change(change);
        if text.len() + one.len() >= CHANGES_BYTES {
            payloads.push(format!("{sender} changes {} {text}", std::mem::take(&mut missed)));
            text.clear();
        }
        if !text.is_empty() {
            text.push(';');
        }
        text += &one;
    }
    if !text.is_empty() || missed > 0 {
        payloads.push(format!("{sender} changes {missed} {text}"));
    }
    payloads
}

fn print_change(change: &Change) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let code = change.code.as_deref().unwrap_or_default();
    let code = Some(code).filter(|code| code.len() <= LONGEST_CODE && code.chars().all(plain));
    format!(
        "{},{},{},{}",
        change.tenant.0,
        change.id.0.simple(),
        change.status.as_str(),
        code.unwrap_or_default()
    )
}

fn read_change(text: &str) -> Option<Change> {
    let mut parts = text.split(',');
    let change = Change {
        tenant: TenantId(parts.next()?.parse().ok()?),
        id: NotificationId(parts.next()?.parse().ok()?),
        status: parts.next()?.parse().ok()?,
        code: parts.next().filter(|code| !code.is_empty()).map(str::to_owned),
    };
    parts.next().is_none().then_some(change)
}

/// `MISSED TENANT,ID,STATUS,CODE;…`
fn read_changes(text: &str) -> Option<Signal> {
    let (missed, list) = text.split_once(' ')?;
    let changes = list.split(';').filter(|one| !one.is_empty()).map(read_change);
    Some(Signal::Changes {
        changes: changes.collect::<Option<_>>()?,
        missed: missed.parse().ok()?,
    })
}

/// None for our own words; `LookAgain` for words that only a newer node understands.
fn read(own: &str, payload: &str) -> Option<Signal> {
    let (sender, what) = payload.split_once(' ').unwrap_or(("", payload));
    if sender == own {
        return None;
    }
    if what == "directory" {
        return Some(Signal::Directory);
    }
    if what == "relays" {
        return Some(Signal::Relays);
    }
    if what == "events" {
        return Some(Signal::Events);
    }
    if what == "watching" {
        return Some(Signal::Watching);
    }
    if let Some(changes) = what.strip_prefix("changes ").and_then(read_changes) {
        return Some(changes);
    }
    let lanes = what.strip_prefix("lanes ").and_then(|list| {
        list.split(',')
            .map(|n| n.parse().map(LaneId).ok())
            .collect::<Option<Vec<_>>>()
    });
    Some(lanes.map_or(Signal::LookAgain, Signal::Lanes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Status;

    #[test]
    fn what_is_told_is_what_is_heard_except_by_oneself() {
        let pending = Pending {
            lanes: [7, 3].into(),
            directory: true,
            relays: true,
            events: true,
            watching: true,
            ..Pending::default()
        };
        let said = payloads("me", &pending);
        let heard: Vec<_> = said.iter().filter_map(|p| read("you", p)).collect();
        assert_eq!(
            heard,
            [
                Signal::Lanes(vec![LaneId(3), LaneId(7)]),
                Signal::Directory,
                Signal::Relays,
                Signal::Events,
                Signal::Watching,
            ]
        );
        assert!(said.iter().all(|p| read("me", p).is_none()));
    }

    fn change(tenant: i32, code: &str) -> Change {
        Change {
            tenant: TenantId(tenant),
            id: NotificationId::mint(),
            status: Status::Retrying,
            code: Some(code.to_owned()).filter(|code| !code.is_empty()),
        }
    }

    #[test]
    fn changes_are_heard_as_they_were_told_however_many_payloads_they_take() {
        let changes: Vec<_> = (0..500)
            .map(|n| {
                change(
                    i32::MAX - n,
                    ["", "SMTP_451", &"X".repeat(LONGEST_CODE)][n as usize % 3],
                )
            })
            .collect();
        let pending = Pending {
            changes: changes.clone(),
            missed: 7,
            ..Pending::default()
        };
        let said = payloads(&"m".repeat(32), &pending);
        assert!(said.len() > 1 && said.iter().all(|p| p.len() < 8_000));
        let (mut heard, mut missed_in_all) = (vec![], 0);
        for payload in &said {
            let Some(Signal::Changes { changes, missed }) = read("you", payload) else {
                panic!("{payload}");
            };
            heard.extend(changes);
            missed_in_all += missed;
        }
        assert_eq!((heard, missed_in_all), (changes, 7));
    }

    #[test]
    fn a_code_that_is_no_plain_word_is_not_told_along() {
        for strange in ["A;B", "A,B", "naïve", "X".repeat(LONGEST_CODE + 1).as_str()] {
            let told = change(1, strange);
            let read = read_change(&print_change(&told)).unwrap();
            assert_eq!(read, Change { code: None, ..told });
        }
    }

    #[test]
    fn more_lanes_than_fit_are_look_again() {
        let pending = Pending {
            lanes: (0..1_000).collect(),
            ..Pending::default()
        };
        let said = payloads("me", &pending);
        assert_eq!(read("you", &said[0]), Some(Signal::LookAgain));
        let fit = Pending {
            lanes: (0..LANES as i64).map(|i| i64::MAX - i).collect(),
            ..Pending::default()
        };
        assert!(payloads(&"m".repeat(32), &fit)[0].len() < 8_000);
    }

    #[test]
    fn unknown_words_make_us_look_rather_than_miss_something() {
        assert_eq!(read("you", "me paused 7"), Some(Signal::LookAgain));
        assert_eq!(read("you", ""), Some(Signal::LookAgain));
    }
}
