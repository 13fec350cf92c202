//! One attempt, opened: by the API and in the console.

use crate::{
    console::visitor::Visitor,
    world::{OTHER, World},
};
use domain::TenantId;
use serde_json::Value;
use store::directory::Role;

fn place(id: &str, number: &str) -> String {
    format!("/api/notifications/{id}/attempts/{number}/transcript")
}

#[tokio::test]
async fn an_attempt_is_opened_by_its_number() {
    let mut world = World::new().await;
    let id = world.parked("Pump <3>").await;
    let story = world
        .get(&format!("/api/notifications/{id}/attempts"))
        .await
        .expect(200);
    let attempt = story["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["attempt"] == 1);
    assert_eq!(attempt.unwrap()["hasTranscript"], true, "{story}");
    let said = world.get(&place(&id, "1")).await.expect(200);
    assert_eq!((&said["attempt"], &said["code"]), (&1.into(), &"SMTP_550".into()));
    assert_eq!(said["provider"], "mail");
    let parts: Vec<_> = said["parts"].as_array().unwrap().iter().collect();
    assert_eq!(parts[0]["side"], "sent");
    assert_eq!(parts[0]["text"], "Pump <3>");
    assert_eq!(parts[1]["side"], "received");
    assert!(parts[1]["text"].as_str().unwrap().contains("no such mailbox"));
    assert_eq!(said["cut"], Value::Bool(false));
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_says_why() {
    let mut world = World::new().await;
    let id = world.parked("Pump").await;
    let waiting = world.submitted("Pump 2").await;
    for (id, number) in [
        (&*id, "0"),
        (&id, "2"),
        (&id, "x"),
        (&waiting, "1"),
        ("nobody", "1"),
    ] {
        assert_eq!(world.get(&place(id, number)).await.problem(404), "not_found");
    }
    let mut keep = world.central.settings.retention;
    keep.transcripts = std::time::Duration::ZERO;
    world.temp.clock.advance(std::time::Duration::from_secs(1));
    world.temp.store.purge_chunk(&keep, 10).await.unwrap();
    let gone = world.get(&place(&id, "1")).await;
    assert_eq!(gone.problem(404), "not_found");
    assert!(gone.text.contains("outbox.transcript_retention"), "{}", gone.text);
}

#[tokio::test]
async fn the_console_opens_an_attempt_from_the_story_of_its_notification() {
    let mut world = World::new().await;
    let id = world.parked("Pump <b>3</b>").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let story = visitor.get(&format!("/notifications/{id}")).await.text;
    let link = format!("/notifications/{id}/attempts/1");
    assert!(story.contains(&format!("href=\"{link}\"")), "{story}");
    let page = visitor.get(&link).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("Pump &#60;b&#62;3"), "{}", page.text);
    assert!(page.text.contains("no such mailbox"), "{}", page.text);
    assert_eq!(
        visitor
            .get(&format!("/notifications/{id}/attempts/7"))
            .await
            .status,
        404
    );
    let key = world.key_of(OTHER, Role::Viewer);
    world.ask("GET", &place(&id, "1"), &key, None).await.problem(404);
}
