//! What reading an outbox costs others: an application its own writes, and a poll beside a transaction that stays open.

use super::{
    context::Bench,
    database::Location,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::{
    Latencies,
    postgres::Reader,
    sqlite::{book, make_application},
};
use anyhow::ensure;
use domain::EventId;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use store::{
    events::{Event, EventPlace, NewEvent},
    sources::{EventSource, SourceSettings, SourceTenants},
};

/// Bookings of the application, two hundred a second.
const BOOKINGS: u32 = 2_000;
const EVERY: Duration = Duration::from_millis(5);
/// How long the last of them may take to come to central.
const PULL_TIMEOUT: Duration = Duration::from_secs(60);
/// Polls that are timed.
const POLLS: u32 = 500;
/// Events in one call.
const BATCH: u32 = 1_000;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    match bench.database.is_sqlite() {
        true => writes(bench).await,
        false => polls(bench).await,
    }
}

/// An application's own transactions on a SQLite file, with its outbox read and without.
async fn writes(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let alone = booked(bench, false).await?;
    let read = booked(bench, true).await?;
    let reading = |share: f64, name: &str| {
        Reading::millis(
            format!("write of an application whose outbox is read, {name}"),
            read.percentile(share),
        )
        .beside("nobody reads it", alone.percentile(share))
    };
    Ok(vec![
        reading(0.5, "p50"),
        reading(0.99, "p99").aiming(Target::Times(2.0)),
    ])
}

async fn booked(bench: &Bench, read: bool) -> anyhow::Result<Latencies> {
    let folder = bench.folder()?;
    let file = folder.path().join("application.db");
    make_application(&file)?;
    let source = source(&file)?;
    source.install().await?;
    let location = bench.fresh().await?;
    let sources = if read { vec![source] } else { vec![] };
    let mut rig = Rig::with_sources(&location, sources).await?;
    rig.start();
    let took = book(&file, BOOKINGS, EVERY).await?;
    if read {
        let end = Instant::now() + PULL_TIMEOUT;
        while waiting(&rig).await? {
            ensure!(Instant::now() < end, "the application's events were not read");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(took)
}

/// Whether events are still to come: each of them stays at central, deferred, because nobody said what follows from it.
async fn waiting(rig: &Rig) -> anyhow::Result<bool> {
    let page = store::query::Page {
        limit: 1,
        after: None,
    };
    let filter = store::events::EventFilter::default();
    let newest = rig.central.store.events(None, &filter, page).await?.rows;
    let last = (BOOKINGS - 1).to_string();
    Ok(newest.first().is_none_or(|event| event.entity_id != last))
}

fn source(file: &Path) -> anyhow::Result<Arc<EventSource>> {
    let settings = SourceSettings {
        name: "application".into(),
        url: format!("sqlite://{}", file.display()),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: true,
        keep: Duration::from_secs(3600),
        lookups: BTreeMap::new(),
    };
    Ok(Arc::new(EventSource::new(settings).map_err(anyhow::Error::msg)?))
}

/// A poll that finds nothing, before a transaction was left open and after `--rows` events came and went beside it.
async fn polls(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    let place = come_and_go(&rig, u64::from(BATCH)).await?;
    let before = poll(&rig, place).await?;
    let reader = match &location {
        Location::Database(url) => Some(Reader::open(url).await?),
        Location::Folder(..) => None,
    };
    let place = come_and_go(&rig, bench.scale.rows).await?;
    let beside = poll(&rig, place).await?;
    let whole = Instant::now();
    rig.central.store.due_events(None, 50).await?;
    let whole = whole.elapsed();
    if let Some(reader) = reader {
        reader.close().await?;
    }
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(vec![
        Reading::millis("poll beside a reader that stays", beside)
            .beside("before it came", before)
            .aiming(Target::Times(2.0))
            .note(format!(
                "a look from the start takes {:.1} ms, and at most a twentieth of the time",
                whole.as_secs_f64() * 1e3
            )),
    ])
}

/// So many events into the outbox and out of it, deferred; where the last of them stood.
async fn come_and_go(rig: &Rig, events: u64) -> anyhow::Result<Option<EventPlace>> {
    let (mut left, mut place) = (events, None);
    while left > 0 {
        let n = left.min(u64::from(BATCH));
        left -= n;
        rig.central.store.emit((0..n).map(event).collect()).await?;
        let due = rig.central.store.due_events(place, BATCH).await?.rows;
        place = due.last().map(Event::place).or(place);
        rig.central.events.sweep().await?;
    }
    Ok(place)
}

/// The mean of many, in milliseconds.
async fn poll(rig: &Rig, place: Option<EventPlace>) -> anyhow::Result<f64> {
    let start = Instant::now();
    for _ in 0..POLLS {
        rig.central.store.due_events(place, 50).await?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(POLLS))
}

fn event(n: u64) -> NewEvent {
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
