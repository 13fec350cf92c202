//! A site's page: what is parked there, acted on all at once; what waits there; two agents with one id.

use super::visitor::{Visitor, location};
use crate::{
    sites::{linked, linked_as},
    world::World,
};
use axum::http::StatusCode;
use domain::{Clock, SiteId, TenantId};
use link::PairReport;
use serde_json::json;
use store::{directory::Role, sites::OtherAgent};
use testkit::{eventually, site::ASite};

#[tokio::test]
async fn all_that_is_parked_at_a_site_is_counted_asked_about_and_given_to_a_job() {
    let world = World::new().await;
    let linked = linked(&world).await;
    *linked.site.many.lock().unwrap() = 3;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let page = visitor.get("/sites/north").await;
    assert!(
        page.text.contains("POST /orders") && page.text.contains("Discard all…"),
        "{}",
        page.text
    );
    let chosen = [("action", "discard"), ("target", "erp"), ("errorCode", "")];
    let asked = visitor.get_form("/sites/north/parked/all", &chosen).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
    assert!(
        asked.text.contains("Discard 3 messages at north?"),
        "{}",
        asked.text
    );
    assert!(asked.text.contains(r#"name="until" value="7""#), "{}", asked.text);
    assert_eq!(*linked.site.many.lock().unwrap(), 3, "asking changes nothing");
    let yes = [("action", "discard"), ("target", "erp"), ("until", "7")];
    let started = visitor.post("/sites/north/parked/all/go", &yes).await;
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
    let job = location(&started).to_owned();
    world.central.jobs.sweep().await.unwrap();
    eventually("the site to have done it", async || {
        (*linked.site.many.lock().unwrap() == 0).then_some(())
    })
    .await;
    let page = visitor.get(&job).await;
    assert!(
        page.text.contains("Parked at the site") && page.text.contains("/sites/north"),
        "{}",
        page.text
    );
    let nothing = visitor.get_form("/sites/north/parked/all", &chosen).await;
    assert_eq!(location(&nothing), "/sites/north");
}

#[tokio::test]
async fn what_waits_at_a_site_is_shown_tried_and_given_up_on_its_page() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/sites/north").await.text;
    let shown = page.contains("data-waiting=\"w1\"")
        && page.contains("PUT /batches")
        && page.contains("held: it has no lease");
    assert!(shown && !page.contains("id=\"waiting-try\""), "{page}");
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let page = visitor.get("/sites/north").await.text;
    assert!(page.contains("id=\"waiting-try\""), "{page}");

    let none = visitor.post("/sites/north/waiting/try", &[]).await;
    assert_eq!(location(&none), "/sites/north");
    let page = visitor.get("/sites/north").await.text;
    assert!(page.contains("Choose some messages first"), "{page}");
    let ids = [("id", "w1"), ("id", "w3")];
    visitor.post("/sites/north/waiting/try", &ids).await;
    let page = visitor.get("/sites/north").await.text;
    let told = "At the site 1 message waits again, nothing was done about 1 message that is not there any more: HTTP_503: busy";
    assert!(page.contains(told), "{page}");
    visitor
        .post("/sites/north/waiting/discard", &[("id", "w2")])
        .await;
    let page = visitor.get("/sites/north").await.text;
    assert!(page.contains("At the site 1 message was discarded."), "{page}");
    visitor
        .post("/sites/north/waiting/discard", &[("id", "w1")])
        .await;
    let page = visitor.get("/sites/north").await.text;
    let refused = "At the site nothing was done about 1 message: it is being tried right now";
    assert!(page.contains(refused), "{page}");
    assert_eq!(linked.site.asked.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn what_waits_at_a_site_that_cannot_be_asked_is_said_and_not_called_nothing() {
    let world = World::new().await;
    world.post("/api/sites", json!({"id": "north"})).await.expect(201);
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let page = visitor.get("/sites/north").await.text;
    assert!(page.contains("id=\"waiting-not-told\""), "{page}");
    assert!(!page.contains("id=\"nothing-waits\""), "{page}");
    visitor.post("/sites/north/waiting/try", &[("id", "w1")]).await;
    let page = visitor.get("/sites/north").await.text;
    assert!(
        page.contains("nothing was done about 1 message: The site"),
        "{page}"
    );
}

#[tokio::test]
async fn what_is_damaged_at_a_site_is_said_on_its_page() {
    let world = World::new().await;
    let _linked = linked(&world).await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = eventually("a report", async || {
        let page = visitor.clone().get("/sites/north").await.text;
        page.contains("class=\"warn damage\"").then_some(page)
    })
    .await;
    assert!(page.contains("the buffer was damaged."), "{page}");
    assert!(page.contains("<code>/data/sf.db.damaged-1</code>"), "{page}");
    assert!(page.contains("waypost site acknowledge"), "{page}");
    let list = visitor.get("/sites").await.text;
    assert!(list.contains("north"), "{list}");
}

#[tokio::test]
async fn two_agents_with_one_id_are_shown_with_their_addresses() {
    let world = World::new().await;
    let _linked = linked(&world).await;
    let other = OtherAgent {
        node: "<b>n2</b>".into(),
        peer: "10.0.0.8:1".into(),
        version: "0.1.0".into(),
    };
    let (tenant, north) = (TenantId::DEFAULT, SiteId::new("north"));
    world
        .central
        .store
        .site_conflict(tenant, &north, other)
        .await
        .unwrap();
    let mut visitor = Visitor::new(&world, tenant, Role::Viewer).await;
    let page = visitor.get("/sites/north").await.text;
    assert!(
        page.contains("10.0.0.8:1") && page.contains("machine n1"),
        "{page}"
    );
    assert!(
        !page.contains("<b>n2</b>"),
        "what an agent calls itself stays text"
    );
    assert!(
        visitor
            .get("/sites")
            .await
            .text
            .contains("two agents use this id")
    );
}

#[tokio::test]
async fn the_two_machines_of_a_site_are_told_by_the_api_and_shown_on_its_page() {
    let world = World::new().await;
    let heard = world.temp.clock.now();
    let pair = PairReport {
        role: "Active".into(),
        turn: 4,
        lease_by: Some("Standby".into()),
        lease_ms: 12_000,
        own: Some(3),
        behind: Some(70),
        behind_ms: Some(9_000),
        other: Some("north-b".into()),
        other_role: Some("Standby".into()),
        last_contact: Some(heard),
        differences: vec!["system mes is configured otherwise at the other machine".into()],
        ..PairReport::default()
    };
    let site = ASite::default();
    *site.pair.lock().unwrap() = Some(pair);
    let _linked = linked_as(&world, site).await;
    let told = eventually("a report", async || {
        let site = world.get("/api/sites/north").await.expect(200);
        site["report"]["pair"]
            .is_object()
            .then(|| site["report"]["pair"].clone())
    })
    .await;
    assert_eq!(
        told,
        json!({
            "role": "Active", "turn": 4, "leaseBy": "Standby", "leaseSeconds": 12, "held": null, "ownRows": 3,
            "behind": 70, "behindSeconds": 9, "other": "north-b", "otherRole": "Standby", "lastContactAt": heard,
            "trouble": null, "differences": ["system mes is configured otherwise at the other machine"],
        })
    );
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor.get("/sites/north").await.text;
    let of = |id: &str| {
        let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
        rest.split("</dd>").next().unwrap().to_owned()
    };
    let (role, standby) = (of("role"), of("standby"));
    assert!(
        role.starts_with("Active") && role.contains("3 messages are on this machine alone"),
        "{role}"
    );
    assert!(standby.starts_with("north-b"), "{standby}");
    assert!(standby.contains("70 changes behind for 9"), "{standby}");
    assert!(standby.contains("heard "), "{standby}");
    assert!(page.contains("lease by Standby, 12 s left"), "{page}");
}
