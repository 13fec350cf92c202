//! Two machines that meet after longer than anything is remembered.

use crate::{
    pair_central::{LEASE, a_waiting_call, automatic, has_lease, held, is_delivered, turn_of},
    pair_world::{Live, Machine, World, a_pair, has_all, notify, world},
    script::Reply,
    world::until,
};
use domain::{Clock, SystemClock, Timestamp, TrackedOperationId, pair::Role, site::OperationStatus};
use site::pair::{LeaseBy, LeaseState};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::buffer::MessageId;

const DAY: u64 = 24 * 3600;

/// The clock of this machine, and days that have passed besides.
#[derive(Debug, Default)]
pub struct Days(AtomicU64);

impl Clock for Days {
    fn now(&self) -> Timestamp {
        SystemClock.now() + Duration::from_secs(self.0.load(Ordering::SeqCst) * DAY)
    }
}

impl Days {
    pub fn pass(&self, days: u64) {
        self.0.fetch_add(days, Ordering::SeqCst);
    }
}

pub fn with_days(world: &mut World, lease: Duration) -> Arc<Days> {
    let days = Arc::new(Days::default());
    for machine in &mut world.machines {
        machine.clock = days.clone();
        if let Some(automatic) = &mut machine.automatic {
            automatic.leases = LeaseState::new(lease, days.clone());
        }
    }
    days
}

/// The first machine made this call in a turn of its own and is gone; the second has taken over, and holds the call because the
/// first may have made it.
async fn made_and_gone(world: &World, log_is_gone: bool) -> (Machine, Live, MessageId) {
    let (a, b) = a_pair(world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let turn = turn_of(&a);
    let left_behind = b.end().await;
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    has_lease(&a, LeaseBy::Witness).await;
    world.systems.always(Reply::Delivered);
    is_delivered(&a, id).await;
    if log_is_gone {
        let buffer = a.agent().unwrap().site.buffer.clone();
        assert!(buffer.trim_log(0, 0).await.unwrap());
    }
    let gone = a.end().await;
    let b = left_behind.run();
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    (gone, b, id)
}

async fn comes_back(a: Machine, b: &Live, id: MessageId) -> Live {
    let a = a.run();
    a.becomes(Role::Standby).await;
    is_delivered(b, id).await;
    has_lease(b, LeaseBy::Standby).await;
    until("nothing is held any more", || held(b).is_none()).await;
    a
}

#[tokio::test]
async fn after_eight_days_it_is_still_known_what_the_other_has_to_be_told_and_nothing_is_made_twice() {
    let mut world = world();
    automatic(&mut world);
    let days = with_days(&mut world, LEASE);
    let (gone, b, id) = made_and_gone(&world, false).await;
    let made = world.systems.attempts();
    days.0.store(8, Ordering::SeqCst);
    // It is started where it does not reach the other, goes on as the active one it was, and clears up.
    let mut alone = gone.clone();
    alone.other = "http://127.0.0.1:1".parse().unwrap();
    let a = alone.run();
    let active = a.becomes(Role::Active).await;
    until("it has cleared up", || {
        let reports = active.loops.reports();
        reports.get("purge").is_some_and(|purge| purge.runs > 0)
    })
    .await;
    let tracked = active.site.tracking(TrackedOperationId(id.0)).await.unwrap();
    assert_eq!(tracked.unwrap().status, OperationStatus::Delivered);
    drop(active);
    let only_here = notify(&a, 2).await;
    a.end().await;
    let only_there = notify(&b, 1).await;
    let a = gone.run();
    a.becomes(Role::Standby).await;
    until("both have everything", || a.waiting() == 3 && b.waiting() == 3).await;
    has_lease(&b, LeaseBy::Standby).await;
    until("nothing is held any more", || held(&b).is_none()).await;
    for live in [&a, &b] {
        assert!(has_all(live, &only_here).await && has_all(live, &only_there).await);
    }
    assert_eq!(world.systems.attempts(), made, "the other had made it");
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_whose_log_was_let_go_of_still_tells_what_it_made() {
    let mut world = world();
    automatic(&mut world);
    let (gone, b, id) = made_and_gone(&world, true).await;
    let made = world.systems.attempts();
    let a = comes_back(gone, &b, id).await;
    assert_eq!(world.systems.attempts(), made, "the other had made it");
    a.end().await;
    b.end().await;
}
