//! Schedules that several are at, and looks that find more than fits.

use super::events::{claim, due, emit, event, message, notification, publish_now, publish_pending, waiting};
use crate::harness::*;
use domain::{
    Channel, Clock, LeaseToken, ScheduleStatus,
    event::{CameTo, ScheduledMessage},
};
use store::{
    events::{DueSchedule, NewEvent, PublishSchedule, ScheduleEnd, SchedulesDue, SettleSchedule},
    outbox::Ingested,
};

pub async fn a_schedule_touched_while_it_is_looked_at_is_looked_at_again(t: &TestStore) {
    let lane = t.lane("mail").await;
    let row = waiting(t, "1", HOUR).await;
    t.clock.advance(HOUR);
    let read_before = claim(t).await.remove(0).schedule.seq;
    // Another event of the entity: the date has moved.
    emit(t, vec![event("1")]).await;
    let moved = due(t).await.remove(0);
    t.store
        .publish_events(vec![publish_now(t, &moved, vec![])])
        .await
        .unwrap();
    let settle = SettleSchedule {
        seq: read_before,
        token: LeaseToken(7),
        to: ScheduleEnd::Waits {
            due_at: t.clock.now() + DAY,
            next_look_at: t.clock.now() + HOUR,
        },
    };
    t.store.settle_schedules(vec![settle]).await.unwrap();
    let publish = PublishSchedule {
        seq: read_before,
        token: LeaseToken(7),
        status: ScheduleStatus::Published,
        last_error: None,
        messages: vec![],
        notifications: vec![notification(lane)],
    };
    assert_eq!(t.store.publish_schedules(vec![publish]).await.unwrap(), [None]);
    let again = claim(t).await;
    assert_eq!(again.len(), 1, "at once, not after an hour or a lease");
    assert_eq!(again[0].schedule.event, row.id);
}

pub async fn a_schedule_that_was_given_back_tells_whether_its_entity_was_touched_since(t: &TestStore) {
    waiting(t, "1", HOUR).await;
    t.clock.advance(HOUR);
    let claim = async |token: i64| {
        let mut due = t
            .store
            .claim_schedules(LeaseToken(token), MINUTE, 10)
            .await
            .unwrap();
        due.rows.remove(0)
    };
    let give_back = async |seq: i64, token: i64| {
        let (after, error) = (MINUTE, "no answer yet".to_owned());
        let settle = SettleSchedule {
            seq,
            token: LeaseToken(token),
            to: ScheduleEnd::Held { after, error },
        };
        t.store.settle_schedules(vec![settle]).await.unwrap();
    };
    let first = claim(1).await;
    assert_eq!(first.held_by, None, "nobody asked before");
    let seq = first.schedule.seq;
    give_back(seq, 1).await;
    let mut late = PublishSchedule {
        seq,
        token: LeaseToken(1),
        status: ScheduleStatus::Published,
        last_error: None,
        messages: vec![],
        notifications: vec![],
    };
    let published = t.store.publish_schedules(vec![late.clone()]).await.unwrap();
    assert_eq!(published, [None], "what was given back is no claim");
    t.clock.advance(MINUTE);
    assert_eq!(claim(2).await.held_by, Some(LeaseToken(1)));
    give_back(seq, 2).await;
    // Its turn has come already, so that nothing but the mark has to change.
    t.clock.advance(MINUTE);
    emit(t, vec![event("1")]).await;
    let moved = due(t).await.remove(0);
    let publish = publish_now(t, &moved, vec![]);
    t.store.publish_events(vec![publish]).await.unwrap();
    assert_eq!(claim(3).await.held_by, None, "what was asked is from before");
    late.token = LeaseToken(3);
    let published = t.store.publish_schedules(vec![late]).await.unwrap();
    assert_eq!(published, [Some(vec![])]);
}

pub async fn what_two_replays_made_of_a_schedule_is_named_by_it(t: &TestStore) {
    let lane = t.lane("mail").await;
    emit(t, vec![event("1")]).await;
    let row = due(t).await.remove(0);
    let skipped = |channel| ScheduledMessage {
        channel,
        came_to: CameTo::Skipped,
        notification: None,
        reason: Some("No recipient".into()),
        ..message(&notification(lane))
    };
    let mut work = publish_now(t, &row, vec![]);
    work.schedule.messages = vec![skipped(Channel::Email), skipped(Channel::Sms)];
    t.store.publish_events(vec![work]).await.unwrap();
    let (mail, sms) = (notification(lane), notification(lane));
    let made = |channel, new: &store::outbox::NewNotification| ScheduledMessage {
        channel,
        ..message(new)
    };
    // Each read the schedule before the other wrote it.
    let extend = async |channel, new: &store::outbox::NewNotification| {
        let (id, by) = ((TENANT, row.id), admin());
        let (messages, notifications) = (vec![made(channel, new)], vec![new.clone()]);
        t.store.extend_schedule(id, messages, notifications, &by).await
    };
    let (one, other) = tokio::join!(extend(Channel::Email, &mail), extend(Channel::Sms, &sms));
    assert_eq!(one.unwrap(), Some(vec![Ingested::Accepted]));
    assert_eq!(other.unwrap(), Some(vec![Ingested::Accepted]));
    let named = async || t.store.schedule(TENANT, row.id).await.unwrap().unwrap().messages;
    let expected = [made(Channel::Email, &mail), made(Channel::Sms, &sms)];
    assert_eq!(named().await, expected);
    // The same once more is found, and is listed as it was made.
    extend(Channel::Email, &mail).await.unwrap();
    let refused = vec![skipped(Channel::Sms)];
    let id = (TENANT, row.id);
    t.store
        .extend_schedule(id, refused, vec![], &admin())
        .await
        .unwrap();
    assert_eq!(named().await, expected);
}

pub async fn long_payloads_are_read_a_few_at_a_time(t: &TestStore) {
    let long = NewEvent {
        payload: "x".repeat(3 << 20),
        ..event("1")
    };
    for _ in 0..5 {
        let one = NewEvent {
            id: domain::EventId::mint(),
            ..long.clone()
        };
        emit(t, vec![one]).await;
    }
    emit(t, vec![event("2"), event("3")]).await;
    let first = t.store.due_events(None, 100).await.unwrap();
    assert_eq!((first.rows.len(), first.more), (3, true));
    let place = first.rows.last().map(|event| event.place());
    let second = t.store.due_events(place, 100).await.unwrap();
    assert_eq!((second.rows.len(), second.more), (4, false));
}

pub async fn long_payloads_are_claimed_with_their_schedules_a_few_at_a_time(t: &TestStore) {
    for entity in ["1", "2", "3", "4", "5"] {
        let long = NewEvent {
            payload: "x".repeat(3 << 20),
            ..event(entity)
        };
        emit(t, vec![long]).await;
        let row = due(t).await.remove(0);
        publish_pending(t, &row, HOUR).await;
    }
    waiting(t, "6", HOUR).await;
    t.clock.advance(HOUR);
    let claim = async |token| {
        t.store
            .claim_schedules(LeaseToken(token), MINUTE, 100)
            .await
            .unwrap()
    };
    let entities = |due: &SchedulesDue| -> Vec<String> {
        let entity = |due: &DueSchedule| due.event.entity_id.clone();
        due.rows.iter().map(entity).collect()
    };
    let first = claim(1).await;
    assert_eq!(
        (entities(&first), first.more),
        (vec!["1".into(), "2".into(), "3".into()], true)
    );
    let second = claim(2).await;
    assert_eq!(
        (entities(&second), second.more),
        (vec!["4".into(), "5".into(), "6".into()], false)
    );
    assert!(claim(3).await.rows.is_empty(), "each is claimed once");
}
