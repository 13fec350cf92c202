//! Schedules that several are at, and looks that find more than fits.

use super::events::{claim, due, emit, event, message, notification, publish_now, waiting};
use crate::harness::*;
use domain::{
    Channel, Clock, LeaseToken, ScheduleStatus,
    event::{CameTo, ScheduledMessage},
};
use store::{
    events::{NewEvent, PublishSchedule, ScheduleEnd, SettleSchedule},
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
