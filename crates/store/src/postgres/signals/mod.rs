//! What nodes tell each other: LISTEN on a session of its own, and one coalesced NOTIFY for what has gathered.
//!
//! Always true: nothing is notified inside an ingest transaction (NOTIFY takes a database-wide lock at commit, which
//! would end group commit); a lost listening session is followed by one `ListensAgain`; changes that
//! could not be told are counted with those that follow; a node never hears itself.

mod listener;
mod notifier;
mod payload;

use super::{server::Server, session::Db};
use crate::{
    loops::Loops,
    signals::{Change, Signal},
};
use domain::lock::lock;
use listener::Listener;
use notifier::Notifier;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tokio::sync::{Notify, broadcast};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The most changes that wait to be told; more only happen while the server does not answer, and are counted.
const CHANGES_WAITING: usize = 1_000;

#[derive(Debug)]
pub(super) struct SignalBus {
    channel: String,
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
            channel: channel.clone(),
            sender,
            gathered: gathered.clone(),
        };
        let telling = stop.clone().run_until_cancelled_owned(notifier.run());
        tasks.spawn(loops.watch("telling other nodes", telling));
        SignalBus {
            channel,
            heard,
            gathered,
        }
    }

    /// Where nodes of this store hear each other.
    pub fn channel(&self) -> &str {
        &self.channel
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
                Signal::LookAgain | Signal::ListensAgain => pending.look_again = true,
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
