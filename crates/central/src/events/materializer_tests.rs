//! What one sweep of the outbox takes.

use super::*;
use crate::{Central, Settings, secrets::Sealer};
use delivery::Registry;
use domain::{Actor, Clock, EventId, TenantId};
use std::sync::Arc;
use store::{
    Store,
    events::{EventFilter, NewEvent},
    query::Page,
};
use testkit::TempStore;

pub(in crate::events) fn node(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Central {
    let registry = Registry::new(vec![]).unwrap();
    Central::new(
        store,
        registry,
        Sealer::ephemeral(),
        clock,
        Settings::named("node-1"),
    )
}

#[test]
fn a_sweep_that_published_nothing_does_not_say_published() {
    assert_eq!(work(2, 1).words, "published 2 events, 1 put off or failed");
    assert_eq!(work(0, 1).words, "1 event put off or failed");
    assert_eq!(work(0, 0).words, "no event waits");
}

/// Of a type that nobody defined: it ends as Deferred.
fn event(n: u32) -> NewEvent {
    NewEvent {
        id: EventId::mint(),
        tenant: "default".into(),
        topic: None,
        event_type: "booking.confirmed".into(),
        entity_type: None,
        entity_id: n.to_string(),
        payload: "{}".into(),
        schema_version: 1,
        correlation_id: None,
        due_at: None,
        source: String::new(),
    }
}

#[tokio::test]
async fn many_events_from_before_the_place_are_all_taken_by_the_sweep_that_finds_them() {
    let temp = TempStore::open();
    let central = node(temp.store.clone(), temp.clock.clone());
    let mut materializer = Materializer::new(central.events.clone());
    temp.store.emit((0..300).map(event).collect()).await.unwrap();
    assert_eq!(materializer.run().await.unwrap().settled, 300);
    let page = Page {
        limit: 300,
        after: None,
    };
    let deferred = temp.store.events(None, &EventFilter::default(), page).await;
    for event in deferred.unwrap().rows {
        let replayed = temp.store.replay_event(event.seq, &Actor::system()).await;
        assert!(replayed.unwrap().is_some());
    }
    materializer.looks.start_over();
    assert_eq!(materializer.run().await.unwrap().settled, 300);
}

/// A node that has seen events and looks again.
async fn at_its_place() -> (TempStore, Materializer) {
    let temp = TempStore::open();
    let central = node(temp.store.clone(), temp.clock.clone());
    let mut materializer = Materializer::new(central.events);
    temp.store.emit((0..3).map(event).collect()).await.unwrap();
    materializer.run().await.unwrap();
    (temp, materializer)
}

#[tokio::test]
async fn after_a_look_from_the_start_that_failed_comes_a_quick_one() {
    let (temp, mut materializer) = at_its_place().await;
    materializer.looks.start_over();
    temp.store.close().await;
    materializer.sweep().await;
    let next = materializer.looks.next(Instant::now(), false);
    assert_eq!(next.after.map(|place| place.seq), Some(3));
}

#[tokio::test]
async fn what_other_parts_of_a_failed_batch_committed_is_looked_for_at_once() {
    let temp = TempStore::open();
    let central = node(temp.store.clone(), temp.clock.clone());
    let published = event(1);
    let named = [(TenantId::DEFAULT, published.id)];
    temp.store.emit(vec![published]).await.unwrap();
    central.events.sweep().await.unwrap();
    central.wake.take();
    let failed = store::Error::unavailable("another part was refused");
    let done = central.events.publish_alone(&named, failed).await.unwrap();
    assert_eq!(done.lost, 1);
    assert!(central.wake.take().look);
}

#[tokio::test]
async fn a_node_that_is_not_the_reader_looks_from_the_start_no_more_often() {
    let temp = TempStore::open();
    let central = node(temp.store.clone(), temp.clock.clone());
    let mut materializer = Materializer::new(central.events);
    let lease = Duration::from_secs(10);
    assert!(temp.store.own_reader(OWN_OUTBOX, "node-2", lease).await.unwrap());
    temp.store.emit(vec![event(1)]).await.unwrap();
    assert_eq!(materializer.run().await.unwrap().total(), 0);
    materializer.looks.rest_from_start();
    let next = materializer.looks.next(Instant::now(), false);
    assert_eq!(next.after.map(|place| place.seq), Some(1));
}

#[cfg(feature = "postgres-tests")]
pub(in crate::events) mod on_postgres {
    use super::*;
    use domain::{EventStatus, SystemClock};
    use store::{
        Events,
        postgres::{PgStore, StoreTime},
    };
    use testkit::until;
    use tokio_postgres::{Client, NoTls};

    /// A database of one's own.
    pub async fn database() -> String {
        let server = std::env::var("WAYPOST_TEST_POSTGRES").expect("WAYPOST_TEST_POSTGRES names a server");
        let name = format!("looks_{}", uuid::Uuid::new_v4().simple());
        let make = format!("create database {name}");
        session(&server).await.batch_execute(&make).await.unwrap();
        let base = server.rsplit_once('/').expect("a database in the URL").0;
        format!("{base}/{name}")
    }

    pub async fn session(url: &str) -> Client {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    pub async fn emit(client: &Client) {
        emit_for(client, "1").await;
    }

    pub async fn emit_for(client: &Client, entity: &str) {
        let event = emit::Event::new("booking.confirmed", entity, "{}");
        event.emit(client).await.unwrap();
    }

    /// Other producers, who go on.
    pub struct Traffic {
        open: Client,
        next: Client,
        short: Client,
    }

    impl Traffic {
        pub async fn new(url: &str) -> Self {
            let traffic = Self {
                open: session(url).await,
                next: session(url).await,
                short: session(url).await,
            };
            traffic.open.batch_execute("begin").await.unwrap();
            traffic
        }

        /// Events of many short transactions and of one that was open at the last look; another one stays open.
        pub async fn goes_on(&mut self) {
            self.next.batch_execute("begin").await.unwrap();
            emit(&self.next).await;
            for _ in 0..5 {
                emit(&self.short).await;
            }
            self.open.batch_execute("commit").await.unwrap();
            std::mem::swap(&mut self.open, &mut self.next);
        }
    }

    #[tokio::test]
    async fn an_event_of_a_transaction_that_was_open_for_long_goes_out_without_a_look_from_the_start() {
        let url = database().await;
        let store = PgStore::open(&url, StoreTime::Database, "one".into())
            .await
            .unwrap();
        let central = node(Arc::new(store), Arc::new(SystemClock));
        let mut materializer = Materializer::new(central.events.clone());
        let (slow, quick) = (session(&url).await, session(&url).await);
        emit(&quick).await;
        assert_eq!(materializer.run().await.unwrap().settled, 1);
        slow.batch_execute("begin").await.unwrap();
        emit(&slow).await;
        for _ in 0..4 {
            emit(&quick).await;
            until("the later ones", async || {
                materializer.run().await.unwrap().settled == 1
            })
            .await;
            materializer.looks.pass_seconds();
        }
        materializer.looks.rest_from_start();
        assert_eq!(materializer.run().await.unwrap().settled, 0);
        slow.batch_execute("commit").await.unwrap();
        until("the late one", async || {
            materializer.run().await.unwrap().settled == 1
        })
        .await;
    }

    #[tokio::test]
    async fn what_is_committed_late_beside_traffic_is_taken_by_the_next_polls() {
        let url = database().await;
        let store = PgStore::open(&url, StoreTime::Database, "one".into())
            .await
            .unwrap();
        let store = Arc::new(store);
        let central = node(store.clone(), Arc::new(SystemClock));
        let mut materializer = Materializer::new(central.events);
        let (slow, mut traffic) = (session(&url).await, Traffic::new(&url).await);
        traffic.goes_on().await;
        materializer.run().await.unwrap();
        slow.batch_execute("begin").await.unwrap();
        emit_for(&slow, "late").await;
        for _ in 0..20 {
            traffic.goes_on().await;
            materializer.run().await.unwrap();
            materializer.looks.pass_seconds();
        }
        materializer.looks.rest_from_start();
        slow.batch_execute("commit").await.unwrap();
        let is_taken = async || {
            let page = Page {
                limit: 1_000,
                after: None,
            };
            let events = store.events(None, &EventFilter::default(), page).await;
            let late = |event: &Event| event.entity_id == "late" && event.status != EventStatus::Pending;
            events.unwrap().rows.iter().any(late)
        };
        for polls in 1.. {
            traffic.goes_on().await;
            materializer.run().await.unwrap();
            if is_taken().await {
                break;
            }
            // One may still be busy with what other transactions left.
            assert!(polls < 2, "not taken by {polls} polls");
            materializer.looks.pass_seconds();
        }
    }
}
