//! Notifications reach central once, in order, however the link and central behave.

use crate::{
    central::identity,
    world::{World, a_notification, secs, somebody, until},
};
use domain::{Channel, Content, NotificationId, ProviderId, Target, Timestamp};
use site::{
    Outgoing,
    forwarder::{ACK_MEMORY, Forwarder},
    payload::{self, NotificationPayload},
};
use store::buffer::{MessageStatus, What};

async fn notify_many(world: &World, n: usize) -> Vec<NotificationId> {
    let mut ids = vec![];
    for i in 0..n {
        ids.push(world.notify(&format!("n{i}")).await);
    }
    ids
}

fn forwarder(world: &World) -> Forwarder {
    Forwarder {
        buffer: world.site.buffer.clone(),
        uplink: world.central.clone(),
        settings: world.site.settings.clone(),
        clock: world.clock.clone(),
        of_pair: false,
    }
}

#[tokio::test]
async fn a_notification_is_forwarded_at_once_with_where_it_came_from() {
    let world = World::new();
    let agent = world.start().await;
    let id = world.notify("full").await;
    until("central to have it", || world.waiting() == 0).await;
    let row = world.central.inner.lock().unwrap().rows[0].clone();
    assert_eq!((row.id, row.content.subject.as_str()), (id, "full"));
    assert_eq!(row.instance.as_deref(), Some("tank-4"));
    assert_eq!(row.execution.as_deref(), Some("run-1"));
    agent.stop().await;
}

#[tokio::test]
async fn whatever_a_script_says_reaches_central_to_the_last_field() {
    let world = World::new();
    let agent = world.start().await;
    let said = |text: &str| Some(text.to_owned());
    let content = Content {
        channel: Some(Channel::Sms),
        provider: Some(ProviderId::new("modem")),
        target: Target::Recipients(vec!["+491511234567".into()]),
        subject: "Tank 4".into(),
        body: "Level 98 %".into(),
        body_html: said("<p>Level 98 %</p>"),
        type_data: said(r#"{"a":1}"#),
        entity_type: said("tank"),
        entity_id: said("4"),
        rule_name: said("High level"),
        rule_id: said("r7"),
        run_id: said("run-1"),
        supersedes_key: said("tank-4:level"),
        send_at: Some(Timestamp::from_millis(1_767_225_700_000)),
        expires_at: Some(Timestamp::from_millis(1_767_225_800_000)),
        event: None,
    };
    let payload = NotificationPayload {
        content: content.clone(),
        ..NotificationPayload::default()
    };
    let outgoing = Outgoing {
        payload: payload::text(&payload),
        ..a_notification("")
    };
    world.site.send(outgoing).await.unwrap();
    until("central to have it", || world.waiting() == 0).await;
    assert_eq!(world.central.inner.lock().unwrap().rows[0].content, content);
    agent.stop().await;
}

#[tokio::test]
async fn what_gathered_while_the_link_was_down_goes_out_in_order_as_soon_as_it_is_back() {
    let world = World::new();
    world.central.goes_down();
    let agent = world.start().await;
    let ids = notify_many(&world, 1_200).await;
    assert_eq!(world.waiting(), 1_200);
    world.central.comes_back();
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.central.rows(), ids);
    world.assert_counted().await;
    agent.stop().await;
}

#[tokio::test]
async fn a_lost_acknowledgement_makes_no_second_row() {
    let world = World::new();
    world.central.inner.lock().unwrap().lose_acks = 3;
    let agent = world.start().await;
    let ids = notify_many(&world, 20).await;
    until("an empty buffer", || world.waiting() == 0).await;
    let mut rows = world.central.rows();
    rows.sort();
    assert_eq!(rows, ids);
    assert!(ids.iter().any(|id| world.central.submissions_of(*id) > 1));
    agent.stop().await;
}

#[tokio::test]
async fn what_central_refuses_is_parked_alone() {
    let world = World::new();
    world.central.goes_down();
    let ids = notify_many(&world, 5).await;
    world.central.inner.lock().unwrap().refuse.insert(ids[2]);
    let agent = world.start().await;
    world.central.comes_back();
    until("only the refused one left", || {
        world.waiting() == 0 && world.parked() == 1
    })
    .await;
    let parked = world.message(ids[2].into()).await.unwrap();
    assert_eq!(parked.status, MessageStatus::Parked);
    assert!(parked.last_error.unwrap().contains("Pigeon"));
    assert_eq!(world.central.rows().len(), 4);
    // Somebody taught central that type; the operator sends it round again.
    world.central.inner.lock().unwrap().refuse.clear();
    world
        .site
        .buffer
        .requeue(ids[2].into(), &somebody())
        .await
        .unwrap();
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.central.rows().len(), 5);
    agent.stop().await;
}

#[tokio::test]
async fn not_now_is_asked_again_soon() {
    let world = World::new();
    world.central.inner.lock().unwrap().not_now = 2;
    let agent = world.start().await;
    notify_many(&world, 3).await;
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.parked(), 0);
    agent.stop().await;
}

#[tokio::test]
async fn a_payload_that_cannot_be_read_is_parked_with_the_reason() {
    let world = World::new();
    world.central.goes_down();
    notify_many(&world, 2).await;
    let mut damaged = a_notification("n");
    damaged.payload.truncate(10);
    let damaged = world.site.send(damaged).await.unwrap().id;
    notify_many(&world, 2).await;
    let agent = world.start().await;
    world.central.comes_back();
    until("the others delivered", || world.waiting() == 0).await;
    let parked = world.message(damaged).await.unwrap();
    assert_eq!(parked.status, MessageStatus::Parked);
    assert!(parked.last_error.unwrap().starts_with("CORRUPT_PAYLOAD"));
    agent.stop().await;
}

#[tokio::test]
async fn a_restart_forwards_what_was_left() {
    let world = World::new();
    world.central.goes_down();
    let ids = notify_many(&world, 50).await;
    let world = world.crash().await;
    assert_eq!(world.waiting(), 50);
    let agent = world.start().await;
    world.central.comes_back();
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.central.rows(), ids);
    agent.stop().await;
}

#[tokio::test]
async fn another_database_behind_central_is_sent_what_the_earlier_one_acknowledged() {
    let world = World::new();
    let agent = world.start().await;
    let ids = notify_many(&world, 30).await;
    until("an empty buffer", || world.waiting() == 0).await;
    world.central.goes_down();
    // A copy from before the last twelve was put back.
    world.central.forget(18);
    world.central.comes_back_as("two");
    world.central.has_rows(30).await;
    until("an empty buffer", || world.waiting() == 0).await;
    let mut rows = world.central.rows();
    rows.sort();
    assert_eq!(rows, ids);
    // Coming back as the same one sends nothing.
    let before = world.central.submissions_of(ids[0]);
    world.central.goes_down();
    world.central.comes_back_as("two");
    let last = world.notify("last").await;
    until("an empty buffer", || world.waiting() == 0).await;
    assert_eq!(world.central.submissions_of(ids[0]), before);
    assert_eq!(world.central.submissions_of(last), 1);
    world.assert_counted().await;
    agent.stop().await;
}

#[tokio::test]
async fn more_than_one_commit_takes_back_waits_again_as_a_whole_and_in_order() {
    let world = World::new();
    let agent = world.start().await;
    futures_util::future::join_all((0..4_500).map(|n| world.site.send(a_notification(&n.to_string())))).await;
    until("an empty buffer", || world.waiting() == 0).await;
    agent.stop().await;
    let ids = world.central.rows();
    assert_eq!(ids.len(), 4_500);
    let world = world.crash().await;
    let buffer = &world.site.buffer;
    assert_eq!(buffer.met_central(&identity("two")).await.unwrap(), 4_500);
    assert_eq!(buffer.met_central(&identity("two")).await.unwrap(), 0);
    let waiting = buffer.forwardable(0, 10_000, usize::MAX).await.unwrap();
    let waiting: Vec<_> = waiting
        .iter()
        .map(|message| NotificationId(message.id.0))
        .collect();
    assert_eq!(waiting, ids);
    world.assert_counted().await;
}

#[tokio::test]
async fn what_was_acknowledged_long_ago_by_a_database_still_there_is_not_sent_again() {
    let world = World::new();
    let old = world.notify("old").await;
    let buffer = &world.site.buffer;
    buffer.met_central(&identity("one")).await.unwrap();
    let rows = buffer.forwardable(0, 10, 1 << 20).await.unwrap();
    let handed = |seq| store::buffer::Handed {
        acked: vec![seq],
        refused: vec![],
    };
    assert!(
        buffer
            .handed_over(&identity("one"), handed(rows[0].seq))
            .await
            .unwrap()
    );
    world.clock.advance(ACK_MEMORY + secs(1));
    let young = world.notify("young").await;
    let rows = buffer.forwardable(0, 10, 1 << 20).await.unwrap();
    assert!(
        buffer
            .handed_over(&identity("one"), handed(rows[0].seq))
            .await
            .unwrap()
    );
    // The link was up all the time, and says so.
    buffer.forget_acked(buffer.now() - ACK_MEMORY).await.unwrap();
    assert_eq!(buffer.met_central(&identity("two")).await.unwrap(), 1);
    assert!(world.message(old.into()).await.is_none());
    assert!(world.message(young.into()).await.is_some());
    world.assert_counted().await;
}

#[tokio::test]
async fn an_acknowledgement_of_a_database_that_is_no_longer_there_clears_nothing() {
    let world = World::new();
    let id = world.notify("n").await;
    let buffer = &world.site.buffer;
    buffer.met_central(&identity("one")).await.unwrap();
    let seq = buffer.forwardable(0, 1, 1).await.unwrap()[0].seq;
    buffer.met_central(&identity("two")).await.unwrap();
    let handed = store::buffer::Handed {
        acked: vec![seq],
        refused: vec![],
    };
    assert!(!buffer.handed_over(&identity("one"), handed).await.unwrap());
    assert!(world.message(id.into()).await.is_some());
}

#[tokio::test]
async fn a_notification_with_a_limit_parks_when_central_stays_away_and_one_without_waits() {
    let world = World::new();
    world.central.goes_down();
    let patient = world.notify("patient").await;
    let mut limited = a_notification("limited");
    limited.options.max_retries = Some(2);
    let limited = world.site.send(limited).await.unwrap().id;
    let forwarder = forwarder(&world);
    for _ in 0..2 {
        forwarder.count_tries().await.unwrap();
        world.advance(30);
    }
    assert_eq!(
        world.message(limited).await.unwrap().status,
        MessageStatus::Parked
    );
    let waits = world.message(patient.into()).await.unwrap();
    assert_eq!((waits.status, waits.retry_count), (MessageStatus::Pending, 0));
    assert_eq!(
        world.events().await,
        [What::Queued, What::Queued, What::Retried, What::Parked]
    );
    world.assert_counted().await;
}

#[tokio::test]
async fn one_sweep_counts_a_try_for_every_notification_with_a_limit() {
    let world = World::new();
    world.central.goes_down();
    let limited: Vec<_> = (0..1_500)
        .map(|n| {
            let mut limited = a_notification(&n.to_string());
            limited.options.max_retries = Some(1);
            world.site.send(limited)
        })
        .collect();
    futures_util::future::join_all(limited).await;
    forwarder(&world).count_tries().await.unwrap();
    assert_eq!(world.parked(), 1_500);
    world.assert_counted().await;
}

#[tokio::test]
async fn news_reaches_central_once_and_a_failure_there_disturbs_no_delivery() {
    let world = World::new();
    world.central.inner.lock().unwrap().no_telemetry = true;
    let agent = world.start().await;
    for _ in 0..10 {
        assert!(world.call("erp").await.accepted);
    }
    let id = world.notify("n").await;
    world.central.has_rows(1).await;
    assert_eq!(world.central.rows(), [id]);
    world.central.inner.lock().unwrap().no_telemetry = false;
    until("ten pieces of news", || {
        world.central.inner.lock().unwrap().telemetry.len() == 10
    })
    .await;
    until("nothing left to tell", || {
        futures_util::future::FutureExt::now_or_never(world.site.buffer.telemetry_waiting())
            .is_none_or(|n| n.unwrap() == 0)
    })
    .await;
    agent.stop().await;
}
