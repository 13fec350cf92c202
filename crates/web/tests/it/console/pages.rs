//! What pages may hold and what they tell the browser.

use super::visitor::{Visitor, filled};
use crate::world::World;
use domain::TenantId;
use store::directory::Role;
use web::{access::Access, console::routes};

#[tokio::test]
async fn every_page_forbids_script_of_its_own_frames_and_guessing() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    for route in routes().into_iter().filter(|route| route.method == "GET") {
        let role = if route.access == Access::Tenants {
            Role::Ops
        } else {
            Role::Admin
        };
        let mut visitor = Visitor::new(&world, TenantId::DEFAULT, role).await;
        let answer = visitor.get(&filled(&route, &id)).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{route:?}");
        assert!(!policy.contains("unsafe"), "{route:?}");
        assert!(policy.contains("frame-ancestors 'none'"), "{route:?}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert!(
            answer.headers["cache-control"].to_str().unwrap().contains("no-"),
            "{route:?}"
        );
        // What the policy would block must not be there in the first place.
        for forbidden in [
            "<script>",
            "<style",
            " style=",
            " onclick=",
            " onload=",
            "javascript:",
        ] {
            assert!(!answer.text.contains(forbidden), "{route:?} holds {forbidden}");
        }
    }
}

#[tokio::test]
async fn text_from_outside_is_shown_as_text() {
    let mut world = World::new().await;
    let id = world.parked("<script>alert(1)</script> & \"quotes\"").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for path in ["/notifications".to_owned(), format!("/notifications/{id}")] {
        let page = visitor.get(&path).await.text;
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(page.contains("alert(1)"), "{path}");
    }
}

#[tokio::test]
async fn filters_survive_in_the_address_and_bad_ones_are_named() {
    let mut world = World::new().await;
    world.parked("needle in here").await;
    world.delivered("something else").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor
        .get("/notifications?status=Parked&q=needle&type=Email")
        .await
        .text;
    assert!(page.contains("needle in here") && !page.contains("something else"));
    assert!(page.contains("value=\"needle\""), "the form shows the filter");
    let bad = visitor.get("/notifications?status=Nonsense").await;
    assert!(bad.text.contains("Nonsense"), "{}", bad.text);
}
