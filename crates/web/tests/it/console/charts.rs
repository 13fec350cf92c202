//! Where the steps of the charts lead.

use super::visitor::Visitor;
use crate::world::World;
use domain::{Clock, Failure, Outcome, Scope, TenantId};
use serde_json::json;
use std::time::Duration;
use store::directory::Role;

/// The address behind the step of a chart that has something in it.
fn step(page: &str, tone: &str) -> String {
    let (_, chart) = page.split_once(&format!("class=\"chart chart-{tone}\"")).unwrap();
    let (chart, _) = chart.split_once("</svg>").unwrap();
    let (before, _) = chart
        .split_once("class=\"bar-value\"")
        .unwrap_or_else(|| panic!("nothing in {chart}"));
    let (_, link) = before.rsplit_once("<a href=\"").unwrap();
    link.split('"').next().unwrap().replace("&amp;", "&")
}

#[tokio::test]
async fn the_list_behind_a_step_has_what_the_step_counts_also_if_it_came_in_long_before() {
    let mut world = World::new().await;
    let now = world.temp.clock.now();
    let mut submitted = vec![];
    for minutes in [20, 30] {
        let at = now + Duration::from_secs(minutes * 60);
        let body = json!({"listName": "ops", "subject": "later", "body": "text", "sendAt": at.to_string()});
        let answer = world.post("/api/notifications", body).await.expect(202);
        submitted.push(answer["notificationId"].as_str().unwrap().to_owned());
    }
    let refusal = Failure::permanent(Scope::Message, "SMTP_550", "no such mailbox");
    for (id, status) in submitted.iter().zip(["Delivered", "Parked"]) {
        world.temp.clock.advance(Duration::from_secs(20 * 60));
        world.dispatcher.sweep().await.unwrap();
        world.mail.answers(Outcome::Failed(refusal.clone()));
        assert_eq!(world.status(id).await, status);
    }
    let [good, bad]: [String; 2] = submitted.try_into().unwrap();
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/").await.text;
    for (tone, id, other) in [("good", &good, &bad), ("bad", &bad, &good)] {
        let list = viewer.get(&step(&page, tone)).await;
        assert_eq!(list.status, 200, "{}", list.text);
        assert!(
            list.text.contains(&format!("/notifications/{id}")),
            "{tone}: {}",
            list.text
        );
        assert!(!list.text.contains(&format!("/notifications/{other}")), "{tone}");
    }
}

#[tokio::test]
async fn the_list_behind_what_was_retried_has_neither_what_went_out_nor_what_was_parked() {
    let mut world = World::new().await;
    let busy = Failure::transient(Scope::Message, "SMTP_451", "later");
    let refusal = Failure::permanent(Scope::Message, "SMTP_550", "no such mailbox");
    let mut ids = vec![];
    for (answer, status) in [
        (Some(busy), "Retrying"),
        (Some(refusal), "Parked"),
        (None, "Delivered"),
    ] {
        match answer {
            Some(failure) => world.mail.answers(Outcome::Failed(failure)),
            None => world.mail.accepts(),
        }
        let body = json!({"listName": "ops", "subject": status, "body": "text"});
        let answer = world.post("/api/notifications", body).await.expect(202);
        let id = answer["notificationId"].as_str().unwrap().to_owned();
        world.dispatcher.sweep().await.unwrap();
        assert_eq!(world.status(&id).await, status);
        ids.push(id);
    }
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/").await.text;
    let list = viewer.get(&step(&page, "busy")).await;
    assert_eq!(list.status, 200, "{}", list.text);
    let is_there = |id: &String| list.text.contains(&format!("/notifications/{id}"));
    let found: Vec<_> = ids.iter().map(is_there).collect();
    assert_eq!(found, [true, false, false], "{}", list.text);
}

#[tokio::test]
async fn the_list_of_what_is_tried_again_says_that_the_chart_leaves_out_what_cost_no_try() {
    let mut world = World::new().await;
    let less = Failure::transient(Scope::Lane, "RATE_LIMITED", "slow down");
    world.mail.answers(Outcome::Failed(less));
    let body = json!({"listName": "ops", "subject": "later", "body": "text"});
    let answer = world.post("/api/notifications", body).await.expect(202);
    let id = answer["notificationId"].as_str().unwrap().to_owned();
    world.dispatcher.sweep().await.unwrap();
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/").await.text;
    let (_, chart) = page.split_once("class=\"chart chart-busy\"").unwrap();
    let (chart, _) = chart.split_once("</svg>").unwrap();
    assert!(!chart.contains("class=\"bar-value\""), "{chart}");
    let list = viewer.get("/audit?retried=true").await.text;
    assert!(list.contains(&format!("/notifications/{id}")), "{list}");
    let told = "counts only those that cost a try";
    assert!(list.contains(told), "{list}");
    assert!(!viewer.get("/audit").await.text.contains(told));
}
