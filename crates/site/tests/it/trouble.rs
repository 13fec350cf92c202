//! Clocks that are wrong, targets that are dead, ids that are used twice: nothing is stuck, nothing floods, nothing is
//! taken in silence.

use crate::{
    logged::Logged,
    script::{Reply, Scripted},
    world::{World, a_call, a_notification, secs, somebody, until},
};
use domain::{
    Clock, SiteId, Timestamp,
    site::{Category, OperationStatus},
};
use site::{Agent, Handlers, Outgoing, SendError, Settings, Site, engine::TriedNow};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use store::{
    Buffer,
    buffer::{MessageId, Options, Step, What},
};
use testkit::Folder;
use tokio::time::Instant;
use uuid::Uuid;

const DAY: u64 = 24 * 3600;

/// Left to the sweep from the start.
fn a_queued_call(system: &str) -> Outgoing {
    let mut call = a_call(system);
    call.options.attempt_immediate_delivery = false;
    call
}

#[tokio::test]
async fn a_clock_that_was_ahead_delays_nothing_by_more_than_its_interval_after_a_restart() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let id = world.call("erp").await.id;
    world.advance(3 * DAY);
    assert_eq!(world.sweep().await.retried, 1);
    world.clock.set_back(secs(2 * DAY));
    let world = world.crash().await;
    let agent = world.start().await;
    let waits = world.message(id).await.unwrap();
    assert_eq!(
        waits.due_at,
        world.clock.now() + secs(30),
        "as far ahead as its interval"
    );
    world.systems.always(Reply::Delivered);
    world.advance(30);
    world.sweep().await;
    until("the delivery", || world.waiting() == 0).await;
    agent.stop().await;
}

#[tokio::test]
async fn a_due_time_survives_a_restart_when_the_clock_was_right() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let id = world.call("erp").await.id;
    let due_at = world.message(id).await.unwrap().due_at;
    world.advance(10);
    let world = world.crash().await;
    let agent = world.start().await;
    assert_eq!(world.message(id).await.unwrap().due_at, due_at);
    agent.stop().await;
}

#[tokio::test]
async fn a_running_agent_notices_that_its_clock_was_set_back() {
    let (logged, _guard) = Logged::start();
    let world = World::with(|settings| settings.timer = Duration::from_millis(20));
    world.systems.always(Reply::Transient);
    let agent = world.start().await;
    let id = world.call("erp").await.id;
    until("a look at the clock", || agent.loops.reports()["due"].runs > 0).await;
    world.clock.set_back(secs(3600));
    testkit::until("it to be noticed", async || {
        world.message(id).await.unwrap().due_at <= world.clock.now() + secs(30)
    })
    .await;
    until("the line about it", || {
        let said = logged.with("the clock of this machine went back");
        said.len() == 1 && said[0].contains("clock.jump=\"1h\"")
    })
    .await;
    world.systems.always(Reply::Delivered);
    world.advance(3_600);
    until("the line about the way back", || {
        logged.with("the clock of this machine went ahead").len() == 1
    })
    .await;
    until("the delivery", || world.waiting() == 0).await;
    agent.stop().await;
}

/// Wall time that is the runtime's: with it paused, a test decides how time passes.
#[derive(Debug)]
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000) + self.0.elapsed()
    }
}

#[tokio::test(start_paused = true)]
async fn retries_come_when_they_are_due_and_not_when_the_timer_next_goes() {
    for interval in [secs(30), secs(10), secs(2)] {
        let folder = Folder::of_this_test();
        let start = Instant::now();
        let clock = Arc::new(RuntimeClock(start));
        let options = Options {
            inline: true,
            ..Options::at(folder.path().join("sf.db"))
        };
        let buffer = Arc::new(Buffer::open(&options, clock.clone()).unwrap());
        let systems = Scripted::new();
        let tried = Arc::new(Mutex::new(vec![]));
        let notes = tried.clone();
        systems.script(move |_| {
            notes.lock().unwrap().push(start.elapsed().as_secs());
            Reply::Transient
        });
        let handlers = Handlers::default().register(Category::ExternalSystem, Arc::new(systems));
        let settings = Settings::of(SiteId::new("north"));
        assert_eq!(settings.timer, secs(10));
        let site = Site::new(settings, buffer, handlers, clock);
        let agent = Agent::start(site.clone()).await.unwrap();
        // Off the timer's beat.
        tokio::time::sleep(Duration::from_millis(3_500)).await;
        let mut call = a_call("erp");
        call.options.retry_interval = Some(interval);
        site.send(call).await.unwrap();
        tokio::time::sleep(interval * 3 + secs(1)).await;
        let every = interval.as_secs();
        let expected: Vec<_> = (0..4).map(|n| 3 + n * every).collect();
        assert_eq!(*tried.lock().unwrap(), expected, "every {interval:?}");
        agent.stop().await;
    }
}

#[tokio::test]
async fn a_dead_system_is_asked_by_one_message_at_a_time_while_the_others_wait_uncounted() {
    let (logged, _guard) = Logged::start();
    let world = World::new();
    world.systems.always(Reply::Transient);
    for _ in 0..200 {
        world.site.send(a_queued_call("erp")).await.unwrap();
    }
    let told_before = world.site.buffer.telemetry_waiting().await.unwrap();
    world.sweep().await;
    let first = world.systems.attempts();
    assert!(first <= 8, "{first} attempts before it was noticed");
    assert_eq!(world.site.engine.down().len(), 1);
    for round in 1..=10 {
        world.advance(29);
        world.sweep().await;
        world.advance(1);
        world.sweep().await;
        world.sweep().await;
        assert_eq!(world.systems.attempts(), first + round);
    }
    let waiting = world.site.buffer.waiting(None, 0, 500).await.unwrap();
    let counted: u32 = waiting.iter().map(|m| m.retry_count).sum();
    assert_eq!(counted as usize, first + 10, "only an attempt counts");
    assert!(
        waiting.iter().all(|m| m.retry_count <= 1),
        "the probe goes round, so that one bad message cannot hold up the rest"
    );
    assert_eq!(logged.with("the target does not answer").len(), 1);
    let told = world.site.buffer.telemetry_waiting().await.unwrap() - told_before;
    assert_eq!(
        told as usize,
        first + 10,
        "central hears of attempts and of nothing else"
    );
    world.systems.always(Reply::Delivered);
    world.advance(30);
    assert_eq!(world.sweep().await.delivered, 200);
    assert!(world.site.engine.down().is_empty());
    let changes = logged.with("target=\"erp\"");
    let changes: Vec<_> = changes
        .iter()
        .filter(|line| line.contains("the target "))
        .collect();
    assert_eq!(changes.len(), 2, "one line per change: {changes:?}");
    world.assert_counted().await;
}

#[tokio::test]
async fn an_immediate_attempt_that_works_brings_a_dead_systems_messages_out_at_once() {
    let world = World::with(|settings| settings.timer = secs(3600));
    world.systems.always(Reply::Transient);
    let agent = world.start().await;
    for _ in 0..50 {
        world.site.send(a_queued_call("erp")).await.unwrap();
    }
    until("it to be known", || !world.site.engine.down().is_empty()).await;
    world.systems.always(Reply::Delivered);
    assert!(!world.call("erp").await.was_buffered);
    // Those that were tried wait for their interval, all others go.
    until("the others", || world.waiting() <= 8).await;
    world.advance(30);
    world.site.buffer.wake().look_again();
    until("all", || world.waiting() == 0).await;
    agent.stop().await;
}

#[tokio::test]
async fn somebody_can_have_a_waiting_message_tried_although_its_system_is_down_and_it_is_not_due() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut ids = vec![];
    for _ in 0..6 {
        ids.push(world.call("erp").await.id);
    }
    assert_eq!(world.site.engine.down().len(), 1);
    world.systems.always(Reply::Delivered);
    let tried = world.site.engine.try_waiting(ids[3], &somebody()).await.unwrap();
    assert!(
        matches!(&tried, TriedNow::Tried(tried) if tried.step == Step::Delivered),
        "{tried:?}"
    );
    assert!(world.site.engine.down().is_empty(), "it answers");
    assert_eq!(world.tracked_as(ids[3]).await, OperationStatus::Delivered);
    let events = world.site.buffer.events(None, 2).await.unwrap();
    assert_eq!(
        (events[1].what, events[1].actor.as_deref()),
        (What::Retry, Some("user:anna"))
    );
    let gone = world.site.engine.try_waiting(ids[3], &somebody()).await.unwrap();
    assert!(matches!(gone, TriedNow::NotFound), "{gone:?}");
    world.systems.does_not_know(&["erp"]);
    let nobody = world.site.engine.try_waiting(ids[0], &somebody()).await.unwrap();
    assert!(matches!(nobody, TriedNow::NobodyDelivers(_)), "{nobody:?}");
    world.assert_counted().await;
}

#[tokio::test]
async fn an_id_used_for_other_content_is_told_while_it_waits_and_while_it_is_remembered() {
    let world = World::new();
    world.central.goes_down();
    let agent = world.start().await;
    let mut first = a_notification("Tank 4 is full");
    first.options.message_id = Some(MessageId(Uuid::now_v7()));
    let mut other = a_notification("Tank 5 is empty");
    other.options.message_id = first.options.message_id;
    let conflict = async |when: &str| {
        let told = world.site.send(other.clone()).await;
        assert!(matches!(told, Err(SendError::Conflict(_))), "{when}: {told:?}");
    };
    assert!(!world.site.send(first.clone()).await.unwrap().duplicate);
    assert!(world.site.send(first.clone()).await.unwrap().duplicate);
    conflict("while it waits").await;
    world.central.comes_back();
    until("an empty buffer", || world.waiting() == 0).await;
    conflict("while its content is remembered").await;
    assert!(world.site.send(first.clone()).await.unwrap().duplicate);
    world.advance(3600);
    world.site.buffer.forget_acked(world.clock.now()).await.unwrap();
    conflict("while its end is remembered").await;
    // Nobody here could send it again should central have lost it: it goes to central, which knows.
    assert!(!world.site.send(first.clone()).await.unwrap().duplicate);
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.central.rows().len(), 1);
    agent.stop().await;
}

#[tokio::test]
async fn each_notification_is_followed_by_its_id_though_the_log_tells_of_the_batch() {
    let world = World::new();
    world.central.goes_down();
    let agent = world.start().await;
    let mut ids = vec![];
    for n in 0..20 {
        ids.push(world.notify(&format!("n{n}")).await);
        world.advance(1);
    }
    let follow = async |id: domain::NotificationId| -> Vec<_> {
        let events = world.site.buffer.events_of(id.into(), 100).await.unwrap();
        assert!(events.iter().all(|e| e.message == Some(id.into()) && e.n == 1));
        events.into_iter().rev().map(|e| (e.what, e.at)).collect()
    };
    let accepted = world.message(ids[7].into()).await.unwrap().created_at;
    assert_eq!(follow(ids[7]).await, [(What::Queued, accepted)]);
    world.central.comes_back();
    until("an empty buffer", || world.waiting() == 0).await;
    let handed = world.clock.now();
    let both = [(What::Queued, accepted), (What::Delivered, handed)];
    assert_eq!(follow(ids[7]).await, both);
    let batched = world.site.buffer.events(None, 1_000).await.unwrap();
    assert!(batched.len() < 40, "there is no line for each: {}", batched.len());
    assert_eq!(follow(domain::NotificationId::mint()).await, []);
    agent.stop().await;
}

#[tokio::test]
async fn tracking_tells_who_acted_on_a_call_last() {
    let world = World::new();
    world.systems.always(Reply::Permanent);
    let id = world.site.send(a_queued_call("erp")).await.unwrap().id;
    world.sweep().await;
    assert_eq!(world.tracking(id).await.actor, None);
    world.site.buffer.requeue(id, &somebody()).await.unwrap();
    world.systems.always(Reply::Delivered);
    world.sweep().await;
    let tracking = world.tracking(id).await;
    assert_eq!(
        (tracking.status, tracking.actor.as_deref()),
        (OperationStatus::Delivered, Some("user:anna"))
    );
    let followed = world.site.buffer.events_of(id, 10).await.unwrap();
    let what: Vec<_> = followed.iter().rev().map(|e| e.what).collect();
    assert_eq!(what, [What::Queued, What::Parked, What::Retry, What::Delivered]);
}

#[tokio::test]
async fn the_nil_id_is_nobodys() {
    let world = World::new();
    let mut unset = a_notification("n");
    unset.options.message_id = Some(MessageId(Uuid::nil()));
    let told = world.site.send(unset).await;
    assert!(matches!(told, Err(SendError::Invalid(_))), "{told:?}");
}

#[tokio::test]
async fn a_waiting_notification_can_be_given_up_and_stays_given_up() {
    let world = World::new();
    world.central.goes_down();
    let mut unwanted = a_notification("n");
    unwanted.options.message_id = Some(MessageId(Uuid::now_v7()));
    let id = world.site.send(unwanted.clone()).await.unwrap().id;
    world.site.buffer.discard_waiting(id, &somebody()).await.unwrap();
    assert_eq!(world.waiting(), 0);
    let again = world.site.send(unwanted).await.unwrap();
    assert_eq!(
        (again.duplicate, again.status),
        (true, Some(OperationStatus::Discarded))
    );
    assert_eq!(world.events().await, [What::Queued, What::Discard]);
    world.assert_counted().await;
}
