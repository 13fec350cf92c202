//! Bulk actions on the console.

use super::visitor::{Visitor, location};
use crate::world::World;
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn a_bulk_action_is_stopped_by_its_button_and_what_was_not_done_stays_undone() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    let job = world
        .post("/api/notifications/retry", json!({"filter": {}}))
        .await
        .expect(202);
    let place = format!("/jobs/{}", job["id"].as_str().unwrap());
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    assert!(!viewer.get(&place).await.text.contains("/stop\""));
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let stop = format!("{place}/stop");
    assert!(
        operator
            .get(&place)
            .await
            .text
            .contains(&format!("action=\"{stop}\""))
    );
    let answer = operator.post(&stop, &[]).await;
    assert_eq!(location(&answer), place);
    let page = operator.get(&place).await.text;
    assert!(
        page.contains("It is stopped.") && !page.contains("/stop\""),
        "{page}"
    );
    world.central.jobs.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Parked");
    // A second press finds nothing left to stop.
    operator.post(&stop, &[]).await;
    assert!(operator.get(&place).await.text.contains("It had ended"));
}

#[tokio::test]
async fn all_that_match_a_search_by_id_is_what_the_list_shows() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    world.parked("something else").await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let query = format!("q={id}");
    let list = operator.get(&format!("/notifications?{query}")).await.text;
    assert!(
        list.contains("1 in all") && list.contains("id=\"retry-all\""),
        "{list}"
    );
    let all = [("action", "retry"), ("scope", "all"), ("query", query.as_str())];
    let asks = operator.get_form("/notifications/bulk", &all).await;
    assert_eq!(asks.status, 200, "{}", asks.text);
    assert!(asks.text.contains("name=\"count\" value=\"1\""), "{}", asks.text);
}
