//! The lease of a pair, between two machines that run here and a central that is a row in memory.

use crate::{
    pair::{Live, World, a_pair, world},
    script::Reply,
    world::{a_call, secs, until},
};
use async_trait::async_trait;
use domain::{
    Clock, SystemClock, TrackedOperationId,
    lock::lock,
    pair::{LeaseAnswer, LeaseAsk, Role, Terms, WitnessRow, witness},
    site::OperationStatus,
};
use site::pair::{Automatic, LeaseBy, LeaseState, Witness};
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

const LEASE: Duration = Duration::from_secs(1);

/// Central's row, while it can be reached.
#[derive(Debug)]
struct Central {
    row: Mutex<(WitnessRow, Instant)>,
    is_up: AtomicBool,
}

impl Central {
    /// One that has known the site for long.
    fn new() -> Arc<Self> {
        let row = WitnessRow {
            rank: (0, Uuid::nil()),
            holder: None,
            left: Duration::ZERO,
            database: "db".into(),
            doubt: false,
        };
        Arc::new(Self {
            row: Mutex::new((row, Instant::now())),
            is_up: AtomicBool::new(true),
        })
    }

    fn goes(&self, up: bool) {
        self.is_up.store(up, Ordering::SeqCst);
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
        let (row, answer) = witness::answer(Terms::of(LEASE), Some(&kept.0), "db", ask, Uuid::new_v4());
        if let Some(row) = row {
            kept.0 = row;
        }
        Ok(answer)
    }
}

fn automatic(world: &mut World) -> Arc<Central> {
    let central = Central::new();
    for machine in &mut world.machines {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        machine.automatic = Some(Automatic {
            leases: LeaseState::new(LEASE, clock),
            witness: central.clone(),
        });
    }
    central
}

async fn lease_of(live: &Live) -> Option<LeaseBy> {
    let pair = live.agent()?.site.pair()?.clone();
    pair.status().await.lease.map(|(by, _)| by)
}

async fn has_lease(live: &Live, by: LeaseBy) {
    for _ in 0..1_500 {
        if lease_of(live).await == Some(by) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never had a lease by {by:?}");
}

async fn a_waiting_call(live: &Live) -> MessageId {
    let active = live.becomes(Role::Active).await;
    let mut call = a_call("erp");
    call.options.retry_interval = Some(secs(1));
    active.site.send(call).await.unwrap().id
}

async fn is_delivered(live: &Live, id: MessageId) {
    live.holds(0).await;
    let buffer = live.agent().unwrap().site.buffer.clone();
    let tracked = buffer.tracking(TrackedOperationId(id.0)).await.unwrap();
    assert_eq!(tracked.unwrap().status, OperationStatus::Delivered);
}

fn held(live: &Live) -> Option<String> {
    live.agent()?.site.pair()?.held()
}

#[tokio::test]
async fn a_standby_that_hears_nothing_takes_over_with_centrals_leave_and_makes_what_waited() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let gone = a.end().await;
    world.systems.always(Reply::Delivered);
    b.becomes(Role::Active).await;
    has_lease(&b, LeaseBy::Witness).await;
    is_delivered(&b, id).await;
    // The other comes back, learns that it was replaced, and gives the lease.
    let a = gone.run();
    a.becomes(Role::Standby).await;
    has_lease(&b, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn without_a_lease_only_what_the_other_never_had_is_attempted() {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let shared = a_waiting_call(&a).await;
    b.holds(1).await;
    central.goes(false);
    let standby = b.end().await;
    until("calls that both know are held", || held(&a).is_some()).await;
    let why = held(&a).unwrap();
    assert!(why.contains("connection refused"), "{why}");
    world.systems.always(Reply::Delivered);
    let tried = world.systems.attempts();
    let own = a_waiting_call(&a).await;
    until("the call that only this machine has is made", || {
        world.systems.attempts() == tried + 1
    })
    .await;
    let buffer = a.agent().unwrap().site.buffer.clone();
    let of = |id: MessageId| {
        let buffer = buffer.clone();
        async move {
            buffer
                .tracking(TrackedOperationId(id.0))
                .await
                .unwrap()
                .unwrap()
                .status
        }
    };
    assert_eq!(of(own).await, OperationStatus::Delivered);
    assert_eq!(of(shared).await, OperationStatus::Retrying);
    let nobody = domain::Actor::new("somebody");
    let refused = a
        .agent()
        .unwrap()
        .site
        .discard(shared, &nobody)
        .await
        .unwrap_err();
    assert!(domain::chain(&refused).contains("NotHolder"), "{refused:?}");
    drop(buffer);
    central.goes(true);
    has_lease(&a, LeaseBy::Witness).await;
    is_delivered(&a, shared).await;
    assert_eq!(world.systems.attempts(), tried + 2);
    a.end().await;
    drop(standby);
}

#[tokio::test]
async fn who_was_left_behind_makes_nothing_that_it_inherited_until_it_has_met_the_other() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let left_behind = b.end().await;
    has_lease(&a, LeaseBy::Witness).await;
    world.systems.always(Reply::Delivered);
    is_delivered(&a, id).await;
    let made = world.systems.attempts();
    let a_gone = a.end().await;
    let b = left_behind.run();
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    assert_eq!(b.agent().unwrap().site.buffer.depth().waiting(), 1);
    assert_eq!(world.systems.attempts(), made);
    let a = a_gone.run();
    a.becomes(Role::Standby).await;
    is_delivered(&b, id).await;
    has_lease(&b, LeaseBy::Standby).await;
    assert_eq!(held(&b), None);
    assert_eq!(world.systems.attempts(), made, "the other had made it");
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_with_a_new_disk_gives_no_lease_until_central_has_confirmed_the_turn() {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    central.goes(false);
    let gone = b.end().await;
    gone.loses_its_disk();
    let b = gone.run();
    until("the new disk is why calls are held", || {
        held(&a).is_some_and(|why| why.contains("its disk is new"))
    })
    .await;
    let standby = b.becomes(Role::Standby).await;
    let refused = standby.site.pair().unwrap().promote(false).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("new disk"), "{why}");
    drop(standby);
    central.goes(true);
    has_lease(&a, LeaseBy::Standby).await;
    assert_eq!(held(&a), None);
    a.end().await;
    b.end().await;
}
