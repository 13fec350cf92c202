//! What a node brings from a source, and where it stands with one in trouble.

use super::*;
use crate::{Central, events::materializer::tests::node};
use domain::EventStatus;
use rusqlite::Connection;
use store::{
    events::{Event, EventFilter},
    query::Page,
    sources::{SourceSettings, SourceTenants},
};
use testkit::TempStore;

/// An application's file, and a node that reads it.
struct World {
    application: Connection,
    pulled: Pulled,
    central: Central,
    temp: TempStore,
}

fn source(url: String) -> Arc<EventSource> {
    let settings = SourceSettings {
        name: "shop".into(),
        url,
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: true,
        keep: Duration::from_secs(3600),
        lookups: Default::default(),
    };
    Arc::new(EventSource::new(settings).unwrap())
}

impl World {
    async fn new() -> Self {
        let temp = TempStore::open();
        let file = temp.folder.path().join("shop.db");
        let application = Connection::open(&file).unwrap();
        let source = source(format!("sqlite://{}", file.display()));
        source.install().await.unwrap();
        Self {
            application,
            pulled: Pulled::new(&source),
            central: node(temp.store.clone(), temp.clock.clone()),
            temp,
        }
    }

    fn emit(&self, events: u32) {
        self.application.execute_batch("begin").unwrap();
        for n in 0..events {
            let event = n.to_string();
            let event = emit::Event::new("booking.confirmed", &event, "{}");
            event.emit_in(&self.application).unwrap();
        }
        self.application.execute_batch("commit").unwrap();
    }

    async fn pull(&mut self) -> usize {
        self.pulled.pull(&self.central.events).await.unwrap()
    }

    async fn batch(&mut self, first: bool, now: Instant) -> (usize, bool) {
        let batch = self.pulled.batch(&self.central.events, first, now);
        batch.await.unwrap()
    }

    /// Whether another node may read the source.
    async fn another_may_read(&self) -> bool {
        let lease = Duration::from_secs(10);
        let asked = self.temp.store.own_reader("source:shop", "node-2", lease);
        asked.await.unwrap()
    }

    async fn at_central(&self) -> usize {
        self.rows().await.len()
    }

    async fn rows(&self) -> Vec<Event> {
        let page = Page {
            limit: 1_000,
            after: None,
        };
        let all = EventFilter::default();
        let events = self.temp.store.events(None, &all, page);
        events.await.unwrap().rows
    }
}

#[test]
fn while_there_is_more_to_delete_than_a_chunk_it_goes_on() {
    assert_eq!(forget_again_after(0), FORGET_INTERVAL);
    assert_eq!(forget_again_after(999), FORGET_INTERVAL);
    assert_eq!(forget_again_after(1_000), FORGET_PAUSE);
}

#[tokio::test]
async fn many_events_from_before_the_place_are_brought_by_the_pull_that_finds_them() {
    let mut world = World::new().await;
    // As after a backup was put in the place: numbers are given out once more.
    world.pulled.looks.found(Some(10_000), Some(10_000), false);
    world.emit(700);
    assert_eq!(world.pull().await, 700);
}

#[tokio::test]
async fn a_pull_that_goes_on_keeps_the_source_and_deletes_what_it_may() {
    let mut world = World::new().await;
    world.emit(700);
    let start = Instant::now();
    for n in 0..3 {
        let passed = Duration::from_secs(4 * n);
        assert_eq!(world.batch(n == 0, start + passed).await, (200, true));
        world.temp.clock.advance(Duration::from_secs(4));
    }
    assert!(!world.another_may_read().await, "it was said again on the way");
    let later = start + FORGET_INTERVAL;
    world.batch(false, later).await;
    assert!(world.pulled.forget_at.is_some_and(|at| at > later));
}

#[tokio::test]
async fn a_look_from_the_start_comes_in_the_middle_of_a_pull() {
    let mut world = World::new().await;
    world.emit(700);
    let start = Instant::now();
    for first in [true, false] {
        assert_eq!(world.batch(first, start).await, (200, true));
    }
    world.pulled.looks.found(Some(10_000), Some(10_000), false);
    assert_eq!(
        world.batch(false, start).await,
        (0, false),
        "all of it is before the place"
    );
    // However slow the machine was, its rest is over.
    let later = start + Duration::from_secs(120);
    assert_eq!(world.batch(false, later).await, (200, true));
}

#[tokio::test]
async fn what_was_found_while_central_could_not_be_asked_is_found_again_at_once() {
    let mut world = World::new().await;
    world.emit(1);
    assert_eq!(world.pull().await, 1);
    world.emit(1);
    world.temp.store.close().await;
    let later = Instant::now() + Duration::from_secs(120);
    let failed = world.pulled.batch(&world.central.events, true, later).await;
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!(world.pulled.looks.next(later, false).after, None);
}

#[tokio::test]
async fn an_event_whose_time_cannot_be_read_is_there_as_one_that_failed_and_keeps_no_other() {
    let mut world = World::new().await;
    world.emit(1);
    let odd = "insert into waypost_outbox (event_type, entity_id, due_at) values ('booking.confirmed', '2', 'next week')";
    world.application.execute(odd, []).unwrap();
    assert_eq!(world.pull().await, 2);
    let left = world.pulled.source.pending(None, 10).await.unwrap();
    assert_eq!((left.events.len(), left.refused.len()), (0, 0));
    let rows = world.rows().await;
    let [failed, other] = &rows[..] else {
        panic!("both are there");
    };
    assert_eq!(
        (failed.status, other.status),
        (EventStatus::Failed, EventStatus::Pending)
    );
    let why = failed.last_error.as_deref().unwrap_or_default();
    assert!(why.starts_with("due_at must be a time"), "{why}");
    assert_eq!(failed.entity_id, "2");
}

#[tokio::test]
async fn a_mark_that_the_applications_write_is_in_the_way_of_is_alone_tried_again() {
    let mut world = World::new().await;
    world.emit(1);
    world.application.execute_batch("begin immediate").unwrap();
    assert_eq!(world.pull().await, 1);
    assert_eq!(world.pulled.trouble(), None, "the source answers");
    world.pulled.looks.start_over();
    assert_eq!(world.pull().await, 0, "it was brought");
    world.application.execute_batch("rollback").unwrap();
    world.emit(1);
    let soon = Instant::now() + Duration::from_secs(2);
    assert_eq!(world.batch(true, soon).await, (1, false));
    let left = world.pulled.source.pending(None, 10).await.unwrap();
    assert_eq!((left.events.len(), world.pulled.unmarked.len()), (0, 0));
    assert_eq!(world.at_central().await, 2);
}

#[tokio::test]
async fn marks_that_keep_failing_are_told_and_bring_no_more_than_so_many() {
    let mut world = World::new().await;
    world.emit(1);
    world.application.execute_batch("begin immediate").unwrap();
    let mut now = Instant::now();
    for _ in 0..MARK_FAILURES_TOLD {
        assert_eq!(world.pulled.trouble(), None);
        now += Duration::from_secs(60);
        world.batch(true, now).await;
    }
    let told = world.pulled.trouble().unwrap_or_default();
    assert!(told.starts_with("what was taken cannot be marked"), "{told}");
    world.application.execute_batch("rollback").unwrap();
    world.emit(1);
    world.application.execute_batch("begin immediate").unwrap();
    let mark = world.pulled.unmarked[0].clone();
    world.pulled.unmarked.resize(UNMARKED_LIMIT, mark);
    now += Duration::from_secs(60);
    assert_eq!(world.batch(true, now).await, (0, false));
    assert_eq!(world.at_central().await, 1);
    world.application.execute_batch("rollback").unwrap();
    now += Duration::from_secs(60);
    assert_eq!(world.batch(true, now).await, (0, true));
    assert_eq!(world.batch(true, now).await, (1, false));
    assert_eq!(world.pulled.trouble(), None);
}

#[tokio::test]
async fn a_node_that_is_not_the_reader_sees_that_a_source_answers_again() {
    let mut world = World::new().await;
    world.emit(1);
    assert!(world.another_may_read().await);
    let gone = SourceError::Unreachable("gone".into());
    world.pulled.hold(&gone);
    assert_eq!(world.pulled.trouble(), Some("gone"));
    let later = Instant::now() + Duration::from_secs(60);
    assert_eq!(world.batch(true, later).await, (0, false), "another brings them");
    assert_eq!(world.pulled.trouble(), None);
    let next = world.pulled.looks.next(later, true);
    assert_eq!(next.after, Some(1), "nor does it look from the start each time");
}

#[tokio::test]
async fn after_a_look_from_the_start_that_failed_comes_a_quick_one() {
    let mut world = World::new().await;
    world.emit(1);
    assert_eq!(world.pull().await, 1);
    let file = world.temp.folder.path().join("shop.db");
    let away = file.with_extension("away");
    std::fs::rename(&file, &away).unwrap();
    world.pulled.looks.start_over();
    assert_eq!(world.pull().await, 0);
    assert!(world.pulled.trouble().is_some());
    std::fs::rename(&away, &file).unwrap();
    let later = Instant::now() + Duration::from_secs(120);
    assert_eq!(world.pulled.looks.next(later, true).after, Some(1));
    world.batch(true, later).await;
    assert_eq!(world.pulled.trouble(), None);
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn what_was_written_by_a_transaction_that_was_open_for_long_comes_without_a_look_from_the_start() {
    use crate::events::materializer::tests::on_postgres::{database, emit, session};
    let mut world = World::new().await;
    let url = database().await;
    let source = source(url.clone());
    source.install().await.unwrap();
    world.pulled = Pulled::new(&source);
    let (slow, quick) = (session(&url).await, session(&url).await);
    emit(&quick).await;
    assert_eq!(world.pull().await, 1);
    slow.batch_execute("begin").await.unwrap();
    emit(&slow).await;
    for _ in 0..4 {
        emit(&quick).await;
        testkit::until("the later ones", async || world.pull().await == 1).await;
        world.pulled.looks.pass_seconds();
    }
    world.pulled.looks.rest_from_start();
    assert_eq!(world.pull().await, 0);
    slow.batch_execute("commit").await.unwrap();
    testkit::until("the late one", async || world.pull().await == 1).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn what_is_committed_late_beside_traffic_is_brought_by_the_next_polls() {
    use crate::events::materializer::tests::on_postgres::{Traffic, database, emit_for, session};
    let mut world = World::new().await;
    let url = database().await;
    let source = source(url.clone());
    source.install().await.unwrap();
    world.pulled = Pulled::new(&source);
    let (slow, mut traffic) = (session(&url).await, Traffic::new(&url).await);
    traffic.goes_on().await;
    assert_eq!(world.pull().await, 5);
    slow.batch_execute("begin").await.unwrap();
    emit_for(&slow, "late").await;
    for _ in 0..20 {
        traffic.goes_on().await;
        world.pull().await;
        world.pulled.looks.pass_seconds();
    }
    world.pulled.looks.rest_from_start();
    slow.batch_execute("commit").await.unwrap();
    for polls in 1.. {
        traffic.goes_on().await;
        world.pull().await;
        if world.rows().await.iter().any(|event| event.entity_id == "late") {
            break;
        }
        // One may still be busy with what other transactions left.
        assert!(polls < 2, "not brought by {polls} polls");
        world.pulled.looks.pass_seconds();
    }
}
