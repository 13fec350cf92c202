//! Events: the outbox, the fence, schedules, and what is said about types of events.

use crate::harness::*;
use domain::{
    Channel, Clock, EventId, EventStatus, EventType, LaneId, LeaseToken, ScheduleStatus, Status,
    event::{CameTo, Dedupe, ScheduledMessage},
};
use std::time::Duration;
use store::{
    events::{
        CancelSchedules, Event, EventEnd, MayBeOvertaken, NewEvent, NewSchedule, PublishEvent,
        PublishSchedule, ScheduleEnd, SettleEvent, SettleSchedule,
    },
    outbox::{Ingested, NewNotification},
};

pub fn event(entity: &str) -> NewEvent {
    NewEvent {
        id: EventId::mint(),
        tenant: "default".into(),
        topic: Some("booking.events".into()),
        event_type: "booking.confirmed".into(),
        entity_type: None,
        entity_id: entity.into(),
        payload: r#"{"guestEmail":"g@example.com","price":1.10}"#.into(),
        schema_version: 1,
        correlation_id: Some("c-1".into()),
        due_at: None,
        source: String::new(),
    }
}

pub async fn emit(t: &TestStore, events: Vec<NewEvent>) -> Vec<bool> {
    let answers = t.store.emit(events).await.unwrap();
    answers.into_iter().map(|a| a.duplicate).collect()
}

pub async fn due(t: &TestStore) -> Vec<Event> {
    t.store.due_events(None, 100).await.unwrap().rows
}

pub fn schedule(t: &TestStore, event: &Event, status: ScheduleStatus, wait: Duration) -> NewSchedule {
    let due_at = t.clock.now() + wait;
    NewSchedule {
        tenant: TENANT,
        event: event.id,
        event_type: event.event_type.clone(),
        entity_type: "booking".into(),
        entity_id: event.entity_id.clone(),
        status,
        due_at,
        next_look_at: (status == ScheduleStatus::Pending).then_some(due_at),
        last_error: None,
        messages: vec![],
    }
}

pub fn message(new: &NewNotification) -> ScheduledMessage {
    ScheduledMessage {
        template: "t1".into(),
        template_name: "default".into(),
        template_version: 1,
        channel: Channel::Email,
        came_to: CameTo::Created,
        notification: Some(new.submission.id),
        reason: None,
    }
}

pub fn publish_now(t: &TestStore, event: &Event, notifications: Vec<NewNotification>) -> PublishEvent {
    PublishEvent {
        seq: event.seq,
        schedule: NewSchedule {
            messages: notifications.iter().map(message).collect(),
            ..schedule(t, event, ScheduleStatus::Published, Duration::ZERO)
        },
        notifications,
    }
}

pub fn notification(lane: LaneId) -> NewNotification {
    NewNotification {
        submission: saying(mail(), |c| {
            c.entity_type = Some("booking".into());
            c.entity_id = Some("1".into());
        }),
        lane,
    }
}

pub async fn an_event_is_read_back_to_the_last_field(t: &TestStore) {
    let new = NewEvent {
        due_at: Some(t.clock.now() + HOUR),
        entity_type: Some("stay".into()),
        source: "shop".into(),
        ..event("12345")
    };
    assert_eq!(emit(t, vec![new.clone()]).await, [false]);
    let found = t.store.event(TENANT, new.id).await.unwrap().unwrap();
    assert_eq!(due(t).await, std::slice::from_ref(&found));
    assert_eq!(
        (found.tenant, found.tenant_name.as_str(), found.payload),
        (Some(TENANT), "default", new.payload)
    );
    assert_eq!(
        (found.topic, found.event_type, found.entity_type, found.entity_id),
        (new.topic, new.event_type, new.entity_type, new.entity_id)
    );
    assert_eq!(
        (
            found.schema_version,
            found.correlation_id,
            found.due_at,
            found.source
        ),
        (1, new.correlation_id, new.due_at, new.source)
    );
    assert_eq!(
        (
            found.status,
            found.attempts,
            found.last_error,
            found.created_at,
            found.published_at
        ),
        (EventStatus::Pending, 0, None, t.clock.now(), None)
    );
}

pub async fn an_event_that_comes_twice_is_one_row_within_its_tenant(t: &TestStore) {
    let one = event("1");
    let elsewhere = NewEvent {
        tenant: "elsewhere".into(),
        ..one.clone()
    };
    assert_eq!(
        emit(t, vec![one.clone(), one.clone(), elsewhere]).await,
        [false, true, false]
    );
    assert_eq!(emit(t, vec![one]).await, [true]);
    let rows = due(t).await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].tenant, None, "there is no tenant of that name");
}

pub async fn what_is_due_comes_in_order_of_arrival_and_a_place_is_only_a_hint(t: &TestStore) {
    emit(t, vec![event("1"), event("2"), event("3")]).await;
    let all = due(t).await;
    let entities = |rows: &[Event]| -> Vec<String> { rows.iter().map(|e| e.entity_id.clone()).collect() };
    assert_eq!(entities(&all), ["1", "2", "3"]);
    let after = t.store.due_events(Some(all[1].place()), 100).await.unwrap();
    assert_eq!(entities(&after.rows), ["3"]);
    assert_eq!(after.now, t.clock.now());
    assert_eq!(t.store.due_events(None, 2).await.unwrap().rows.len(), 2);
    assert_eq!(
        after.directory_version,
        t.store.directory_version().await.unwrap()
    );
    let none = t.store.due_events(Some(all[2].place()), 100).await.unwrap();
    assert_eq!((none.rows.len(), none.now), (0, t.clock.now()));
}

pub async fn publishing_is_the_fence(t: &TestStore) {
    let lane = t.lane("mail").await;
    emit(t, vec![event("1")]).await;
    let row = due(t).await.remove(0);
    let (one, other) = (notification(lane), notification(lane));
    let (first, second) = (one.submission.id, other.submission.id);
    let work = vec![publish_now(t, &row, vec![one])];
    assert_eq!(
        t.store.publish_events(work).await.unwrap(),
        [Some(vec![Ingested::Accepted])]
    );
    let late = vec![publish_now(t, &row, vec![other])];
    assert_eq!(
        t.store.publish_events(late).await.unwrap(),
        [None],
        "somebody was faster"
    );
    assert_eq!(t.status(first).await, Status::Pending);
    assert_eq!(
        t.store.get(TENANT, second).await.unwrap(),
        None,
        "and nothing was written"
    );
    assert!(due(t).await.is_empty());
    let event = t.store.event(TENANT, row.id).await.unwrap().unwrap();
    assert_eq!(
        (event.status, event.published_at),
        (EventStatus::Published, Some(t.clock.now()))
    );
    let schedule = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
    assert_eq!(schedule.status, ScheduleStatus::Published);
    assert_eq!(schedule.messages[0].notification, Some(first));
    assert_eq!(t.claim_one(lane).await.id, first, "it is claimed like any other");
}

pub async fn the_same_message_of_two_events_is_taken_in_once_and_found_once(t: &TestStore) {
    let lane = t.lane("mail").await;
    emit(t, vec![event("1"), event("1"), event("1")]).await;
    let rows = due(t).await;
    let shared = notification(lane);
    let work: Vec<_> = rows[..2]
        .iter()
        .map(|e| publish_now(t, e, vec![shared.clone()]))
        .collect();
    let answers = t.store.publish_events(work).await.unwrap();
    let pending = Ingested::Duplicate {
        same_content: true,
        status: Some(Status::Pending),
    };
    assert_eq!(
        answers,
        [Some(vec![Ingested::Accepted]), Some(vec![pending.clone()])]
    );
    let later = t
        .store
        .publish_events(vec![publish_now(t, &rows[2], vec![shared.clone()])])
        .await;
    assert_eq!(later.unwrap(), [Some(vec![pending])]);
    for (row, came_to) in rows.iter().zip([CameTo::Created, CameTo::Found, CameTo::Found]) {
        let schedule = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
        let message = &schedule.messages[0];
        assert_eq!(
            (message.came_to, message.notification),
            (came_to, Some(shared.submission.id))
        );
    }
    assert_eq!(t.claim(lane, 10).await.len(), 1);
}

pub async fn a_notification_that_is_refused_is_listed_and_all_the_others_go(t: &TestStore) {
    let lane = t.lane("mail").await;
    emit(t, (0..8).map(|n| event(&n.to_string())).collect()).await;
    let rows = due(t).await;
    let mut work: Vec<_> = rows
        .iter()
        .map(|e| publish_now(t, e, vec![notification(lane), notification(lane)]))
        .collect();
    work[5].notifications[0].submission.content.body = "nul\0".into();
    let answers = t.store.publish_events(work).await.unwrap();
    for (n, answer) in answers.iter().enumerate() {
        let answer = answer.as_ref().unwrap();
        assert_eq!(matches!(answer[0], Ingested::Refused(_)), n == 5, "{n}");
        assert_eq!(answer[1], Ingested::Accepted);
    }
    let schedule = t.store.schedule(TENANT, rows[5].id).await.unwrap().unwrap();
    let came_to: Vec<_> = schedule.messages.iter().map(|m| m.came_to).collect();
    assert_eq!(came_to, [CameTo::Refused, CameTo::Created]);
    assert_eq!(schedule.messages[0].notification, None);
    assert_eq!(t.claim(lane, 100).await.len(), 15);
}

pub async fn in_a_large_batch_each_gets_its_own_answer_and_events_of_one_entity_keep_their_order(
    t: &TestStore,
) {
    let lane = t.lane("mail").await;
    let (entities, rounds) = (60, 5);
    let new = (0..rounds).flat_map(|_| (0..entities).map(|n| event(&n.to_string())));
    emit(t, new.collect()).await;
    let rows = t.store.due_events(None, 1_000).await.unwrap().rows;
    let shared: Vec<_> = (0..entities).map(|_| notification(lane)).collect();
    let work = |n: usize| {
        publish_now(
            t,
            &rows[n],
            vec![shared[n % entities].clone(), notification(lane)],
        )
    };
    let (lost, refused) = (entities + 7, 2 * entities + 11);
    t.store.publish_events(vec![work(lost)]).await.unwrap();
    let mut batch: Vec<_> = (0..rows.len()).map(work).collect();
    batch[refused].notifications[1].submission.content.body = "nul\0".into();
    let answers = t.store.publish_events(batch).await.unwrap();
    assert_eq!(answers.len(), entities * rounds);
    for (n, answer) in answers.iter().enumerate() {
        let Some(answer) = answer else {
            assert_eq!(n, lost, "nobody else had this one");
            continue;
        };
        let first_of_its_entity = n < entities && n % entities != lost % entities;
        assert_eq!(answer[0].is_new(), first_of_its_entity, "{n}");
        assert_eq!(matches!(answer[1], Ingested::Refused(_)), n == refused, "{n}");
        assert_eq!(answer[1].is_new(), n != refused, "{n}");
    }
    assert!(due(t).await.is_empty());
    assert_eq!(t.claim(lane, 1_000).await.len(), entities + entities * rounds - 1);
}

pub async fn what_kept_an_event_is_written_down_and_counted_only_if_it_was_its_own(t: &TestStore) {
    emit(
        t,
        vec![event("failed"), event("deferred"), event("again"), event("held")],
    )
    .await;
    let rows = due(t).await;
    let ends = [
        EventEnd::Failed,
        EventEnd::Deferred,
        EventEnd::Retry(MINUTE),
        EventEnd::Wait(MINUTE),
    ];
    let settle = rows.iter().zip(ends).map(|(event, to)| SettleEvent {
        seq: event.seq,
        to,
        error: "a reason\0 in words".into(),
    });
    t.store.settle_events(settle.collect()).await.unwrap();
    assert!(due(t).await.is_empty());
    let mut found = vec![];
    for row in &rows {
        let event = t.store.event(TENANT, row.id).await.unwrap().unwrap();
        assert_eq!(event.last_error.as_deref(), Some("a reason in words"));
        found.push((event.status, event.attempts));
    }
    assert_eq!(
        found,
        [
            (EventStatus::Failed, 1),
            (EventStatus::Deferred, 0),
            (EventStatus::Pending, 1),
            (EventStatus::Pending, 0)
        ]
    );
    t.clock.advance(MINUTE);
    assert_eq!(due(t).await.len(), 2);
}

pub async fn an_outbox_has_one_reader_until_its_time_is_up(t: &TestStore) {
    let own = async |node: &str| t.store.own_reader("own", node, MINUTE).await.unwrap();
    assert!(own("n1").await && !own("n2").await && own("n1").await);
    t.clock.advance(MINUTE);
    assert!(own("n2").await && !own("n1").await);
}

pub async fn waiting(t: &TestStore, entity: &str, wait: Duration) -> Event {
    emit(t, vec![event(entity)]).await;
    let row = due(t).await.remove(0);
    publish_pending(t, &row, wait).await;
    row
}

pub async fn publish_pending(t: &TestStore, row: &Event, wait: Duration) {
    let work = PublishEvent {
        seq: row.seq,
        schedule: schedule(t, row, ScheduleStatus::Pending, wait),
        notifications: vec![],
    };
    assert_eq!(t.store.publish_events(vec![work]).await.unwrap(), [Some(vec![])]);
}

pub async fn claim(t: &TestStore) -> Vec<store::events::DueSchedule> {
    let token = LeaseToken(7);
    t.store.claim_schedules(token, MINUTE, 10).await.unwrap().rows
}

pub async fn a_schedule_is_claimed_at_its_time_and_published_by_who_holds_it(t: &TestStore) {
    let lane = t.lane("mail").await;
    let row = waiting(t, "1", HOUR).await;
    assert!(claim(t).await.is_empty());
    t.clock.advance(HOUR);
    let due = claim(t).await.remove(0);
    assert_eq!(
        (due.schedule.event, due.event.id, due.event.payload),
        (row.id, row.id, row.payload)
    );
    assert!(claim(t).await.is_empty(), "it is held");
    let new = notification(lane);
    let publish = |token: i64| PublishSchedule {
        seq: due.schedule.seq,
        token: LeaseToken(token),
        status: ScheduleStatus::Published,
        last_error: None,
        messages: vec![message(&new)],
        notifications: vec![new.clone()],
    };
    assert_eq!(t.store.publish_schedules(vec![publish(8)]).await.unwrap(), [None]);
    assert_eq!(
        t.store.publish_schedules(vec![publish(7)]).await.unwrap(),
        [Some(vec![Ingested::Accepted])]
    );
    assert_eq!(t.store.publish_schedules(vec![publish(7)]).await.unwrap(), [None]);
    let schedule = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
    assert_eq!(
        (schedule.status, schedule.published_at, schedule.next_look_at),
        (ScheduleStatus::Published, Some(t.clock.now()), None)
    );
    assert_eq!(schedule.messages, [message(&new)]);
    assert_eq!(t.claim_one(lane).await.id, new.submission.id);
}

pub async fn a_schedule_whose_node_died_is_claimed_again(t: &TestStore) {
    waiting(t, "1", HOUR).await;
    t.clock.advance(HOUR);
    assert_eq!(claim(t).await.len(), 1);
    t.clock.advance(MINUTE);
    assert_eq!(claim(t).await.len(), 1);
}

pub async fn a_schedule_keeps_what_was_found_out_about_it(t: &TestStore) {
    let row = waiting(t, "1", HOUR).await;
    let settle = async |to: ScheduleEnd| {
        let due = claim(t).await.remove(0);
        let settle = SettleSchedule {
            seq: due.schedule.seq,
            token: LeaseToken(7),
            to,
        };
        t.store.settle_schedules(vec![settle]).await.unwrap();
        t.store.schedule(TENANT, row.id).await.unwrap().unwrap()
    };
    t.clock.advance(HOUR);
    let moved = t.clock.now() + DAY;
    let kept = settle(ScheduleEnd::Waits {
        due_at: moved,
        next_look_at: t.clock.now() + HOUR,
    })
    .await;
    assert_eq!((kept.status, kept.due_at), (ScheduleStatus::Pending, moved));
    t.clock.advance(HOUR);
    let after = |error: &str| (MINUTE, error.to_owned());
    let (wait, error) = after("no answer");
    let kept = settle(ScheduleEnd::Held { after: wait, error }).await;
    assert_eq!(
        (kept.attempts, kept.last_error.as_deref()),
        (0, Some("no answer"))
    );
    t.clock.advance(MINUTE);
    let (wait, error) = after("two rows");
    let kept = settle(ScheduleEnd::Retry { after: wait, error }).await;
    assert_eq!((kept.attempts, kept.due_at), (1, moved), "when it is due stays");
    t.clock.advance(MINUTE);
    let kept = settle(ScheduleEnd::Cancelled("Late".into())).await;
    assert_eq!(
        (kept.status, kept.last_error.as_deref(), kept.next_look_at),
        (ScheduleStatus::Cancelled, Some("Late"), None)
    );
    t.clock.advance(DAY);
    assert!(claim(t).await.is_empty());
    assert!(t.store.replay_schedule(TENANT, row.id, &admin()).await.unwrap());
    assert_eq!(claim(t).await.len(), 1);
}

pub async fn another_event_of_an_entity_has_its_schedules_looked_at(t: &TestStore) {
    waiting(t, "1", DAY).await;
    waiting(t, "2", DAY).await;
    let again = waiting(t, "1", DAY).await;
    let looked: Vec<_> = claim(t).await.into_iter().map(|d| d.schedule).collect();
    assert_eq!(looked.len(), 1);
    assert_eq!(looked[0].entity_id, "1");
    assert_ne!(looked[0].event, again.id, "only what was there before");
}

pub async fn cancelling_ends_what_waits_of_the_entity_and_came_before_and_names_its_notifications(
    t: &TestStore,
) {
    let lane = t.lane("mail").await;
    let row = waiting(t, "1", DAY).await;
    let other = waiting(t, "2", DAY).await;
    emit(t, vec![event("1")]).await;
    let calling_off = due(t).await.remove(0);
    t.store
        .publish_events(vec![publish_now(t, &calling_off, vec![])])
        .await
        .unwrap();
    let later = waiting(t, "1", DAY).await;
    let of = |event: &Event| {
        let mut new = notification(lane);
        new.submission.content.event = Some(Box::new(domain::EventOrigin {
            event_type: "booking.confirmed".into(),
            event_id: event.id,
            topic: None,
            correlation_id: None,
            template: "t1".into(),
            template_name: None,
            template_version: 3,
            critical: false,
        }));
        new
    };
    let new = of(&row);
    let id = t.accept(lane, new.submission.clone()).await;
    t.accept(lane, of(&later).submission).await;
    assert_eq!(
        t.get(id).await.submission.content.event,
        new.submission.content.event
    );
    t.accept(lane, notification(lane).submission).await;
    let cancel = CancelSchedules {
        tenant: TENANT,
        entity_type: "booking".into(),
        entity_id: "1".into(),
        event_types: vec!["booking.confirmed".into(), "booking.reminder".into()],
        before: calling_off.seq,
        reason: "booking.cancelled".into(),
    };
    assert_eq!(t.store.cancel_schedules(cancel).await.unwrap(), [id]);
    let status = async |id| t.store.schedule(TENANT, id).await.unwrap().unwrap().status;
    assert_eq!(status(row.id).await, ScheduleStatus::Cancelled);
    assert_eq!(status(other.id).await, ScheduleStatus::Pending);
    assert_eq!(status(later.id).await, ScheduleStatus::Pending, "it came after");
}

pub async fn only_what_failed_or_was_deferred_is_replayed(t: &TestStore) {
    emit(t, vec![event("1")]).await;
    let row = due(t).await.remove(0);
    let replay = async || t.store.replay_event(row.seq, &admin()).await.unwrap();
    assert_eq!(replay().await, Some(EventStatus::Pending));
    for end in [EventEnd::Failed, EventEnd::Deferred] {
        let settle = SettleEvent {
            seq: row.seq,
            to: end,
            error: "no".into(),
        };
        t.store.settle_events(vec![settle]).await.unwrap();
        assert!(due(t).await.is_empty());
        assert!(replay().await.unwrap().may_be_replayed());
        let again = due(t).await.remove(0);
        assert_eq!((again.attempts, again.last_error), (0, None));
    }
    assert_eq!(t.store.replay_event(row.seq + 1, &admin()).await.unwrap(), None);
}

pub async fn an_event_is_overtaken_only_by_a_later_one_of_its_entity_that_calls_it_off(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let earlier = waiting(t, "1", DAY).await;
    let late = waiting(t, "1", DAY).await;
    let may = |seq, tenant, entity: &str, by: &str| MayBeOvertaken {
        seq,
        tenant,
        entity_type: "booking".into(),
        entity_id: entity.into(),
        cancelled_by: vec!["nothing".into(), by.into()],
    };
    let by = "booking.confirmed";
    let asked = vec![
        may(earlier.seq, TENANT, "1", by),
        may(late.seq, TENANT, "1", by),
        may(earlier.seq - 1, TENANT, "2", by),
        may(earlier.seq - 2, elsewhere, "1", by),
        may(earlier.seq - 3, TENANT, "1", "booking.moved"),
    ];
    let found = t.store.overtaken(asked).await.unwrap();
    let found: Vec<_> = found
        .into_iter()
        .map(|one| (one.seq, one.by_type, one.by))
        .collect();
    assert_eq!(found, [(earlier.seq, by.to_owned(), late.id)]);
}

pub async fn a_schedule_that_ended_while_it_waited_says_when(t: &TestStore) {
    let row = waiting(t, "1", HOUR).await;
    t.clock.advance(MINUTE);
    let cancel = CancelSchedules {
        tenant: TENANT,
        entity_type: "booking".into(),
        entity_id: "1".into(),
        event_types: vec!["booking.confirmed".into()],
        before: row.seq + 1,
        reason: "called off".into(),
    };
    t.store.cancel_schedules(cancel).await.unwrap();
    let ended = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
    assert_eq!(
        (ended.settled_at, ended.published_at),
        (Some(t.clock.now()), None)
    );
    assert!(t.store.replay_schedule(TENANT, row.id, &admin()).await.unwrap());
    let again = t.store.schedule(TENANT, row.id).await.unwrap().unwrap();
    assert_eq!(again.settled_at, None);
}

pub async fn an_event_type_is_its_tenants_and_every_change_is_seen(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let version = async || t.store.directory_version().await.unwrap();
    let before = version().await;
    let mut definition = EventType::new(Dedupe::Entity);
    let put = async |definition: &EventType| {
        let put = t
            .store
            .put_event_type(TENANT, "booking.confirmed", definition, &admin())
            .await;
        put.unwrap()
    };
    assert_eq!(put(&definition).await.version, 1);
    assert!(version().await > before);
    definition.required = vec!["guestEmail".into()];
    let again = put(&definition).await;
    assert_eq!((again.version, &again.definition), (2, &definition));
    assert_eq!(again.updated_at, t.clock.now());
    let of = async |tenant| t.store.event_type(tenant, "booking.confirmed").await.unwrap();
    assert_eq!(of(TENANT).await, Some(again.clone()));
    assert_eq!(of(elsewhere).await, None);
    assert_eq!(t.store.event_types(TENANT).await.unwrap(), [again]);
    let delete = async |tenant| {
        t.store
            .delete_event_type(tenant, "booking.confirmed", &admin())
            .await
            .unwrap()
    };
    assert!(!delete(elsewhere).await && delete(TENANT).await && !delete(TENANT).await);
}
