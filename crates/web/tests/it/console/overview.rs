//! What somebody sees first at night.

use super::visitor::Visitor;
use crate::world::World;
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn what_is_wrong_comes_first_on_the_overview() {
    let world = World::new().await;
    let second = json!({"id": "second", "kind": "test-mail"});
    world.post("/api/providers", second).await.expect(201);
    let hold = json!({"reason": "new server tonight"});
    world.post("/api/providers/second/hold", hold).await.expect(200);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/").await.text;
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what} in {page}"));
    assert!(
        place("data-lane=\"second\"") < place("data-lane=\"mail\""),
        "the held lane before the idle one"
    );
    // In a hand, such a one takes half a line.
    assert!(page.contains("data-lane=\"mail\" class=\"idle\""), "{page}");
    assert!(!page.contains("data-lane=\"second\" class=\"idle\""), "{page}");
    for (first, then) in [
        ("id=\"tiles\"", "id=\"lanes\""),
        ("id=\"lanes\"", "id=\"failures\""),
        ("id=\"failures\"", "id=\"traffic\""),
        ("id=\"traffic\"", "id=\"sites\""),
    ] {
        assert!(place(first) < place(then), "{first} before {then}");
    }
}

#[tokio::test]
async fn what_is_parked_is_not_told_as_failing_beside_an_idle_provider() {
    let mut world = World::new().await;
    world.parked("something").await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/providers").await.text;
    assert!(page.contains("data-label=\"Parked or retried\""), "{page}");
    assert!(!page.contains(">Failing</th>"), "{page}");
}

#[tokio::test]
async fn commands_in_our_advice_are_set_apart_from_its_words() {
    let world = World::new().await;
    let hold = json!({"reason": "new server tonight"});
    world.post("/api/providers/mail/hold", hold).await.expect(200);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/providers/mail").await.text;
    assert!(
        page.contains("<code>waypost provider resume mail</code>"),
        "{page}"
    );
    assert!(!page.contains('`'), "{page}");
}

#[tokio::test]
async fn a_bulk_action_tells_what_it_was_about_before_when_it_was_counted_and_its_id_can_be_copied() {
    let mut world = World::new().await;
    world.parked("something").await;
    let asked = json!({"filter": {"errorCode": "SMTP_550"}});
    let job = world.post("/api/notifications/retry", asked).await.expect(202);
    let id = job["id"].as_str().unwrap();
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get(&format!("/jobs/{id}")).await.text;
    let (code, as_of) = (page.find("SMTP_550").unwrap(), page.find("As of").unwrap());
    assert!(code < as_of, "{page}");
    assert!(
        page.contains(&format!("<code id=\"job-id\">{id}</code>")) && page.contains("data-copy=\"#job-id\""),
        "{page}"
    );
}

#[tokio::test]
async fn what_a_loop_did_is_told_without_a_moment_in_a_zone_of_its_own() {
    let world = World::new().await;
    let ask = world.central.settings.kpi;
    let swept = central::figures::sweep(&*world.temp.store, ask).await.unwrap();
    assert!(!format!("{swept:?}").contains('Z'), "{swept:?}");
}
