//! What operators do to one notification.

use crate::world::World;
use serde_json::json;

#[tokio::test]
async fn a_parked_notification_is_retried_from_zero() {
    let mut world = World::new().await;
    let id = world.parked("a").await;
    let answer = world
        .act(&format!("/api/notifications/{id}/retry"))
        .await
        .expect(200);
    assert_eq!(answer, json!({"notificationId": id, "status": "Pending"}));
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(
        (&row["retryCount"], &row["lastError"], &row["generation"]),
        (&json!(0), &json!(null), &json!(1))
    );
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Delivered");
}

#[tokio::test]
async fn what_the_state_does_not_allow_is_a_409_with_the_state() {
    let mut world = World::new().await;
    let delivered = world.delivered("a").await;
    let parked = world.parked("b").await;
    let waiting = world.submitted("c").await;
    for (id, action, found) in [
        (&delivered, "retry", "Delivered"),
        (&delivered, "discard", "Delivered"),
        (&delivered, "cancel", "Delivered"),
        (&waiting, "retry", "Pending"),
        (&waiting, "discard", "Pending"),
        (&waiting, "resend", "Pending"),
        (&parked, "cancel", "Parked"),
        (&parked, "try", "Parked"),
    ] {
        let answer = world.act(&format!("/api/notifications/{id}/{action}")).await;
        assert_eq!(answer.problem(409), "wrong_state", "{action} of {found}");
        assert_eq!(answer.json()["notificationStatus"], found);
    }
    for action in ["retry", "discard", "cancel", "resend", "try"] {
        let answer = world
            .act(&format!(
                "/api/notifications/0197f6f0-0000-7000-8000-000000000001/{action}"
            ))
            .await;
        assert_eq!(answer.problem(404), "not_found", "{action}");
    }
    assert_eq!(world.status(&delivered).await, "Delivered");
    assert_eq!(world.status(&parked).await, "Parked");
    assert_eq!(world.status(&waiting).await, "Pending");
}

#[tokio::test]
async fn discarding_and_cancelling_end_a_notification_for_good() {
    let mut world = World::new().await;
    let parked = world.parked("a").await;
    let waiting = world.submitted("b").await;
    let answer = world
        .act(&format!("/api/notifications/{parked}/discard"))
        .await
        .expect(200);
    assert_eq!(answer["status"], "Discarded");
    world
        .act(&format!("/api/notifications/{waiting}/cancel"))
        .await
        .expect(200);
    assert_eq!(world.status(&parked).await, "Discarded");
    assert_eq!(world.status(&waiting).await, "Discarded");
    let again = world.act(&format!("/api/notifications/{parked}/discard")).await;
    assert_eq!(again.problem(409), "wrong_state");
}

#[tokio::test]
async fn what_is_parked_or_discarded_is_sent_again_as_a_new_one_and_stays_as_it_is() {
    let mut world = World::new().await;
    let parked = world.parked("a").await;
    let discarded = world.parked("b").await;
    world
        .act(&format!("/api/notifications/{discarded}/discard"))
        .await
        .expect(200);
    for (id, status) in [(&parked, "Parked"), (&discarded, "Discarded")] {
        let answer = world.act(&format!("/api/notifications/{id}/resend")).await;
        let new = answer.expect(202)["notificationId"].as_str().unwrap().to_owned();
        assert_eq!(world.status(id).await, status);
        world.dispatcher.sweep().await.unwrap();
        assert_eq!(world.status(&new).await, "Delivered");
        let log = world.get(&format!("/api/notifications/{id}/attempts")).await;
        let told = log.expect(200)["items"].as_array().unwrap().clone();
        let asked = told.iter().find(|row| row["kind"] == "NotifyResend").unwrap();
        assert_eq!(
            (&asked["actor"], &asked["detail"]),
            (&json!("key:operator"), &json!(format!("as {new}")))
        );
    }
}

#[tokio::test]
async fn a_delivered_notification_is_sent_once_more_as_a_new_one() {
    let mut world = World::new().await;
    let id = world.delivered("a").await;
    let answer = world
        .act(&format!("/api/notifications/{id}/resend"))
        .await
        .expect(202);
    assert_eq!(
        (&answer["resendOf"], &answer["status"]),
        (&json!(id), &json!("Pending"))
    );
    let new = answer["notificationId"].as_str().unwrap();
    assert_ne!(new, id);
    let row = world.get(&format!("/api/notifications/{new}")).await.expect(200);
    assert_eq!((&row["subject"], &row["resendOf"]), (&json!("a"), &json!(id)));
    assert!(row["idempotencyKey"].as_str().unwrap().starts_with("manual:"));
}

#[tokio::test]
async fn a_waiting_notification_is_tried_now_and_its_attempt_counts() {
    let mut world = World::new().await;
    let failure = domain::Failure::transient(domain::Scope::Message, "SMTP_451", "later");
    world.mail.answers(domain::Outcome::Failed(failure));
    let id = world.submitted("Tank 4").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Retrying");
    world.mail.accepts();
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Retrying", "it is not due");
    let answer = world
        .act(&format!("/api/notifications/{id}/try"))
        .await
        .expect(200);
    assert_eq!(answer, json!({"notificationId": id, "status": "Retrying"}));
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Delivered");
    let tried = world.act("/api/providers/mail/try").await.expect(200);
    assert_eq!(tried, json!({"moved": 0}));
    world.act("/api/providers/mail/hold").await.expect(200);
    assert_eq!(
        world.act("/api/providers/mail/try").await.problem(409),
        "conflict"
    );
}

#[tokio::test]
async fn a_reason_is_kept_and_where_it_is_demanded_nothing_is_given_up_without() {
    let mut world = World::new().await;
    let parked = world.parked("a").await;
    let settings = central::Settings {
        discard_needs_reason: true,
        ..central::Settings::named("node-2")
    };
    let mut strict = world.central.clone();
    strict.settings = std::sync::Arc::new(settings);
    world.router = web::router(web::WebState::new(strict));
    let place = format!("/api/notifications/{parked}/discard");
    assert_eq!(world.act(&place).await.bad_fields(), ["reason"]);
    let bulk = world
        .post("/api/notifications/discard", json!({"filter": {}}))
        .await;
    assert_eq!(bulk.bad_fields(), ["reason"]);
    let long = "x".repeat(501);
    assert_eq!(
        world.post(&place, json!({"reason": long})).await.bad_fields(),
        ["reason"]
    );
    world
        .post(&place, json!({"reason": " emptied by hand "}))
        .await
        .expect(200);
    let log = world
        .get(&format!("/api/notifications/{parked}/attempts"))
        .await
        .expect(200);
    let last = log["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["status"], &last["detail"]),
        (&json!("Discarded"), &json!("emptied by hand"))
    );
}

#[tokio::test]
async fn what_expired_goes_out_after_all_with_a_new_end() {
    let mut world = World::new().await;
    let parked = world.parked("a").await;
    let place = format!("/api/notifications/{parked}/resend");
    let late = world
        .post(&place, json!({"expiresAt": "2020-01-01T00:00:00Z"}))
        .await;
    assert_eq!(late.bad_fields(), ["expiresAt"]);
    let end = "2099-12-31T00:00:00.000Z";
    let repeat = world.post(&place, json!({"expiresAt": end})).await.expect(202);
    let id = repeat["notificationId"].as_str().unwrap();
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(row["expiresAt"], end);
}
