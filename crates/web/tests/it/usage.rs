//! What hangs on something is told before it is removed: over the API and on the console's pages.

use crate::{
    console::visitor::Visitor,
    world::{OTHER, World},
};
use domain::TenantId;
use serde_json::{Value, json};
use store::directory::Role;

/// A template whose event type sends a day before the date of its event.
async fn template_with_a_schedule(world: &World) -> String {
    let kind = json!({"dedupe": "entity", "addresses": {"Email": "guestEmail"},
        "schedule": {"from": "checkin", "offset": "-1d", "as": "instant"}});
    let admin = world.key(Role::Admin);
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    let template = json!({"eventType": "booking.confirmed", "channel": "Email", "body": "Hello"});
    let template = world.post("/api/message-templates", template).await.expect(201);
    for (entity, checkin) in [("1", "2100-01-01T00:00:00Z"), ("2", "2000-01-01T00:00:00Z")] {
        let event = json!({"eventType": "booking.confirmed", "entityId": entity,
            "payload": {"guestEmail": "asha@example.com", "checkin": checkin}});
        world.post("/api/events", event).await.expect(202);
    }
    world.central.events.sweep().await.unwrap();
    template["id"].to_string()
}

fn counts(usage: &Value) -> [&Value; 5] {
    ["providers", "templates", "schedules", "waiting", "parked"].map(|name| &usage[name])
}

#[tokio::test]
async fn what_waits_for_a_template_and_its_event_type_is_told_before_they_are_removed() {
    let world = World::new().await;
    let id = template_with_a_schedule(&world).await;
    let of_template = format!("/api/message-templates/{id}/usage");
    let usage = world.get(&of_template).await.expect(200);
    assert_eq!(counts(&usage), [0, 0, 1, 0, 0], "{usage}");
    assert!(usage["lastUsedAt"].is_string(), "the other went out: {usage}");
    let of_type = "/api/event-types/booking.confirmed/usage";
    let usage = world.get(of_type).await.expect(200);
    assert_eq!(counts(&usage), [0, 1, 1, 0, 0], "{usage}");
    assert!(usage["lastUsedAt"].is_string(), "{usage}");

    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let page = admin.get(&format!("/templates/{id}")).await.text;
    assert!(
        page.contains("<b>1 schedule that waits</b>") && page.contains("Last used"),
        "{page}"
    );
    for missing in [
        "/api/message-templates/999/usage",
        "/api/event-types/nothing/usage",
        "/api/lists/nothing/usage",
        "/api/providers/nothing/usage",
    ] {
        assert_eq!(world.get(missing).await.problem(404), "not_found", "{missing}");
    }
    let theirs = world.key_of(OTHER, Role::Viewer);
    let asked = world.ask("GET", &of_template, &theirs, None).await;
    assert_eq!(asked.problem(404), "not_found", "another tenant's template");
}

#[tokio::test]
async fn what_waits_and_is_parked_is_told_before_a_list_a_provider_or_a_tenant_is_removed() {
    let mut world = World::new().await;
    world.parked("parked").await;
    world.submitted("waiting").await;
    world.submitted("waiting too").await;
    for path in ["/api/lists/ops/usage", "/api/providers/mail/usage"] {
        let usage = world.get(path).await.expect(200);
        assert_eq!(counts(&usage), [0, 0, 0, 2, 1], "{path}: {usage}");
        assert!(usage["lastUsedAt"].is_string(), "{path}: {usage}");
    }
    let ops = world.key(Role::Ops);
    let of_tenant = "/api/tenants/default/usage";
    let usage = world.ask("GET", of_tenant, &ops, None).await.expect(200);
    assert_eq!(counts(&usage), [1, 0, 0, 2, 1], "{usage}");
    let admin = world.key(Role::Admin);
    let refused = world.ask("GET", of_tenant, &admin, None).await;
    assert_eq!(refused.status, 403, "only who runs the installation is told");
}

#[tokio::test]
async fn the_console_asks_before_a_tenant_is_deleted_and_offers_it_only_when_nothing_hangs_on_it() {
    let world = World::new().await;
    let mut ops = Visitor::new(&world, TenantId::DEFAULT, Role::Ops).await;
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let asks = format!("/tenants/delete?id={other}");
    assert!(
        ops.get("/tenants")
            .await
            .text
            .contains(&format!("href=\"{asks}\""))
    );
    let page = ops.get(&asks).await.text;
    assert!(
        page.contains("<b>1 provider</b>")
            && page.contains("Not used lately")
            && !page.contains("id=\"delete\""),
        "{page}"
    );
    let theirs = world.key_of(OTHER, Role::Admin);
    let gone = world.ask("DELETE", "/api/providers/mail", &theirs, None).await;
    assert_eq!(gone.status, 204);
    let page = ops.get(&asks).await.text;
    assert!(
        page.contains("Nothing hangs on it") && page.contains("id=\"delete\""),
        "{page}"
    );
    assert_eq!(ops.get("/tenants/delete?id=999").await.status, 404);
}
