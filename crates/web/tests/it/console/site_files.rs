//! The two lists of a site as files.

use super::visitor::{Visitor, location};
use crate::{sites::linked, world::World};
use domain::TenantId;
use store::directory::Role;

#[tokio::test]
async fn the_lists_of_a_site_are_taken_away_by_their_buttons() {
    let world = World::new().await;
    let _linked = linked(&world).await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/sites/north").await.text;
    assert!(page.contains("href=\"/sites/north/parked/csv\""), "{page}");
    let parked = viewer.get("/sites/north/parked/csv").await;
    assert_eq!(parked.headers["content-type"], "text/csv; charset=utf-8");
    let mut lines = parked.text.split_terminator("\r\n");
    assert!(lines.next().unwrap().starts_with("messageId,category,target"));
    assert!(lines.next().unwrap().contains("POST /orders"), "{}", parked.text);
    let calls = viewer.get("/sites/north/calls/csv").await;
    assert_eq!(
        calls.headers["content-disposition"],
        "attachment; filename=\"site-calls.csv\""
    );
    assert!(
        calls.text.starts_with("trackedOperationId,category,target"),
        "{}",
        calls.text
    );
    for list in ["parked", "calls"] {
        let nobody = viewer.get(&format!("/sites/south/{list}/csv")).await;
        assert_eq!(nobody.status, 404, "{list}");
    }
}

#[tokio::test]
async fn what_is_parked_at_a_site_that_cannot_be_asked_is_no_empty_file() {
    let world = World::new().await;
    world
        .post("/api/sites", serde_json::json!({"id": "north"}))
        .await
        .expect(201);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let answer = viewer.get("/sites/north/parked/csv").await;
    assert_eq!(location(&answer), "/sites/north");
    let page = viewer.get("/sites/north").await.text;
    assert!(page.contains("cannot be asked"), "{page}");
}
