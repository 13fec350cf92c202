//! Events into messages: how soon one goes out, and how fast many do.

use super::{
    context::Bench,
    database::Location,
    drain, event_commits, latency,
    load::{BULK, Load, submit},
    noop::Seen,
    reading::{Reading, Target},
    rig::Rig,
    stopwatch::{Rate, Stopwatch},
};
use crate::limits::{Latencies, postgres::Producer};
use anyhow::{Context, ensure};
use domain::{
    Actor, Channel, EventId, EventType, NotificationId, TenantId,
    event::{Dedupe, key::MessageOf},
    template::{TemplateContent, TemplateIdentity},
};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use store::{events::NewEvent, templates::NewTemplate};
use tokio::time::MissedTickBehavior;

pub(crate) const EVENT_TYPE: &str = "order.confirmed";
/// What an event becomes where many are measured.
const TEMPLATES: [&str; 3] = ["default", "second", "third"];
pub(crate) const PAYLOAD: &str = r#"{"orderId": 12345, "customer": {"name": "Ada Lovelace", "email": "ada@example.org"}, "total": "10.50",
    "orderedAt": "2026-03-15T10:00:00Z", "items": ["a lamp", "a table"]}"#;
const BODY: &str = "Dear {{customerName}}, thank you for your order {{orderId}} of {{orderedAt}}: {{items}}. It comes to {{total}} and \
    will be with you within three days. Should anything be wrong with it, answer this message within two weeks.";
/// Events worked on before the clock starts.
const WARM_UP: u64 = 200;
/// Ten seconds' worth, fifty a second.
const TIMED: u64 = 500;
const EVERY: Duration = Duration::from_millis(20);
/// How long anything may take before it counts as lost.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(900);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let mut readings = waiting(bench).await?;
    readings.extend(event_commits::price_of_notify(bench).await?);
    let (made, drained) = dispatcher_stopped(bench).await?;
    readings.push(
        Reading::of("events, dispatcher stopped", made)
            .beside("the dispatcher alone, delivering them", drained.per_second)
            .aiming(Target::Share(0.5)),
    );
    let limit = submitted(bench).await?;
    let delivered = dispatcher_running(bench).await?;
    readings.push(
        Reading::of("events, delivered", delivered)
            .beside("the same submitted 1,000 per call", limit.per_second)
            .aiming(Target::Share(0.6)),
    );
    Ok(readings)
}

/// From the commit of an event to the start of the handler.
async fn waiting(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let found = time(bench, false).await?;
    let mut readings = vec![
        Reading::millis("events p50", found.percentile(0.5)).aiming(Target::AtMost(200.0)),
        Reading::millis("events p99", found.percentile(0.99)),
    ];
    if !bench.database.is_sqlite() {
        let direct = latency::ours(bench).await?;
        let told = time(bench, true).await?;
        readings.push(
            Reading::millis("events p50, events.notify", told.percentile(0.5))
                .beside("submit to request", direct.percentile(0.5))
                .aiming(Target::Times(3.0)),
        );
    }
    Ok(readings)
}

/// On PostgreSQL the producer has a session of its own and nobody wakes the node but a NOTIFY, if it is asked for; on SQLite an
/// event comes in by the API, which wakes it.
async fn time(bench: &Bench, notify: bool) -> anyhow::Result<Latencies> {
    let location = bench.fresh().await?;
    let mut rig = Rig::on(&location).await?;
    set_up(&rig, &TEMPLATES[..1]).await?;
    let producer = match &location {
        Location::Database(url) => Some(Producer::connect(url).await?),
        Location::Folder(..) => None,
    };
    rig.start();
    fill(&rig, WARM_UP).await?;
    rig.central.events.wake();
    delivered(&rig.seen, WARM_UP).await?;
    // After the node has said at its start what its settings say.
    rig.central.store.notify_emits(notify).await?;
    location.settle().await?;
    rig.seen.watch();
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut committed: HashMap<NotificationId, Instant> = HashMap::new();
    for n in 0..TIMED {
        every.tick().await;
        let entity = format!("timed-{n}");
        let id = match &producer {
            Some(producer) => EventId(producer.emit(EVENT_TYPE, &entity, PAYLOAD).await?),
            None => rig.central.events.emit(event(&entity)).await?.id,
        };
        committed.insert(message_of(id, &entity, TEMPLATES[0]), Instant::now());
    }
    delivered(&rig.seen, WARM_UP + TIMED).await?;
    let arrivals = rig.seen.arrivals();
    let took = committed
        .iter()
        .filter_map(|(id, at)| Some(arrivals.get(id)?.saturating_duration_since(*at)));
    let latencies = Latencies(took.collect());
    ensure!(
        latencies.0.len() as u64 == TIMED,
        "{} of {TIMED} events arrived",
        latencies.0.len()
    );
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(latencies)
}

/// Messages per second: made of events while nothing is delivered, then delivered while nothing is made.
async fn dispatcher_stopped(bench: &Bench) -> anyhow::Result<(Rate, Rate)> {
    let (location, rig) = warm(bench).await?;
    let mut dispatcher = rig.dispatcher();
    dispatcher.sweep().await?;
    let events = bench.scale.rows;
    fill(&rig, events).await?;
    location.settle().await?;
    let watch = Stopwatch::start();
    let done = rig.central.events.sweep().await?;
    let made = watch.stop(messages(events));
    ensure!(
        done.published as u64 == events,
        "{} of {events} events were published",
        done.published
    );
    location.settle().await?;
    let drained = drain::sweep(&mut dispatcher, messages(events)).await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok((made, drained))
}

/// The same while they are delivered, as in a node that runs.
async fn dispatcher_running(bench: &Bench) -> anyhow::Result<Rate> {
    let (location, mut rig) = warm(bench).await?;
    rig.dispatcher().sweep().await?;
    let events = bench.scale.rows;
    fill(&rig, events).await?;
    location.settle().await?;
    let before = rig.seen.delivered();
    let watch = Stopwatch::start();
    rig.start();
    delivered(&rig.seen, before + messages(events)).await?;
    let rate = watch.stop(messages(events));
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

/// As many messages handed in by a caller, and delivered meanwhile.
async fn submitted(bench: &Bench) -> anyhow::Result<Rate> {
    let (location, mut rig) = warm(bench).await?;
    rig.dispatcher().sweep().await?;
    location.settle().await?;
    let load = Load::new("noop", Channel::Email);
    let rows = messages(bench.scale.rows);
    let before = rig.seen.delivered();
    let watch = Stopwatch::start();
    rig.start();
    let mut left = rows;
    while left > 0 {
        let n = left.min(BULK);
        left -= n;
        submit(&rig.central, load.messages(n)).await?;
    }
    delivered(&rig.seen, before + rows).await?;
    let rate = watch.stop(rows);
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

fn messages(events: u64) -> u64 {
    events.saturating_mul(TEMPLATES.len() as u64)
}

/// A node that knows the event type and has made messages before.
async fn warm(bench: &Bench) -> anyhow::Result<(Location, Rig)> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    set_up(&rig, &TEMPLATES).await?;
    fill(&rig, WARM_UP).await?;
    rig.central.events.sweep().await?;
    Ok((location, rig))
}

pub(crate) async fn set_up(rig: &Rig, templates: &[&str]) -> anyhow::Result<()> {
    let (tenant, by) = (TenantId::DEFAULT, Actor::system());
    rig.noop().await?;
    let mut definition = EventType::new(Dedupe::Event);
    definition.addresses = [(Channel::Email, "customer.email".to_owned())].into();
    let put = rig.central.events.put_type(tenant, EVENT_TYPE, &definition, &by);
    put.await.context("cannot set up the event type")?;
    for name in templates {
        let new = NewTemplate {
            tenant,
            identity: TemplateIdentity {
                event_type: EVENT_TYPE.into(),
                channel: Channel::Email,
                name: (*name).into(),
                language: None,
                scope: None,
            },
            content: TemplateContent {
                subject: Some("Order {{orderId}}".into()),
                body: BODY.into(),
                active: true,
                ..TemplateContent::default()
            },
        };
        let created = rig.central.templates.create(&new, &by).await;
        created.context("cannot set up a template")?;
    }
    Ok(())
}

fn event(entity: &str) -> NewEvent {
    NewEvent {
        id: EventId::mint(),
        tenant: "default".into(),
        topic: Some("orders".into()),
        event_type: EVENT_TYPE.into(),
        entity_type: None,
        entity_id: entity.into(),
        payload: PAYLOAD.into(),
        schema_version: 1,
        correlation_id: None,
        due_at: None,
        source: String::new(),
    }
}

/// So many events into the outbox, and nobody is told.
async fn fill(rig: &Rig, events: u64) -> anyhow::Result<()> {
    let mut left = events;
    while left > 0 {
        let n = left.min(BULK);
        let batch = (0..n).map(|i| event(&format!("{}", left - i))).collect();
        rig.central.store.emit(batch).await?;
        left -= n;
    }
    Ok(())
}

fn message_of(event: EventId, entity: &str, template: &str) -> NotificationId {
    let of = MessageOf {
        tenant: TenantId::DEFAULT,
        entity_type: "order",
        entity_id: entity,
        event_type: EVENT_TYPE,
        event,
        channel: Channel::Email,
        template,
    };
    of.key(Dedupe::Event).0
}

/// Waits until the far end has taken so many.
pub(crate) async fn delivered(seen: &Seen, n: u64) -> anyhow::Result<()> {
    let end = Instant::now() + DELIVERY_TIMEOUT;
    while seen.delivered() < n {
        ensure!(
            Instant::now() < end,
            "{} of {n} messages were delivered",
            seen.delivered()
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
