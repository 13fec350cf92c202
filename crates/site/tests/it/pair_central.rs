//! A central that is a row in memory, and what a pair that has one does.

use crate::{
    pair_world::{Live, Machine, World},
    world::{a_call, secs},
};
use async_trait::async_trait;
use domain::{
    Clock, SystemClock, TrackedOperationId,
    lock::lock,
    pair::{LeaseAnswer, LeaseAsk, Role, Terms, WitnessRow, witness},
    site::OperationStatus,
};
use link::{Ack, Forward};
use site::pair::{Automatic, CentralBeside, LeaseBy, LeaseState, Witness};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::buffer::MessageId;
use tokio::time::Instant;
use uuid::Uuid;

pub const LEASE: Duration = Duration::from_secs(1);

/// Central's row, while it can be reached.
#[derive(Debug)]
pub struct Central {
    /// Of the longest lease it gives.
    terms: Terms,
    row: Mutex<(WitnessRow, Instant)>,
    /// Which database it is.
    database: Mutex<String>,
    is_up: AtomicBool,
    /// Notifications that standbys handed over.
    pub taken: Mutex<Vec<Forward>>,
}

impl Central {
    /// One that has known the site for long.
    fn new(lease: Duration) -> Arc<Self> {
        let row = WitnessRow {
            rank: (0, Uuid::nil()),
            holder: None,
            left: Duration::ZERO,
            database: "db".into(),
            doubt: false,
        };
        Arc::new(Self {
            terms: Terms::of(lease),
            row: Mutex::new((row, Instant::now())),
            database: Mutex::new("db".into()),
            is_up: AtomicBool::new(true),
            taken: Mutex::default(),
        })
    }

    pub fn goes(&self, up: bool) {
        self.is_up.store(up, Ordering::SeqCst);
    }

    /// A backup of its database.
    pub fn backup(&self) -> WitnessRow {
        lock(&self.row).0.clone()
    }

    /// Its database is put back to that, and is another one from here on.
    pub fn is_restored(&self, backup: WitnessRow) {
        let mut kept = lock(&self.row);
        *lock(&self.database) += " restored";
        *kept = (backup, Instant::now());
    }
}

#[async_trait]
impl Witness for Central {
    async fn ask(&self, ask: &LeaseAsk) -> Result<LeaseAnswer, String> {
        if !self.is_up.load(Ordering::SeqCst) {
            return Err("connection refused".into());
        }
        let mut kept = lock(&self.row);
        let now = Instant::now();
        kept.0.left = kept.0.left.saturating_sub(now - kept.1);
        kept.1 = now;
        let database = lock(&self.database).clone();
        let (row, answer) = witness::answer(self.terms, Some(&kept.0), &database, ask, Uuid::new_v4());
        if let Some(row) = row {
            kept.0 = row;
        }
        Ok(answer)
    }
}

#[async_trait]
impl CentralBeside for Central {
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, String> {
        if !self.is_up.load(Ordering::SeqCst) {
            return Err("connection refused".into());
        }
        let n = batch.len();
        lock(&self.taken).extend(batch);
        Ok(vec![Ack::Accepted; n])
    }
}

pub fn automatic(world: &mut World) -> Arc<Central> {
    automatic_for(world, LEASE)
}

/// With leases that outlast a moment in which the test itself does not get on.
pub fn automatic_for(world: &mut World, lease: Duration) -> Arc<Central> {
    let central = Central::new(lease);
    for machine in &mut world.machines {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        machine.automatic = Some(Automatic {
            leases: LeaseState::new(lease, clock),
            witness: central.clone(),
            central: central.clone(),
        });
    }
    central
}

/// A central of its own for one machine.
pub fn central_of(machine: &mut Machine) -> Arc<Central> {
    let central = Central::new(LEASE);
    if let Some(automatic) = &mut machine.automatic {
        automatic.witness = central.clone();
        automatic.central = central.clone();
    }
    central
}

/// As the process of a machine that was started anew has it: it neither asks nor promises for a while.
pub fn just_started(machine: &mut Machine) {
    if let Some(automatic) = &mut machine.automatic {
        automatic.leases = LeaseState::started(secs(60), Arc::new(SystemClock));
    }
}

async fn lease_of(live: &Live) -> Option<LeaseBy> {
    let pair = live.agent()?.site.pair()?.clone();
    pair.status().await.lease.map(|(by, _)| by)
}

pub async fn has_lease(live: &Live, by: LeaseBy) {
    testkit::until(&format!("a lease by {by:?}"), async || {
        lease_of(live).await == Some(by)
    })
    .await;
}

pub async fn a_waiting_call(live: &Live) -> MessageId {
    let active = live.becomes(Role::Active).await;
    let mut call = a_call("erp");
    call.options.retry_interval = Some(secs(1));
    active.site.send(call).await.unwrap().id
}

pub async fn is_delivered(live: &Live, id: MessageId) {
    live.holds(0).await;
    let buffer = live.agent().unwrap().site.buffer.clone();
    let tracked = buffer.tracking(TrackedOperationId(id.0)).await.unwrap();
    assert_eq!(tracked.unwrap().status, OperationStatus::Delivered);
}

/// Whatever else waits.
pub async fn is_made(live: &Live, id: MessageId) {
    testkit::until(&format!("{id} to be made"), async || {
        let Some(agent) = live.agent() else { return false };
        let tracked = agent.site.buffer.tracking(TrackedOperationId(id.0)).await;
        tracked.is_ok_and(|t| t.is_some_and(|t| t.status == OperationStatus::Delivered))
    })
    .await;
}

pub fn turn_of(live: &Live) -> Option<u64> {
    Some(live.agent()?.site.pair()?.standing().history.rank().0)
}

pub fn held(live: &Live) -> Option<String> {
    live.agent()?.site.pair()?.held()
}
