//! The two machines of a site: one is active, the other keeps a copy and takes its place.
//!
//! In reading order: what each asks the other ([`watch`]), how a copy is brought up to date ([`copying`]), what is answered
//! ([`host`]), taking over and handing over when somebody says so ([`taking_over`], [`handover`]), or when the active one is in trouble ([`relieving`]), the lease ([`lease_state`]), asking for it and taking over without
//! anybody ([`renewing`]), what must be so before any of that ([`signs`]), what may be attempted with and without it ([`gate`], [`own_attempts`]), waiting for the standby ([`replicated`]), what
//! is sent to a standby ([`passing_on`], [`own`], [`own_forwarding`]), what is known of the other
//! ([`seen`], [`differences`]), and what is shown of it all ([`status`], [`figures`]).
//!
//! Leaves to others: who follows whom (`domain::pair`), rows (`store::buffer::replication`), the wire (`link::peer`).
//! Always true: a send never waits for the other machine unless it was asked to; a standby sends nothing of its copy
//! and changes nothing in it; nothing that both know is attempted without the lease; which of the two a machine is stands in its file, and it is
//! started anew to become the other.

mod copying;
mod differences;
mod figures;
mod gate;
mod handover;
mod host;
mod lease_state;
mod own;
mod own_attempts;
mod own_forwarding;
mod pacing;
mod passed_words;
mod passing_on;
mod relieving;
mod renewing;
mod replicated;
mod seen;
mod signs;
mod status;
mod taking_over;
mod watch;

pub use handover::NotNow;
pub use host::Host;
pub use lease_state::LeaseState;
pub use own::OwnRows;
pub use own_forwarding::CentralBeside;
pub(crate) use own_forwarding::OwnForwarding;
pub(crate) use renewing::Renewing;
pub use seen::LONGEST_LAG;
pub use signs::LONGEST_WRITE;
pub use status::{LeaseBy, MOST_COUNTED, OtherMachine, PairStatus};
pub(crate) use watch::Watch;

use crate::Agent;
use async_trait::async_trait;
use domain::{
    Clock, SiteId,
    pair::{LeaseAnswer, LeaseAsk, ReliefTerms, Role, Standing},
};
use lease_state::Until;
use link::peer::{About, PeerOptions};
use own_attempts::OwnAttempts;
use pacing::Pacing;
use seen::Seen;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64},
    },
};
use store::{Buffer, buffer::replication};
use tokio::{sync::watch as channel, time::Instant};

/// What a machine is told about its pair.
#[derive(Debug, Clone)]
pub struct PairSettings {
    pub site: SiteId,
    /// What this machine is called.
    pub name: String,
    pub peer: PeerOptions,
    /// Systems and connections, each with a digest of its settings.
    pub targets: BTreeMap<String, Vec<u8>>,
    /// Those of them that lead to this machine itself, which is another one after a takeover.
    pub local_targets: Vec<String>,
    /// A send is answered when the standby has it as well, or after a while.
    pub wait_for_standby: bool,
    /// The standby takes over by itself, and what both know is attempted with a lease. None: a person decides.
    pub automatic: Option<Automatic>,
    /// When this machine hands over by itself.
    pub relief: ReliefTerms,
}

/// What taking over by itself needs.
#[derive(Debug, Clone)]
pub struct Automatic {
    pub leases: Arc<LeaseState>,
    pub witness: Arc<dyn Witness>,
    /// Where notifications go that the standby was sent while the active one could not be reached.
    pub central: Arc<dyn CentralBeside>,
}

/// Who gives the lease where the standby cannot: central.
#[async_trait]
pub trait Witness: std::fmt::Debug + Send + Sync {
    /// An error is why there is no answer, within two seconds.
    async fn ask(&self, ask: &LeaseAsk) -> Result<LeaseAnswer, String>;
}

#[async_trait]
impl Witness for link::WitnessClient {
    async fn ask(&self, ask: &LeaseAsk) -> Result<LeaseAnswer, String> {
        link::WitnessClient::ask(self, ask).await
    }
}

/// Why the agent has to be started anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It has become the active one, or the standby.
    Changed,
    /// A whole copy lies beside the buffer and takes its place; with `keep` the old file stays under another name.
    CopyIsWhole { keep: bool },
}

/// This machine's part in the pair. Shared by the local API, the other machine and the loop that asks it.
pub struct Pair {
    pub(crate) settings: PairSettings,
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) clock: Arc<dyn Clock>,
    agent: OnceLock<Weak<Agent>>,
    seen: Mutex<Seen>,
    /// Held while the copy is being changed, or whose turn it is.
    busy: tokio::sync::Mutex<()>,
    turn: channel::Sender<Option<Turn>>,
    /// Up to where the standby has everything on its disk.
    standby_has: channel::Sender<i64>,
    /// The standby did not follow in time: sends do not wait until it does.
    alone: AtomicBool,
    /// When the lease ends; see [`gate`].
    until: channel::Sender<Option<Until>>,
    no_lease: Mutex<Option<String>>,
    sole: AtomicBool,
    stale: AtomicBool,
    /// Messages that have never been shown to the other machine, and attempts on them.
    own_attempts: OwnAttempts,
    /// How many of those there were when somebody last asked.
    unshown: AtomicU64,
    /// A stale machine has met the one whose turn it has not seen: when that follows, it has handed in what became of things.
    learns: AtomicBool,
    /// When the standby last asked for what changed, having got what it had asked for before.
    fetched_at: Mutex<Option<Instant>>,
    /// How often it is given that.
    pacing: Pacing,
    /// The active one asked for a lease that this standby may give once it has looked at it again: its turn is new, or its word that
    /// central confirmed it is missing.
    looks_again: AtomicBool,
    /// What this machine accepted as the standby.
    pub(crate) own: OwnRows,
    passing: passing_on::Passing,
    relief: Mutex<relieving::Trouble>,
    /// Which file was told how calls and writes ended here, and of how many.
    ends_told: Mutex<Option<(uuid::Uuid, u64)>>,
    started: Instant,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pair({} of {})", self.settings.name, self.settings.site)
    }
}

impl Pair {
    /// Looks up in the file what this machine is; in a file that has never been part of a pair it is written down.
    pub async fn join(
        settings: PairSettings,
        buffer: Arc<Buffer>,
        clock: Arc<dyn Clock>,
    ) -> store::Result<Arc<Self>> {
        let standing = buffer.join_pair().await?;
        if let Some(automatic) = &settings.automatic {
            automatic.leases.join(&buffer).await?;
        }
        // What was shown to the other machine before is not known any more.
        let own_from = buffer.last_message().await?.saturating_add(1);
        tracing::info!(
            site.id = %settings.site,
            role = standing.role.as_str(),
            epoch = standing.history.rank().0,
            peer = %settings.peer.address,
            "this machine is one of two"
        );
        let own_rows = OwnRows::beside(&buffer, &settings.name, clock.clone());
        own_rows.look().await?;
        let pair = Arc::new(Self {
            own: own_rows,
            pacing: Pacing::new(settings.wait_for_standby),
            passing: passing_on::Passing::default(),
            relief: Mutex::default(),
            ends_told: Mutex::default(),
            started: Instant::now(),
            settings,
            buffer,
            clock,
            agent: OnceLock::new(),
            seen: Mutex::default(),
            busy: tokio::sync::Mutex::default(),
            turn: channel::Sender::new(None),
            standby_has: channel::Sender::new(0),
            alone: AtomicBool::new(false),
            until: channel::Sender::new(None),
            no_lease: Mutex::default(),
            sole: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            own_attempts: OwnAttempts::from(own_from),
            unshown: AtomicU64::new(0),
            learns: AtomicBool::new(false),
            fetched_at: Mutex::default(),
            looks_again: AtomicBool::new(false),
        });
        pair.look_at_lease();
        Ok(pair)
    }

    /// Takes in what this machine accepted as the standby. The other may have it too: it may have been handed in, and the answer lost.
    pub(crate) async fn takes_its_own(&self) -> store::Result<()> {
        if self.own.take_into(&self.buffer).await? > 0 {
            self.own_attempts.show(self.buffer.last_message().await?);
        }
        Ok(())
    }

    /// Who is told to finish before this machine steps down.
    pub fn attach(&self, agent: &Arc<Agent>) {
        let _ = self.agent.set(Arc::downgrade(agent));
    }

    pub fn standing(&self) -> Standing {
        self.buffer.standing().unwrap_or_else(Standing::empty)
    }

    pub fn role(&self) -> Role {
        self.standing().role
    }

    /// Completes when the agent has to be started anew, with the reason.
    pub async fn turned(&self) -> Turn {
        let mut turn = self.turn.subscribe();
        loop {
            let now = *turn.borrow_and_update();
            if let Some(turn) = now {
                return turn;
            }
            if turn.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn leases(&self) -> Option<&LeaseState> {
        Some(&*self.settings.automatic.as_ref()?.leases)
    }

    fn about(&self) -> About {
        About {
            name: self.settings.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema: replication::SCHEMA,
            targets: self.settings.targets.clone(),
        }
    }
}
