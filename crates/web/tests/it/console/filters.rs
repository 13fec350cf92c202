//! Filters of the lists besides that of notifications, and what the overview's address asks for.

use super::visitor::Visitor;
use crate::world::World;
use domain::TenantId;
use store::directory::Role;

#[tokio::test]
async fn a_time_that_cannot_be_read_is_refused_in_words_on_every_list_and_on_the_overview() {
    let world = World::new().await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for (path, words) in [
        ("/?span=x", "must be one of hour, day, week"),
        ("/audit?range=2w", "must be one of 1h"),
        ("/audit?from=yesterday", "must be a time like"),
        ("/events?range=2w", "must be one of 1h"),
        ("/events?to=tomorrow", "must be a time like"),
    ] {
        let answer = viewer.get(path).await;
        assert_eq!(answer.status, 422, "{path}");
        assert!(answer.text.contains(words), "{path}: {}", answer.text);
    }
    for path in [
        "/?span=week",
        "/audit?range=today",
        "/events?from=2026-01-01T10:00",
    ] {
        assert_eq!(viewer.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn each_filter_of_the_log_and_of_events_is_taken_off_by_its_chip() {
    let world = World::new().await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let log = viewer.get("/audit?actor=user%3Aann&range=1h").await.text;
    assert!(log.contains("href=\"/audit?range=1h\""), "{log}");
    assert!(log.contains("href=\"/audit?actor=user%3Aann\""), "{log}");
    let log = viewer.get("/audit?retried=true&range=1h").await.text;
    assert!(log.contains("href=\"/audit?range=1h\""), "{log}");
    let due = viewer.get("/schedules?status=Failed&eventType=a.b").await.text;
    assert!(due.contains("href=\"/schedules?status=Failed\""), "{due}");
    assert!(due.contains("href=\"/schedules?eventType=a.b\""), "{due}");
    let kept = viewer.get("/suppressions?address=ann%40example.com").await.text;
    assert!(kept.contains("Address: ann@example.com"), "{kept}");
    assert!(kept.contains("href=\"/suppressions\" title"), "{kept}");
    let events = viewer
        .get("/events?status=Failed&from=2026-01-01T10:00")
        .await
        .text;
    assert!(events.contains("href=\"/events?status=Failed\""), "{events}");
    assert!(
        events.contains("href=\"/events?from=2026-01-01T10%3A00&#38;zone=UTC\""),
        "{events}"
    );
}

#[tokio::test]
async fn the_log_tells_the_subject_of_what_was_discarded_and_the_title_how_much_is_parked() {
    let mut world = World::new().await;
    let id = world.parked("pump 7 is empty").await;
    world.parked("another").await;
    world.act(&format!("/api/notifications/{id}/discard")).await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let log = viewer.get("/audit?status=Discarded").await;
    assert_eq!(log.status, 200, "{}", log.text);
    assert!(log.text.contains("pump 7 is empty"), "{}", log.text);
    assert!(log.text.contains("<title>(1 parked) Audit log"), "{}", log.text);
}
