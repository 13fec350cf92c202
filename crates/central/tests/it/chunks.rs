//! Many recipients, each a request of its own: asked for in chunks, so that a crash leaves few in doubt.

use crate::world::{TENANT, World, secs, somebody};
use central::Settings;
use domain::{
    Accepted, Failure, HoldReason, Limits, OnAmbiguous, Outcome, ProviderId, RecipientReport, RecipientState,
    Scope, Status,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use testkit::{Reply, a_notification};
use tokio_util::sync::CancellationToken;

fn crew(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("r{i:02}@x")).collect()
}

async fn one_by_one(on_ambiguous: OnAmbiguous, per_second: Option<f64>) -> World {
    let mut settings = Settings::named("node-1");
    settings.dispatch.interval = Duration::from_millis(20);
    settings.dispatch.grace = secs(60);
    let world = World::with(settings).await;
    world.mail.asks_one_by_one();
    world
        .provider("mail", "test-mail", |draft| {
            draft.on_ambiguous = Some(on_ambiguous);
            draft.limits = Some(Limits {
                concurrency: 32,
                per_second,
            });
        })
        .await;
    world
}

fn to(crew: &[String]) -> testkit::fixtures::ANotification {
    let addresses: Vec<&str> = crew.iter().map(String::as_str).collect();
    a_notification().to(&addresses)
}

fn in_state(row: &store::query::Notification, state: RecipientState) -> usize {
    row.recipients.iter().filter(|r| r.state == state).count()
}

#[tokio::test]
async fn everybody_is_asked_for_once_in_chunks() {
    let mut world = one_by_one(OnAmbiguous::Resend, None).await;
    let id = world.send(to(&crew(25))).await;
    assert_eq!(world.sweep().await.delivered, 1);
    let sizes: Vec<_> = world.mail.received().iter().map(|m| m.targets.len()).collect();
    assert_eq!(sizes, [10, 10, 5]);
    let row = world.get(id).await;
    assert_eq!(in_state(&row, RecipientState::Accepted), 25);
    assert!(row.recipients.iter().all(|r| r.tries == 1));
    assert!(
        row.recipients
            .iter()
            .all(|r| r.provider.as_deref() == Some("mail"))
    );
}

#[tokio::test]
async fn a_crash_where_messages_cost_money_leaves_one_chunk_in_doubt_and_the_others_go_on() {
    let mut world = one_by_one(OnAmbiguous::Park, None).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    world
        .mail
        .script(move |_, _| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::accepted(),
            _ => Reply::AtGate(domain::Outcome::Delivered(Default::default())),
        });
    let id = world.send(to(&crew(25))).await;
    let mail = world.mail.clone();
    {
        // The process ends while the second chunk is out.
        let sweep = world.dispatcher.sweep();
        tokio::select! {
            _ = sweep => panic!("it hangs"),
            () = mail.waiting(1) => {}
        }
    }
    world.dispatcher = world.central.dispatcher();
    world.mail.accepts();
    world.advance(world.central.settings.dispatch.lease + secs(1));
    world.sweep().await;
    let row = world.get(id).await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Parked, Some("PARTIAL"))
    );
    assert_eq!(in_state(&row, RecipientState::Accepted), 15);
    assert_eq!(in_state(&row, RecipientState::Ambiguous), 10);
    let asked: Vec<String> = world
        .mail
        .received()
        .into_iter()
        .flat_map(|m| m.targets)
        .collect();
    assert_eq!(asked, crew(25), "nobody twice");
    // A person decides that those in doubt have not got it.
    world.requeue(id).await;
    world.sweep().await;
    assert_eq!(world.status(id).await, Status::Delivered);
    assert_eq!(world.mail.received().last().unwrap().targets.len(), 10);
}

#[tokio::test]
async fn silence_in_one_chunk_where_messages_cost_money_leaves_the_rest_open() {
    let mut world = one_by_one(OnAmbiguous::Park, None).await;
    let silent = Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer");
    world.mail.answers(silent.into());
    let id = world.send(to(&crew(25))).await;
    assert_eq!(world.sweep().await.postponed, 1);
    let row = world.get(id).await;
    assert_eq!(in_state(&row, RecipientState::Ambiguous), 10);
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    world.mail.accepts();
    world.advance(secs(61));
    world.sweep().await;
    let row = world.get(id).await;
    assert_eq!(in_state(&row, RecipientState::Accepted), 15);
    assert_eq!(row.last_code.as_deref(), Some("PARTIAL"));
}

/// As an adapter tells it that stops after the first few: `n` took it, and with the next one this happened.
fn stopped_after(message: &delivery::Message, n: usize, failure: Option<&Failure>) -> Outcome {
    let took = message.targets.iter().take(n).map(|address| RecipientReport {
        address: address.clone(),
        result: Ok(Accepted::default()),
    });
    let failed = failure.map(|failure| RecipientReport {
        address: message.targets[n].clone(),
        result: Err(failure.clone()),
    });
    Outcome::Mixed(took.chain(failed).collect())
}

#[tokio::test]
async fn who_was_not_asked_after_a_failure_of_the_service_is_open_and_gets_it_once_it_is_mended() {
    let refused = Failure::permanent(Scope::Lane, "AUTH_FAILED", "401").holding(HoldReason::Auth);
    let busy = Failure::transient(Scope::Lane, "RATE_LIMITED", "429").after(Some(secs(30)));
    for failure in [refused, busy] {
        let mut world = one_by_one(OnAmbiguous::Park, None).await;
        let calls = AtomicUsize::new(0);
        let says = failure.clone();
        world
            .mail
            .script(move |message, _| match calls.fetch_add(1, Ordering::SeqCst) {
                0 => Reply::accepted(),
                _ => Reply::Now(stopped_after(message, 1, Some(&says))),
            });
        let id = world.send(to(&crew(25))).await;
        world.sweep().await;
        let row = world.get(id).await;
        assert_eq!((row.status, row.retry_count), (Status::Pending, 0), "{failure:?}");
        assert_eq!(in_state(&row, RecipientState::Accepted), 11, "{failure:?}");
        assert_eq!(in_state(&row, RecipientState::Open), 9, "{failure:?}");
        assert!(row.recipients[11..].iter().all(|r| r.tries == 0), "{failure:?}");
        world.mail.accepts();
        let mail = domain::ProviderId::new("mail");
        let (providers, somebody) = (&world.central.providers, crate::world::somebody());
        let tenant = TENANT;
        providers.resume(tenant, &mail, &somebody).await.unwrap();
        world.advance(secs(61));
        world.sweep().await;
        let row = world.get(id).await;
        assert_eq!(row.status, Status::Delivered, "{failure:?}");
        let mut asked: Vec<String> = world.mail.received()[2..]
            .iter()
            .flat_map(|m| m.targets.clone())
            .collect();
        asked.sort();
        assert_eq!(asked, crew(25)[11..], "nobody twice, nobody never");
    }
}

#[tokio::test]
async fn whose_turn_did_not_come_in_time_is_open_though_the_next_chunk_went_out() {
    let mut world = one_by_one(OnAmbiguous::Park, None).await;
    let calls = AtomicUsize::new(0);
    world
        .mail
        .script(move |message, _| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::Now(stopped_after(message, 4, None)),
            _ => Reply::accepted(),
        });
    let id = world.send(to(&crew(25))).await;
    world.sweep().await;
    assert_eq!(world.status(id).await, Status::Delivered);
    let received = world.mail.received();
    assert_eq!(received.last().unwrap().targets, crew(25)[4..10]);
    let row = world.get(id).await;
    assert!(
        row.recipients.iter().all(|r| r.tries == 1),
        "{:?}",
        row.recipients
    );
}

/// Why nobody is to be asked for any more.
enum Why {
    AnOperatorHolds,
    /// As another message, or another node, was told.
    TheServiceAskedForAPause,
}

#[tokio::test]
async fn a_row_under_way_goes_no_further_once_its_lane_is_held_or_paused() {
    for on_ambiguous in [OnAmbiguous::Park, OnAmbiguous::Resend] {
        for why in [Why::AnOperatorHolds, Why::TheServiceAskedForAPause] {
            let mut world = one_by_one(on_ambiguous, None).await;
            world
                .mail
                .script(|_, _| Reply::AtGate(Outcome::Delivered(Accepted::default())));
            let id = world.send(to(&crew(25))).await;
            let dispatcher = std::mem::replace(&mut world.dispatcher, world.central.dispatcher());
            let stop = CancellationToken::new();
            let running = tokio::spawn(dispatcher.run(stop.clone()));
            world.mail.waiting(1).await;
            let mail = ProviderId::new("mail");
            let (providers, store) = (&world.central.providers, &world.central.store);
            match why {
                Why::AnOperatorHolds => {
                    assert!(providers.hold(TENANT, &mail, None, &somebody()).await.unwrap());
                }
                Why::TheServiceAskedForAPause => {
                    let lane = store.provider(TENANT, &mail).await.unwrap().unwrap().lane;
                    store.pause_lane(lane, secs(600)).await.unwrap();
                }
            }
            // The second of them began after it was on record.
            let looks = || world.central.loops.reports()["dispatch"].runs;
            let enough = looks() + 2;
            while looks() < enough {
                tokio::task::yield_now().await;
            }
            world.mail.open_gate();
            stop.cancel();
            running.await.unwrap();
            assert_eq!(world.mail.received().len(), 1, "one chunk");
            let row = world.get(id).await;
            assert_eq!(in_state(&row, RecipientState::Accepted), 10);
            assert_eq!(in_state(&row, RecipientState::Ambiguous), 0);
            assert_eq!((row.status, row.retry_count), (Status::Pending, 0), "uncounted");
            providers.resume(TENANT, &mail, &somebody()).await.unwrap();
            world.advance(secs(601));
            world.sweep().await;
            assert_eq!(world.status(id).await, Status::Delivered);
            let asked: Vec<String> = world
                .mail
                .received()
                .into_iter()
                .flat_map(|m| m.targets)
                .collect();
            assert_eq!(asked, crew(25), "nobody twice, nobody never");
        }
    }
}

#[tokio::test]
async fn a_rate_counts_requests_and_not_rows() {
    let mut world = one_by_one(OnAmbiguous::Resend, Some(20.0)).await;
    world.send(to(&crew(12))).await;
    for _ in 0..30 {
        world.send(to(&crew(1))).await;
    }
    let delivered = world.sweep().await.delivered;
    let asked: usize = world.mail.received().iter().map(|m| m.targets.len()).sum();
    // One second's burst, and what was planned in the round in which the twelve became known.
    assert!(
        asked <= 32,
        "{asked} requests for {delivered} rows at 20 a second"
    );
    world.advance(secs(1));
    let before = asked;
    world.sweep().await;
    let asked: usize = world.mail.received().iter().map(|m| m.targets.len()).sum();
    assert!(asked - before <= 20, "{} in the second after", asked - before);
}
