//! Payloads that nobody meant: no crash, no injection, a row that a person can find and understand.

use super::{EventWorld, new_event, to_the_guest};
use crate::world::TENANT;
use domain::{
    Channel, EventStatus, ScheduleStatus, Status, Timestamp,
    schedule::{DateMeaning, Late, ScheduleRule},
};
use testkit::Database;

pub async fn a_payload_that_cannot_be_used_is_a_row_that_says_why_and_keeps_nobody(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(5 << 20));
    let mut bad = vec![];
    for payload in ["not json", "[1]", "\"text\"", "", &deep, &huge] {
        bad.push(world.emit("default", "1", payload).await);
    }
    let fine = world
        .emit("default", "2", r#"{"guestEmail":"g@example.com"}"#)
        .await;
    world.run().await;
    for event in bad {
        let (status, why) = world.event_status(event).await;
        assert_eq!(status, EventStatus::Failed);
        assert!(why.contains("payload"), "{why}");
        assert!(why.len() < 200, "{why}");
    }
    assert_eq!(world.event_status(fine).await.0, EventStatus::Published);
    assert_eq!(world.mail.received().len(), 1);
}

pub async fn a_value_is_text_whatever_it_says(on: Database) {
    let mut world = EventWorld::new(on).await;
    let body = "Dear {{guestName}}, {{note}}";
    let mut template = world.template(TENANT, Channel::Email, body).await;
    template.content.body_html = Some("<p>Dear {{guestName}}, {{note}}</p>".into());
    let (id, version) = (template.id, template.version);
    let by = crate::world::somebody();
    world
        .central
        .templates
        .save(TENANT, id, version, &template.content, &by)
        .await
        .unwrap();
    let payload =
        r#"{"guestEmail":"g@example.com","guestName":"<script>x</script>","note":"{{note}} {{guestName}}"}"#;
    world.emit("default", "1", payload).await;
    world.run().await;
    let content = world.mail.received().remove(0).content;
    assert_eq!(content.body, "Dear <script>x</script>, {{note}} {{guestName}}");
    let html = content.body_html.unwrap();
    assert!(
        !html.contains("<script>") && html.contains("&lt;script&gt;"),
        "{html}"
    );
    assert!(html.contains("{{note}} {{guestName}}"), "{html}");
}

pub async fn an_entity_without_a_name_or_with_one_too_long_fails_in_words(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    for entity in [" ".to_owned(), "x".repeat(300)] {
        let event = new_event(
            "default",
            "booking.confirmed",
            &entity,
            r#"{"guestEmail":"g@example.com"}"#,
        );
        let id = event.id;
        world.temp.store.emit(vec![event]).await.unwrap();
        world.run().await;
        let (status, why) = world.event_status(id).await;
        assert_eq!(status, EventStatus::Failed);
        assert!(why.starts_with("Missing data"), "{why}");
    }
}

pub async fn a_colon_in_an_entitys_id_never_meets_another_entity(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let payload = r#"{"guestEmail":"g@example.com"}"#;
    for entity in ["a", "a:booking.confirmed:Email:default", "a:b"] {
        world.emit("default", entity, payload).await;
    }
    world.run().await;
    assert_eq!(world.mail.received().len(), 3);
    for entity in ["a", "a:b"] {
        assert_eq!(world.log(TENANT, entity).await[0].status, Status::Delivered);
    }
}

pub async fn a_time_that_no_database_holds_keeps_nobody(on: Database) {
    let mut world = EventWorld::new(on).await;
    world.template(TENANT, Channel::Email, "Hello").await;
    let mut dated = to_the_guest();
    dated.schedule = Some(ScheduleRule {
        from: "at".into(),
        r#as: DateMeaning::Instant,
        offset: None,
        at: None,
        zone: None,
        late: Late::Send,
        grace: std::time::Duration::from_secs(600),
    });
    world.event_type(TENANT, "booking.dated", &dated).await;
    let payload = r#"{"guestEmail":"g@example.com","at":"-009998-01-02T00:00:00Z"}"#;
    let (mut never, mut long_ago) = (vec![], vec![]);
    for n in 0..4 {
        let entity = format!("never-{n}");
        let mut event = new_event("default", "booking.confirmed", &entity, payload);
        // What `infinity` is read as, and nanoseconds since 1970 taken as milliseconds.
        event.due_at = Some(Timestamp::from_millis(
            [i64::MAX, 1_767_225_600_000_000_000][n % 2],
        ));
        never.push(event.id);
        world.temp.store.emit(vec![event]).await.unwrap();
        let entity = format!("long-ago-{n}");
        long_ago.push(world.emit_as("default", "booking.dated", &entity, payload).await);
    }
    let fine = world.emit("default", "fine", payload).await;
    world.run().await;
    assert_eq!(world.schedule_status(fine).await.0, ScheduleStatus::Completed);
    for event in long_ago {
        assert_eq!(world.event_status(event).await.0, EventStatus::Published);
    }
    for event in never {
        let view = world.schedule(event).await;
        assert_eq!(view.status, ScheduleStatus::Pending);
        assert_eq!(view.schedule.due_at.to_string(), "9999-12-30T00:00:00.000Z");
    }
}
