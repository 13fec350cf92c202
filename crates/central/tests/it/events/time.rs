//! Events that wait for their time, whose time moves, and that are called off.

use super::{CONFIRMED, EventWorld, new_event, secs, to_the_guest};
use crate::world::{TENANT, somebody};
use domain::{
    Channel, Clock, EventType, ScheduleStatus, Status,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use std::time::Duration;
use store::events::{EventEnd, SettleEvent};
use testkit::Database;

const DAY: Duration = Duration::from_secs(86_400);

/// The day before check-in at six in the evening; the clock of these tests starts on 1 January 2026.
fn reminder(late: Late) -> EventType {
    EventType {
        schedule: Some(ScheduleRule {
            from: "checkinDate".into(),
            r#as: DateMeaning::Date,
            offset: Some("-1d".into()),
            at: Some("18:00".into()),
            zone: Some("Asia/Kolkata".into()),
            late,
            grace: secs(600),
        }),
        ..to_the_guest()
    }
}

fn checkin(date: &str) -> String {
    format!(r#"{{"guestEmail": "g@example.com", "checkinDate": "{date}"}}"#)
}

async fn reminded(on: Database, late: Late) -> EventWorld {
    let world = EventWorld::new(on).await;
    world
        .event_type(TENANT, "booking.confirmed", &reminder(late))
        .await;
    world.template(TENANT, Channel::Email, "Tomorrow").await;
    world
}

pub async fn a_reminder_goes_out_the_evening_before_in_the_listings_zone(on: Database) {
    let mut world = reminded(on, Late::Send).await;
    let event = world.emit("default", "1", &checkin("2026-01-03T00:00:00Z")).await;
    world.run().await;
    let view = world.schedule(event).await;
    assert_eq!(view.status, ScheduleStatus::Pending);
    assert_eq!(view.schedule.due_at.to_string(), "2026-01-02T12:30:00.000Z");
    world.advance(DAY + secs(12 * 3600 + 29 * 60));
    world.run().await;
    assert!(world.mail.received().is_empty());
    world.advance(secs(60));
    world.run().await;
    assert_eq!(world.mail.received().len(), 1);
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Completed);
}

pub async fn an_event_says_itself_when_it_is_due(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut event = new_event("default", "booking.confirmed", "1", CONFIRMED);
    event.due_at = Some(world.temp.clock.now() + secs(3600));
    world.temp.store.emit(vec![event]).await.unwrap();
    world.run().await;
    assert!(world.mail.received().is_empty());
    world.advance(secs(3600));
    world.run().await;
    assert_eq!(world.mail.received().len(), 1);
}

pub async fn what_comes_too_late_is_skipped_or_sent_as_its_type_says(on: Database) {
    for (late, status, sent) in [
        (Late::Skip, ScheduleStatus::Cancelled, 0),
        (Late::Send, ScheduleStatus::Completed, 1),
    ] {
        let mut world = reminded(on, late).await;
        let event = world.emit("default", "1", &checkin("2026-01-01")).await;
        world.run().await;
        assert_eq!(world.schedule_status(event).await.0, status);
        assert_eq!(world.mail.received().len(), sent);
    }
}

pub async fn what_is_no_longer_worth_sending_is_not_sent(on: Database) {
    let mut world = EventWorld::new(on).await;
    let definition = EventType {
        expires_after: Some(secs(600)),
        ..reminder(Late::Send)
    };
    world.event_type(TENANT, "booking.confirmed", &definition).await;
    world.template(TENANT, Channel::Email, "Tomorrow").await;
    let event = world.emit("default", "1", &checkin("2026-01-01")).await;
    world.run().await;
    assert_eq!(
        world.schedule_status(event).await,
        (ScheduleStatus::Failed, "Expired".into())
    );
    let soon = world.emit("default", "2", &checkin("2026-01-03")).await;
    world.run().await;
    world.advance(2 * DAY - secs(11 * 3600 + 1800));
    world.central.events.sweep_schedules().await.unwrap();
    let id = world.schedule(soon).await.messages[0]
        .message
        .notification
        .unwrap();
    let row = world.temp.store.get(TENANT, id).await.unwrap().unwrap();
    let due = world.schedule(soon).await.schedule.due_at;
    assert_eq!(row.submission.content.expires_at, Some(due + secs(600)));
}

pub async fn a_cancelled_booking_ends_its_reminder_and_what_waits_to_be_sent(on: Database) {
    let mut world = reminded(on, Late::Send).await;
    let cancelled = EventType {
        cancels: vec!["booking.confirmed".into()],
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.cancelled", &cancelled).await;
    let waits = world.emit("default", "1", &checkin("2026-02-01")).await;
    let other = world.emit("default", "2", &checkin("2026-02-01")).await;
    let mut held = new_event("default", "booking.confirmed", "1", &checkin("2026-02-02"));
    held.due_at = Some(world.temp.clock.now());
    let held_id = held.id;
    world.temp.store.emit(vec![held]).await.unwrap();
    world.central.events.sweep().await.unwrap();
    let notification = world.schedule(held_id).await.messages[0]
        .message
        .notification
        .unwrap();
    assert_eq!(world.status(notification).await, Status::Pending);
    world.emit_as("default", "booking.cancelled", "1", "{}").await;
    world.run().await;
    let (status, why) = world.schedule_status(waits).await;
    assert_eq!(status, ScheduleStatus::Cancelled);
    assert!(why.contains("booking.cancelled"), "{why}");
    assert_eq!(world.status(notification).await, Status::Discarded);
    assert_eq!(world.schedule_status(other).await.0, ScheduleStatus::Pending);
    assert!(world.mail.received().is_empty());
}

/// As they stand in the outbox after Waypost was away.
pub async fn a_booking_confirmed_and_cancelled_in_one_batch_is_reminded_of_by_nobody(on: Database) {
    let mut world = reminded(on, Late::Send).await;
    let cancelled = EventType {
        cancels: vec!["booking.confirmed".into()],
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.cancelled", &cancelled).await;
    let first = world.emit("default", "1", &checkin("2026-02-01")).await;
    let other = world.emit("default", "2", &checkin("2026-02-01")).await;
    world.emit_as("default", "booking.cancelled", "1", "{}").await;
    let again = world.emit("default", "1", &checkin("2026-02-03")).await;
    world.run().await;
    assert_eq!(world.schedule_status(first).await.0, ScheduleStatus::Cancelled);
    for waits in [other, again] {
        assert_eq!(world.schedule_status(waits).await.0, ScheduleStatus::Pending);
    }
}

/// Because it waited for a retry, or because somebody replayed it.
pub async fn what_is_worked_on_after_a_later_event_called_it_off_sends_nothing(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let cancelled = EventType {
        cancels: vec!["booking.confirmed".into()],
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.cancelled", &cancelled).await;
    let mut late = vec![];
    for (entity, end) in [
        ("1", EventEnd::Retry(secs(60))),
        ("2", EventEnd::Retry(secs(60))),
        ("3", EventEnd::Failed),
        ("other", EventEnd::Retry(secs(60))),
    ] {
        let id = world.emit("default", entity, CONFIRMED).await;
        let settle = SettleEvent {
            seq: world.event(id).await.seq,
            to: end,
            error: "no answer".into(),
        };
        world.temp.store.settle_events(vec![settle]).await.unwrap();
        late.push(id);
    }
    for entity in ["1", "3"] {
        world.emit_as("default", "booking.cancelled", entity, "{}").await;
    }
    world.run().await;
    let again = world.emit("default", "1", CONFIRMED).await;
    world.advance(secs(61));
    // In one batch with what calls it off.
    world.emit_as("default", "booking.cancelled", "2", "{}").await;
    let (events, by) = (&world.central.events, somebody());
    events.replay_event(Some(TENANT), late[2], &by).await.unwrap();
    world.run().await;
    for id in &late[..3] {
        let (status, why) = world.schedule_status(*id).await;
        assert_eq!(status, ScheduleStatus::Cancelled);
        assert!(why.contains("called off by booking.cancelled"), "{why}");
        assert!(world.schedule(*id).await.messages.is_empty());
    }
    for id in [late[3], again] {
        assert_eq!(world.schedule_status(id).await.0, ScheduleStatus::Completed);
    }
    assert_eq!(world.mail.received().len(), 2);
}

pub async fn what_came_after_a_cancellation_that_is_worked_on_late_is_not_ended_by_it(on: Database) {
    let mut world = reminded(on, Late::Send).await;
    let cancelled = EventType {
        cancels: vec!["booking.confirmed".into()],
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.cancelled", &cancelled).await;
    let before = world.emit("default", "1", &checkin("2026-02-01")).await;
    let late = world.emit_as("default", "booking.cancelled", "1", "{}").await;
    let settle = SettleEvent {
        seq: world.event(late).await.seq,
        to: EventEnd::Retry(secs(60)),
        error: "no answer".into(),
    };
    world.temp.store.settle_events(vec![settle]).await.unwrap();
    let after = world.emit("default", "1", &checkin("2026-02-03")).await;
    world.run().await;
    for waits in [before, after] {
        assert_eq!(world.schedule_status(waits).await.0, ScheduleStatus::Pending);
    }
    world.advance(secs(61));
    world.run().await;
    assert_eq!(world.schedule_status(before).await.0, ScheduleStatus::Cancelled);
    assert_eq!(world.schedule_status(after).await.0, ScheduleStatus::Pending);
}

pub async fn a_bad_zone_or_a_missing_date_fails_in_words(on: Database) {
    let mut world = EventWorld::new(on).await;
    let mut definition = reminder(Late::Send);
    definition.schedule.as_mut().unwrap().zone = Some("listing.zone".into());
    world.event_type(TENANT, "booking.confirmed", &definition).await;
    world.template(TENANT, Channel::Email, "Tomorrow").await;
    let bad_zone =
        r#"{"guestEmail":"g@example.com","checkinDate":"2026-02-01","listing":{"zone":"Mars/Olympus"}}"#;
    for (payload, words) in [(bad_zone, "not a time zone"), ("{}", "Missing data: checkinDate")] {
        let event = world.emit("default", "1", payload).await;
        world.run().await;
        let (status, why) = world.event_status(event).await;
        assert_eq!(status, domain::EventStatus::Failed);
        assert!(why.contains(words), "{why}");
    }
}

pub async fn a_template_that_was_switched_off_while_the_reminder_waited_sends_nothing(on: Database) {
    let mut world = reminded(on, Late::Send).await;
    let event = world.emit("default", "1", &checkin("2026-01-03")).await;
    world.run().await;
    let all = world
        .temp
        .store
        .event_templates(TENANT, "booking.confirmed")
        .await
        .unwrap();
    let template = &all[0];
    let mut content = template.content.clone();
    content.active = false;
    let by = crate::world::somebody();
    world
        .central
        .templates
        .save(TENANT, template.id, template.version, &content, &by)
        .await
        .unwrap();
    world.advance(2 * DAY);
    world.run().await;
    assert!(world.mail.received().is_empty());
    assert_eq!(
        world.schedule_status(event).await,
        (ScheduleStatus::Failed, "Template not found".into())
    );
}
