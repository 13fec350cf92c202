//! The link of a mail by which its recipient asks for no more.

use crate::world::World;
use axum::{body::Body, http::Request};
use domain::TenantId;
use serde_json::json;

fn path(world: &World, topic: Option<&str>) -> String {
    let unsubscribing =
        central::unsubscribe::Unsubscribing::new(world.central.directory.sealer().clone(), Some("http://x"));
    let link = unsubscribing
        .link(TenantId::DEFAULT, "ops@example.com", topic)
        .unwrap();
    link.strip_prefix("http://x").unwrap().to_owned()
}

#[tokio::test]
async fn looking_at_the_link_does_nothing_and_one_click_does() {
    let mut world = World::new().await;
    let path = path(&world, None);
    let page = world.ask("GET", &path, "", None).await;
    assert_eq!(page.status.as_u16(), 200);
    assert!(page.text.contains("ops@example.com") && page.text.contains("<form method=\"post\""));
    assert_eq!(
        world.get("/api/suppressions").await.expect(200)["items"],
        json!([])
    );

    for media in [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let request = Request::post(&path).header("content-type", media);
        let answer = world
            .send(request.body(Body::from("List-Unsubscribe=One-Click")).unwrap())
            .await;
        assert_eq!(answer.status.as_u16(), 200, "{media}");
        assert!(answer.text.contains("gets no more mail"), "{media}");
    }
    let entries = world.get("/api/suppressions").await.expect(200)["items"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 1);
    assert_eq!(
        (&entries[0]["source"], &entries[0]["channel"]),
        (&json!("Unsubscribe"), &json!("Email"))
    );
    let id = world.submitted("after that").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Discarded");
}

#[tokio::test]
async fn a_link_that_nobody_here_made_changes_nothing() {
    let world = World::new().await;
    let made = path(&world, Some("booking.confirmed"));
    for path in [
        "/unsubscribe/x".to_owned(),
        format!("{made}A"),
        made.replace("/unsubscribe/", "/unsubscribe/A"),
    ] {
        for method in ["GET", "POST"] {
            let answer = world.ask(method, &path, "", None).await;
            assert_eq!(answer.status.as_u16(), 404, "{method} {path}");
        }
    }
    assert_eq!(
        world.get("/api/suppressions").await.expect(200)["items"],
        json!([])
    );
}
