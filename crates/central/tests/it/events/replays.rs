//! Replays of schedules that would come to nothing once more, and what is said of a message that was there before.

use super::{CONFIRMED, EventWorld, new_event, secs, to_the_guest};
use crate::world::{TENANT, somebody};
use central::events::{ReplayRequest, ResendError};
use domain::{
    Channel, EventId, EventType, ScheduleStatus, Status,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use testkit::Database;

async fn refusal(world: &EventWorld, schedule: EventId) -> String {
    let ask = ReplayRequest {
        tenant: TENANT,
        schedule,
        new_templates: false,
        actor: somebody(),
    };
    match world.central.events.replay_schedule(&ask).await {
        Err(ResendError::Conflict(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn on_the_day(late: Late) -> EventType {
    EventType {
        schedule: Some(ScheduleRule {
            from: "checkinDate".into(),
            r#as: DateMeaning::Date,
            offset: None,
            at: None,
            zone: None,
            late,
            grace: secs(600),
        }),
        ..to_the_guest()
    }
}

pub async fn a_replay_of_what_is_too_late_or_has_expired_says_why_it_would_come_to_nothing(on: Database) {
    let expiring = EventType {
        expires_after: Some(secs(600)),
        ..on_the_day(Late::Send)
    };
    for (definition, ended, word) in [
        (on_the_day(Late::Skip), ScheduleStatus::Cancelled, "too late"),
        (expiring, ScheduleStatus::Failed, "expired"),
    ] {
        let mut world = EventWorld::new(on).await;
        world.event_type(TENANT, "booking.confirmed", &definition).await;
        world.template(TENANT, Channel::Email, "Today").await;
        let long_ago = r#"{"guestEmail": "g@example.com", "checkinDate": "2025-12-24"}"#;
        let event = world.emit("default", "1", long_ago).await;
        world.run().await;
        assert_eq!(world.schedule_status(event).await.0, ended);
        let why = refusal(&world, event).await;
        assert!(why.contains(word), "{why}");
        assert_eq!(world.schedule_status(event).await.0, ended, "nothing has changed");
    }
}

pub async fn a_repeat_says_how_the_message_stood_that_was_there_before(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    world.emit("default", "1", CONFIRMED).await;
    world.central.events.sweep().await.unwrap();
    let again = async |world: &mut EventWorld| {
        let event = world.emit("default", "1", CONFIRMED).await;
        world.central.events.sweep().await.unwrap();
        let messages = world.schedule(event).await.messages;
        messages[0].message.clone()
    };
    let found = again(&mut world).await;
    let id = found.notification.unwrap();
    assert_eq!(found.reason, Some(format!("already on its way as {id}")));
    let operator = &world.central.operator;
    operator.cancel(TENANT, id, &somebody()).await.unwrap();
    let reason = again(&mut world).await.reason.unwrap();
    assert!(
        reason.contains(&format!("as {id}")) && reason.contains("Discarded"),
        "{reason}"
    );
    let row = world.temp.store.get(TENANT, id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Discarded);
}

pub async fn a_blank_topic_is_none(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut event = new_event("default", "booking.confirmed", "1", CONFIRMED);
    event.topic = Some(" ".into());
    let id = event.id;
    world.temp.store.emit(vec![event]).await.unwrap();
    world.run().await;
    let sent = world.schedule(id).await.messages[0].message.notification.unwrap();
    let row = world.temp.store.get(TENANT, sent).await.unwrap().unwrap();
    assert_eq!(row.submission.content.event.unwrap().topic, None);
}
