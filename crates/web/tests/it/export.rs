//! Notifications as CSV.

use crate::world::{Answer, World};
use axum::{body::Body, http::Request};
use serde_json::json;
use store::directory::Role;

async fn csv(world: &World, query: &str) -> Answer {
    let request = Request::get(format!("/api/notifications{query}"))
        .header("authorization", format!("Bearer {}", world.key(Role::Viewer)))
        .header("accept", "text/html, text/csv;q=0.9")
        .body(Body::empty())
        .unwrap();
    world.send(request).await
}

#[tokio::test]
async fn everything_that_matches_is_streamed_over_many_pages() {
    let world = World::new().await;
    for chunk in 0..2 {
        let items: Vec<_> = (0..600)
            .map(|n| json!({"listName": "ops", "subject": format!("row {chunk}-{n}"), "body": "x"}))
            .collect();
        world
            .post("/api/notifications/batch", json!(items))
            .await
            .expect(202);
    }
    let answer = csv(&world, "").await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/csv")
    );
    let lines: Vec<_> = answer.text.lines().collect();
    assert_eq!(lines.len(), 1201);
    assert!(lines[0].starts_with("notificationId,status,type,listName,"));
    let columns = lines[0].split(',').count();
    assert!(lines[1..].iter().all(|line| line.split(',').count() == columns));
    let mut ids: Vec<_> = lines[1..]
        .iter()
        .map(|line| line.split(',').next().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1200);
    assert_eq!(csv(&world, "?limit=700").await.text.lines().count(), 701);
    assert_eq!(csv(&world, "?status=Parked").await.text.lines().count(), 1);
}

#[tokio::test]
async fn what_senders_wrote_cannot_break_out_of_its_cell() {
    let world = World::new().await;
    world.submitted("=cmd|'/c calc'!A1").await;
    world.submitted("a,b \"c\"").await;
    let text = csv(&world, "").await.text;
    assert!(text.contains("\"'=cmd|'/c calc'!A1\""), "{text}");
    assert!(text.contains("\"a,b \"\"c\"\"\""), "{text}");
}

#[tokio::test]
async fn bad_filters_are_refused_before_anything_is_streamed() {
    let world = World::new().await;
    let mut named = csv(&world, "?status=x&nope=1&limit=0").await.bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["limit", "nope", "status"]);
}

#[tokio::test]
async fn a_row_says_why_it_waits_and_until_when_as_the_list_does() {
    let world = World::new().await;
    world.submitted("not yet").await;
    let why = json!({"reason": "moving, today"});
    world.post("/api/providers/mail/hold", why).await.expect(200);
    let text = csv(&world, "").await.text;
    let columns: Vec<_> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(columns[columns.len() - 2..], ["waiting", "waitingDetail"]);
    let row = text.lines().nth(1).unwrap();
    assert!(
        row.ends_with(",held,\"stopped by key:admin: moving, today\""),
        "{row}"
    );
    let item = &world.get("/api/notifications").await.expect(200)["items"][0];
    assert_eq!(item["waiting"]["reason"], "held");
    // It goes on when somebody says so: neither tells a time.
    assert!(item["nextAttemptAt"].is_null(), "{item}");
    let at = columns.iter().position(|name| *name == "nextAttemptAt").unwrap();
    assert_eq!(row.split(',').nth(at), Some(""), "{row}");
    world.act("/api/providers/mail/resume").await;
    let row = csv(&world, "").await.text.lines().nth(1).unwrap().to_owned();
    assert!(row.ends_with(",queued,"), "{row}");
}
