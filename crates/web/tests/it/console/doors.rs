//! Who gets to which page.

use super::visitor::{Visitor, filled, location};
use crate::world::{MINE, OTHER, World};
use axum::http::StatusCode;
use domain::TenantId;
use store::directory::Role;
use web::{access::Access, console::routes};

const PEOPLE: [Role; 4] = [Role::Viewer, Role::Operator, Role::Admin, Role::Ops];

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_sign_in() {
    let world = World::new().await;
    for route in routes().into_iter().filter(|route| route.access != Access::Open) {
        let mut stranger = Visitor::stranger(&world.router);
        let path = filled(&route, "1");
        let answer = match route.method {
            "GET" => stranger.get(&path).await,
            _ => stranger.post(&path, &[]).await,
        };
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{route:?}");
        assert!(location(&answer).starts_with("/sign-in"), "{route:?}");
    }
}

#[tokio::test]
async fn every_page_lets_in_the_roles_it_names_and_no_other() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    for route in routes().into_iter().filter(|route| route.access != Access::Open) {
        for role in PEOPLE {
            let mut visitor = Visitor::new(&world, TenantId::DEFAULT, role).await;
            let path = filled(&route, &id);
            let answer = match route.method {
                "GET" => visitor.get(&path).await,
                _ => visitor.post(&path, &[]).await,
            };
            let refused = answer.status == StatusCode::FORBIDDEN;
            assert_eq!(
                !refused,
                route.access.allows(role),
                "{route:?} as {role}: {}",
                answer.text
            );
            assert!(
                !answer.status.is_server_error(),
                "{route:?} as {role}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn a_page_shows_nothing_of_another_tenant() {
    let mut world = World::new().await;
    let id = world.parked("our secret subject").await;
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let mut visitor = Visitor::new(&world, other, Role::Admin).await;
    for route in routes().into_iter().filter(|route| route.method == "GET") {
        let answer = visitor.get(&filled(&route, &id)).await;
        assert!(!answer.text.contains("our secret subject"), "{route:?}");
    }
    let page = visitor.get(&format!("/notifications/{id}")).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    let discarded = visitor.post(&format!("/notifications/{id}/discard"), &[]).await;
    assert_eq!(discarded.status, StatusCode::NOT_FOUND);
    assert_eq!(world.status(&id).await, "Parked");
}

#[tokio::test]
async fn who_runs_the_installation_switches_between_tenants_and_nobody_else_does() {
    let world = World::new().await;
    world.submitted_by(OTHER, "over there").await;
    world.submitted_by(MINE, "over here").await;
    let other = world.temp.store.tenant_by_name(OTHER).await.unwrap().unwrap().id;
    let other_text = other.to_string();
    let mut ops = Visitor::new(&world, TenantId::DEFAULT, Role::Ops).await;
    ops.post("/tenant", &[("tenant", &other_text)]).await;
    let page = ops.get("/notifications").await.text;
    assert!(page.contains("over there") && !page.contains("over here"));
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    admin.post("/tenant", &[("tenant", &other_text)]).await;
    let page = admin.get("/notifications").await.text;
    assert!(page.contains("over here") && !page.contains("over there"));
}

#[tokio::test]
async fn what_is_parked_or_waits_at_a_site_takes_the_same_role_in_the_console_as_in_the_api() {
    let world = World::new().await;
    let doors = [
        ("parked", "retry"),
        ("parked", "discard"),
        ("waiting", "try"),
        ("waiting", "discard"),
    ];
    for (list, action) in doors {
        for role in PEOPLE {
            let mut visitor = Visitor::new(&world, TenantId::DEFAULT, role).await;
            let page = visitor
                .post(&format!("/sites/north/{list}/{action}"), &[("id", "7")])
                .await;
            let path = format!("/api/sites/north/{list}/7/{action}");
            let api = world.ask("POST", &path, &world.key(role), None).await;
            let refused = (
                page.status == StatusCode::FORBIDDEN,
                api.status == StatusCode::FORBIDDEN,
            );
            let may = matches!(role, Role::Operator | Role::Admin);
            assert_eq!(refused, (!may, !may), "{list} {action} as {role}");
        }
    }
}
