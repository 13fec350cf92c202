//! Sending to the standby: the active one takes it in, and the standby keeps what that cannot be asked for.

use crate::{
    cable::{Weather, to_the_first},
    pair_central::{LEASE, automatic_for, has_lease},
    pair_world::{Live, a_pair, has_all, notify, world},
    script::Reply,
    world::{a_call, a_notification, until},
};
use domain::{NotificationId, TrackedOperationId, lock::lock, pair::Role, site::OperationStatus};
use site::{SendError, Sent, pair::LeaseBy};
use std::time::Duration;
use store::buffer::MessageId;
use tokio::time::sleep;

fn own(live: &Live) -> Option<u64> {
    Some(live.agent()?.site.pair()?.own_rows())
}

/// It starts anew when it has made a whole copy.
async fn follows(live: &Live) {
    until("it follows", || {
        let standing = live.agent().and_then(|agent| agent.site.buffer.standing());
        standing.is_some_and(|standing| standing.caught_up)
    })
    .await;
}

/// Sends to the standby until it is kept there: it may not have noticed yet that the other is gone.
async fn keeps(live: &Live, subject: &str) -> Sent {
    let standby = live.becomes(Role::Standby).await;
    let sent = standby.site.send(a_notification(subject)).await.unwrap();
    let found = standby.site.whereabouts(NotificationId(sent.id.0)).await.unwrap();
    assert_eq!(found.status(), Some(domain::Status::Forwarding));
    sent
}

#[tokio::test]
async fn what_is_sent_to_the_standby_is_done_by_the_active_and_answered_as_if_it_had_been_sent_there() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    follows(&b).await;
    let standby = b.becomes(Role::Standby).await;
    let sent = standby.site.send(a_notification("tank 4")).await.unwrap();
    assert!(sent.was_buffered && !sent.duplicate);
    a.holds(1).await;
    assert!(has_all(&a, &[sent.id]).await);
    let again = {
        let mut same = a_notification("tank 4");
        same.options.message_id = Some(sent.id);
        standby.site.send(same).await.unwrap()
    };
    assert!(again.duplicate);
    let mut other = a_notification("tank 5");
    other.options.message_id = Some(sent.id);
    let conflict = standby.site.send(other).await;
    assert!(matches!(conflict, Err(SendError::Conflict(_))), "{conflict:?}");
    let call = standby.site.send(a_call("erp")).await.unwrap();
    assert_eq!(call.status, Some(OperationStatus::Delivered));
    assert_eq!(call.result, Some("done".into()));
    world.systems.always(Reply::Permanent);
    let refused = standby.site.send(a_call("erp")).await.unwrap();
    assert!(!refused.accepted);
    assert_eq!(refused.error.unwrap().http_status, Some(400));
    let mut too_soon = a_call("erp");
    too_soon.options.retry_interval = Some(Duration::ZERO);
    let invalid = standby.site.send(too_soon).await;
    assert!(matches!(invalid, Err(SendError::Invalid(_))), "{invalid:?}");
    assert_eq!(own(&b), Some(0));
    drop(standby);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn what_a_standby_keeps_while_the_active_is_away_survives_and_is_the_actives_when_it_is_back() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let before = notify(&a, 2).await;
    b.holds(2).await;
    let gone = a.end().await;
    let kept = keeps(&b, "tank 4").await;
    let standby = b.becomes(Role::Standby).await;
    let call = standby.site.send(a_call("erp")).await.unwrap();
    assert_eq!(call.status, Some(OperationStatus::Submitted));
    assert_eq!(world.systems.attempts(), 0, "a standby attempts nothing");
    let tracked = standby
        .site
        .tracking(TrackedOperationId(call.id.0))
        .await
        .unwrap();
    assert_eq!(tracked.unwrap().status, OperationStatus::Submitted);
    let mut known = a_notification("tank 0");
    known.options.message_id = Some(before[0]);
    let known = standby.site.send(known).await;
    assert!(known.unwrap().duplicate, "its copy knows it");
    assert_eq!(own(&b), Some(2));
    drop(standby);
    let b = b.end().await.run();
    b.becomes(Role::Standby).await;
    assert_eq!(own(&b), Some(2), "it was on the disk");
    let a = gone.run();
    until("nothing is the standby's alone", || own(&b) == Some(0)).await;
    until("the call is made", || world.systems.attempts_of(call.id) == 1).await;
    a.holds(3).await;
    b.holds(3).await;
    assert!(has_all(&a, &[kept.id]).await && has_all(&b, &[kept.id]).await);
    assert!(!world.folder.path().join("north-b.db.own").exists());
    a.end().await;
    b.end().await;
    assert_eq!(world.systems.attempts_of(call.id), 1);
}

#[tokio::test]
async fn what_a_standby_is_sent_reaches_central_while_the_active_goes_on_and_cannot_be_reached() {
    let mut world = world();
    let cable = to_the_first(&mut world, Weather::Cut).await;
    let central = automatic_for(&mut world, 15 * LEASE);
    let (a, b) = a_pair(&world).await;
    follows(&b).await;
    cable.becomes(Weather::Cut);
    has_lease(&a, LeaseBy::Witness).await;
    central.goes(false);
    let first = keeps(&b, "tank 4").await;
    let standby = b.becomes(Role::Standby).await;
    let call = standby.site.send(a_call("erp")).await.unwrap();
    // The active one may have a later one with this key, and have forwarded it.
    let mut replacing = a_notification("tank 4 again");
    replacing.payload = replacing
        .payload
        .replacen('{', r#"{"supersedesKey":"tank-4","#, 1);
    let replacing = standby.site.send(replacing).await.unwrap();
    central.goes(true);
    let second = keeps(&b, "tank 5").await;
    until("central has both", || lock(&central.taken).len() >= 2).await;
    let told = |id: MessageId| {
        let taken = lock(&central.taken);
        taken.iter().filter(|told| told.id.0 == id.0).count()
    };
    assert_eq!((told(first.id), told(second.id), told(call.id)), (1, 1, 0));
    assert_eq!(told(replacing.id), 0, "it is in order at the active one alone");
    assert_eq!(own(&b), Some(4), "they are the active's to know as well");
    assert_eq!(
        world.systems.attempts_of(call.id),
        0,
        "a standby attempts nothing"
    );
    drop(standby);
    cable.becomes(Weather::Up);
    until("nothing is the standby's alone", || own(&b) == Some(0)).await;
    assert!(has_all(&a, &[first.id, second.id, replacing.id]).await);
    // What is kept in the next file of its own is not taken for what central has.
    cable.becomes(Weather::Cut);
    let third = keeps(&b, "tank 6").await;
    until("central has the third", || told(third.id) == 1).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn whoever_takes_over_sends_what_it_accepted_as_the_standby() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let gone = a.end().await;
    let kept = keeps(&b, "tank 4").await;
    let standby = b.becomes(Role::Standby).await;
    let call = standby.site.send(a_call("erp")).await.unwrap();
    standby.site.pair().unwrap().promote(true).await.unwrap();
    drop(standby);
    b.becomes(Role::Active).await;
    until("the call is made", || world.systems.attempts_of(call.id) == 1).await;
    b.holds(2).await;
    assert!(has_all(&b, &[kept.id]).await);
    // The other gets them with the rest.
    let a = gone.run();
    a.becomes(Role::Standby).await;
    a.holds(2).await;
    assert!(has_all(&a, &[kept.id]).await);
    a.end().await;
    b.end().await;
    assert_eq!(world.systems.attempts_of(call.id), 1);
}

#[tokio::test]
async fn a_call_that_the_active_may_have_taken_is_not_kept_and_its_id_tells_what_became_of_it() {
    let mut world = world();
    let cable = to_the_first(&mut world, Weather::Cut).await;
    let (a, b) = a_pair(&world).await;
    follows(&b).await;
    world.systems.always(Reply::AtGate);
    let standby = b.becomes(Role::Standby).await;
    let sending = tokio::spawn(async move { standby.site.send(a_call("erp")).await });
    world.systems.waiting(1).await;
    cable.becomes(Weather::Cut);
    let id = match sending.await.unwrap() {
        Err(SendError::OutcomeUnknown(id)) => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(own(&b), Some(0));
    world.systems.open_gate();
    cable.becomes(Weather::Up);
    let again = sent_again(&b, id).await;
    assert!(again.duplicate);
    assert_eq!(world.systems.attempts_of(id), 1);
    a.end().await;
    b.end().await;
}

/// The same call under the same id, once the active answers again.
async fn sent_again(live: &Live, id: MessageId) -> Sent {
    testkit::eventually("the active one to answer", async || {
        let standby = live.becomes(Role::Standby).await;
        let mut call = a_call("erp");
        call.options.message_id = Some(id);
        standby.site.send(call).await.ok().filter(|sent| sent.duplicate)
    })
    .await
}

#[tokio::test]
async fn a_notification_that_the_active_may_have_taken_is_kept_under_its_id_and_is_there_once() {
    let mut world = world();
    let cable = to_the_first(&mut world, Weather::Cut).await;
    let (a, b) = a_pair(&world).await;
    follows(&b).await;
    let standby = b.becomes(Role::Standby).await;
    let site = &standby.site;
    let mut taken = 0;
    let sent = loop {
        // So that the connection is one that was used a moment ago: then nothing is asked before.
        cable.becomes(Weather::Up);
        site.send(a_notification("first")).await.unwrap();
        until("it is handed in", || own(&b) == Some(0)).await;
        taken = a.waiting().max(taken);
        cable.becomes(Weather::Deaf);
        let sending = {
            let standby = standby.clone();
            tokio::spawn(async move { standby.site.send(a_notification("second")).await })
        };
        while a.waiting() <= taken && !sending.is_finished() {
            sleep(Duration::from_millis(5)).await;
        }
        if a.waiting() > taken {
            cable.becomes(Weather::Cut);
            break sending.await.unwrap().unwrap();
        }
        sending.await.unwrap().unwrap();
    };
    assert!(sent.was_buffered && !sent.duplicate);
    assert_eq!(own(&b), Some(1), "nobody knows whether the active has it");
    let there = a.waiting();
    cable.becomes(Weather::Up);
    until("nothing is the standby's alone", || own(&b) == Some(0)).await;
    assert_eq!(a.waiting(), there, "it was there");
    assert!(has_all(&a, &[sent.id]).await);
    drop(standby);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_of_a_pair_that_was_never_active_takes_nothing() {
    let world = world();
    let [a, _] = world.machines.clone();
    let a = a.run();
    let standby = a.becomes(Role::Standby).await;
    let refused = standby.site.send(a_notification("no")).await;
    assert!(matches!(refused, Err(SendError::Standby(_))), "{refused:?}");
    drop(standby);
    a.end().await;
}
