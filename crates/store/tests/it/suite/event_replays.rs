//! Replays that meet a refusal, and events that come to nothing and still tell of their entity.

use super::events::{claim, due, emit, event, message, notification, publish_now, schedule, waiting};
use crate::harness::*;
use domain::{
    EventType, ScheduleStatus,
    event::{CameTo, Dedupe},
};
use store::{
    events::{EventEnd, NewEvent, NewSchedule, PublishEvent, SettleEvent},
    outbox::Ingested,
};

pub async fn in_a_replay_what_is_refused_is_listed_and_all_the_others_are_made(t: &TestStore) {
    let lane = t.lane("mail").await;
    emit(t, vec![event("1")]).await;
    let row = due(t).await.remove(0);
    let work = publish_now(t, &row, vec![]);
    t.store.publish_events(vec![work]).await.unwrap();
    let mut new = vec![notification(lane), notification(lane), notification(lane)];
    new[1].submission.content.body = "nul\0".into();
    let mut messages: Vec<_> = new.iter().map(message).collect();
    for (n, message) in messages.iter_mut().enumerate() {
        message.template_name = n.to_string();
    }
    let id = (TENANT, row.id);
    let answers = t.store.extend_schedule(id, messages, new, &admin()).await;
    let answers = answers.unwrap().unwrap();
    assert_eq!(answers[0], Ingested::Accepted);
    assert!(matches!(answers[1], Ingested::Refused(_)), "{answers:?}");
    assert_eq!(answers[2], Ingested::Accepted);
    let schedule = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
    let came_to: Vec<_> = schedule.messages.iter().map(|m| m.came_to).collect();
    assert_eq!(came_to, [CameTo::Created, CameTo::Refused, CameTo::Created]);
    assert_eq!(t.claim(lane, 10).await.len(), 2);
}

async fn settled(t: &TestStore, new: NewEvent, to: EventEnd) {
    let id = new.id;
    emit(t, vec![new]).await;
    let seq = t.store.event(TENANT, id).await.unwrap().unwrap().seq;
    let error = "not published".into();
    let settle = SettleEvent { seq, to, error };
    t.store.settle_events(vec![settle]).await.unwrap();
}

/// What waits of the entity and is looked at now.
async fn looked_at(t: &TestStore) -> Vec<String> {
    let looked = claim(t).await;
    looked.into_iter().map(|due| due.schedule.entity_id).collect()
}

pub async fn an_event_that_is_not_published_has_its_entitys_schedules_looked_at_all_the_same(t: &TestStore) {
    for (n, end) in [EventEnd::Deferred, EventEnd::Failed, EventEnd::Retry(MINUTE)]
        .into_iter()
        .enumerate()
    {
        let (entity, other) = (format!("{n}"), format!("other {n}"));
        waiting(t, &entity, DAY).await;
        waiting(t, &other, DAY).await;
        let moved = NewEvent {
            event_type: "booking.moved".into(),
            ..event(&entity)
        };
        settled(t, moved, end).await;
        assert_eq!(looked_at(t).await, [entity], "{end:?}");
    }
    // Somebody else's outage says nothing about the entity, and would be told again and again.
    waiting(t, "held", DAY).await;
    settled(t, event("held"), EventEnd::Wait(MINUTE)).await;
    assert!(!looked_at(t).await.contains(&"held".to_owned()));
}

pub async fn an_entity_is_called_as_its_event_or_its_event_type_says_also_where_nothing_is_published(
    t: &TestStore,
) {
    let definition = EventType {
        entity_type: Some("booking".into()),
        ..EventType::new(Dedupe::Entity)
    };
    t.store
        .put_event_type(TENANT, "stay.moved", &definition, &admin())
        .await
        .unwrap();
    let by_type = NewEvent {
        event_type: "stay.moved".into(),
        ..event("1")
    };
    let by_itself = NewEvent {
        event_type: "stay.left".into(),
        entity_type: Some("booking".into()),
        ..event("1")
    };
    let of_another = NewEvent {
        event_type: "stay.left".into(),
        entity_type: Some(" ".into()),
        ..event("1")
    };
    waiting(t, "1", DAY).await;
    for (new, looked) in [(by_type, true), (by_itself, true), (of_another, false)] {
        settled(t, new.clone(), EventEnd::Failed).await;
        assert_eq!(looked_at(t).await.len(), usize::from(looked), "{new:?}");
    }
}

pub async fn spaces_belong_to_what_an_event_calls_its_entity(t: &TestStore) {
    let called = |entity_type: &str| NewEvent {
        entity_type: Some(entity_type.into()),
        ..event("1")
    };
    emit(t, vec![called(" booking")]).await;
    let row = due(t).await.remove(0);
    let work = PublishEvent {
        seq: row.seq,
        schedule: NewSchedule {
            entity_type: " booking".into(),
            ..schedule(t, &row, ScheduleStatus::Pending, DAY)
        },
        notifications: vec![],
    };
    t.store.publish_events(vec![work]).await.unwrap();
    settled(t, called("booking"), EventEnd::Failed).await;
    assert!(looked_at(t).await.is_empty(), "another entity");
    settled(t, called(" booking"), EventEnd::Failed).await;
    assert_eq!(looked_at(t).await, ["1"]);
}
