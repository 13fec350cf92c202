//! Live events.

use crate::world::{OTHER, World};
use axum::{
    body::{Body, BodyDataStream},
    http::Request,
};
use central::changes::Change;
use domain::{Failure, HoldReason, NotificationId, Outcome, Scope, Status, TenantId};
use futures_util::StreamExt;
use serde_json::{Value, json};
use store::directory::Role;
use tower::ServiceExt;

struct Events(BodyDataStream, String);

impl Events {
    async fn open(world: &World, key: &str) -> Self {
        let request = Request::get("/api/stream").header("authorization", format!("Bearer {key}"));
        let response = world
            .router
            .clone()
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body().into_data_stream(), String::new())
    }

    /// The next event's name and data; none when the stream has ended.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let part = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name))
                        .map(str::trim)
                };
                let found = part("event:")
                    .map(|name| (name.to_owned(), part("data:").unwrap_or_default().to_owned()));
                self.1 = rest.to_owned();
                if let Some((name, data)) = found {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let chunk = self.0.next().await?.unwrap();
            self.1.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

#[tokio::test]
async fn changes_of_the_tenant_and_only_those_are_streamed() {
    let mut world = World::new().await;
    let mut events = Events::open(&world, &world.key(Role::Viewer)).await;
    let (name, kpis) = events.next().await.unwrap();
    assert_eq!((name.as_str(), &kpis["queueDepth"]), ("kpis", &json!(0)));
    world.submitted_by(OTHER, "theirs").await;
    let id = world.parked("mine").await;
    let mut seen = vec![];
    while seen.len() < 2 {
        let (name, data) = events.next().await.unwrap();
        if name == "change" {
            assert_eq!(data["notificationId"], json!(id));
            seen.push((
                data["status"].as_str().unwrap().to_owned(),
                data["errorCode"].clone(),
            ));
        }
    }
    assert_eq!(
        seen,
        [
            ("Pending".to_owned(), Value::Null),
            ("Parked".to_owned(), json!("SMTP_550"))
        ]
    );
}

/// The status the stream tells of each change of this notification, until one of them is `last`.
async fn told_until(events: &mut Events, id: &str, last: &str) -> Vec<String> {
    let mut told: Vec<String> = vec![];
    while told.last().is_none_or(|status| status != last) {
        let (name, data) = events.next().await.unwrap();
        if name == "change" && data["notificationId"] == json!(id) {
            told.push(data["status"].as_str().unwrap().to_owned());
        }
    }
    told
}

#[tokio::test]
async fn a_row_that_went_back_uncounted_is_told_as_what_it_is() {
    let mut world = World::new().await;
    let mut events = Events::open(&world, &world.key(Role::Viewer)).await;
    let refused = Failure::permanent(Scope::Lane, "SMTP_535", "no").holding(HoldReason::Auth);
    world.mail.answers(Outcome::Failed(refused));
    let id = world.submitted("mine").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Pending");
    world.mail.accepts();
    world.act("/api/providers/mail/resume").await.expect(200);
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(
        told_until(&mut events, &id, "Delivered").await,
        ["Pending", "Pending", "Delivered"]
    );
}

#[tokio::test]
async fn what_another_node_tells_is_streamed_and_what_it_left_out_is_counted() {
    let world = World::new().await;
    let mut events = Events::open(&world, &world.key(Role::Viewer)).await;
    let id = NotificationId::mint();
    let changes = vec![Change {
        tenant: TenantId::DEFAULT,
        id,
        status: Status::Parked,
        code: Some("SMTP_550".into()),
    }];
    world.central.changes.heard(changes, 3);
    assert_eq!(
        told_until(&mut events, &id.to_string(), "Parked").await,
        ["Parked"]
    );
    assert_eq!(
        events.next().await.unwrap(),
        ("missed".to_owned(), json!({"changes": 3}))
    );
}

#[tokio::test]
async fn a_stream_ends_soon_after_its_key_is_revoked() {
    let world = World::new().await;
    let made = world
        .post("/api/keys", json!({"name": "watcher", "role": "viewer"}))
        .await
        .expect(201);
    let mut events = Events::open(&world, made["key"].as_str().unwrap()).await;
    assert_eq!(events.next().await.unwrap().0, "kpis");
    let place = format!("/api/keys/{}", made["id"]);
    world
        .ask("DELETE", &place, &world.key(Role::Admin), None)
        .await
        .expect(204);
    tokio::time::pause();
    while events.next().await.is_some() {}
}

#[tokio::test]
async fn a_key_has_so_many_streams_and_gets_a_place_back_when_one_ends() {
    let world = World::new().await;
    let key = world.key(Role::Viewer);
    let mut open = vec![];
    for _ in 0..web::streams::PER_LISTENER {
        open.push(Events::open(&world, &key).await);
    }
    let refused = world.ask("GET", "/api/stream", &key, None).await;
    assert_eq!(refused.headers["retry-after"], "30");
    assert_eq!(refused.problem(429), "too_many");
    open.pop();
    Events::open(&world, &key).await;
}
