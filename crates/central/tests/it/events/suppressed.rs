//! People who asked not to be written to, and events that would write to them.

use super::{CONFIRMED, EventWorld, new_event, to_the_guest};
use crate::world::{TENANT, somebody};
use domain::{
    Channel, EventType, ScheduleStatus, Status,
    suppression::{NewSuppression, SUPPRESSED, SuppressionSource},
};
use testkit::Database;

async fn suppress(world: &EventWorld, topic: Option<&str>) {
    let entry = NewSuppression {
        address: "guest@example.com".into(),
        channel: Some(Channel::Email),
        topic: topic.map(str::to_owned),
        reason: "asked by phone".into(),
        source: SuppressionSource::Operator,
    };
    let suppressions = &world.central.suppressions;
    suppressions.add(TENANT, &entry, &somebody()).await.unwrap();
}

pub async fn who_asked_not_to_be_written_to_is_written_to_only_where_it_is_critical(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    suppress(&world, None).await;
    let event = world.emit("default", "1", CONFIRMED).await;
    world.run().await;
    let log = world.log(TENANT, "1").await;
    assert_eq!(
        (log[0].status, log[0].last_code.as_deref()),
        (Status::Discarded, Some(SUPPRESSED))
    );
    assert_eq!(world.schedule_status(event).await.0, ScheduleStatus::Completed);
    assert!(world.mail.received().is_empty());
    let critical = EventType {
        critical: true,
        ..to_the_guest()
    };
    world.event_type(TENANT, "booking.confirmed", &critical).await;
    world.emit("default", "2", CONFIRMED).await;
    world.run().await;
    assert_eq!(world.log(TENANT, "2").await[0].status, Status::Delivered);
    assert_eq!(world.mail.received().len(), 1);
}

pub async fn a_topic_that_somebody_does_not_want_to_hear_of_is_kept_from_them_and_no_other(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    suppress(&world, Some("offers")).await;
    for (entity, topic, status) in [
        ("1", Some("offers"), Status::Discarded),
        ("2", Some("booking.events"), Status::Delivered),
        ("3", None, Status::Delivered),
    ] {
        let mut event = new_event("default", "booking.confirmed", entity, CONFIRMED);
        event.topic = topic.map(str::to_owned);
        world.temp.store.emit(vec![event]).await.unwrap();
        world.run().await;
        assert_eq!(world.log(TENANT, entity).await[0].status, status, "{topic:?}");
    }
}
