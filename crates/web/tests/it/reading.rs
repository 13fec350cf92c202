//! Reading notifications: filters, status, attempts, holds, figures, audit.

use crate::{console::visitor::Visitor, world::World};
use domain::{Failure, HoldReason, Outcome, Scope, TenantId};
use serde_json::{Value, json};
use std::time::Duration;
use store::directory::Role;

async fn subjects(world: &World, query: &str) -> Vec<String> {
    let page = world
        .get(&format!("/api/notifications?{query}"))
        .await
        .expect(200);
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|row| row["subject"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let mut world = World::new().await;
    let parked = world.parked("Pump broke").await;
    world.delivered("Pump runs").await;
    let tank = json!({"to": ["a@example.com"], "subject": "Tank", "body": "x", "sourceSiteId": "plant",
                      "entityType": "tank", "entityId": "4"});
    world.post("/api/notifications", tank).await.expect(202);
    assert_eq!(subjects(&world, "").await, ["Tank", "Pump runs", "Pump broke"]);
    assert_eq!(
        subjects(&world, "status=parked,Delivered").await,
        ["Pump runs", "Pump broke"]
    );
    assert_eq!(subjects(&world, "q=PUMP&status=Parked").await, ["Pump broke"]);
    assert_eq!(subjects(&world, "site=plant").await, ["Tank"]);
    assert_eq!(subjects(&world, "entityType=tank&entityId=4").await, ["Tank"]);
    assert_eq!(subjects(&world, "list=ops").await, ["Pump runs", "Pump broke"]);
    assert_eq!(subjects(&world, "errorCode=SMTP_550").await, ["Pump broke"]);
    assert_eq!(
        subjects(&world, "provider=mail&type=Email&limit=2").await,
        ["Tank", "Pump runs"]
    );
    assert_eq!(subjects(&world, "type=Slack").await, [""; 0]);
    assert_eq!(subjects(&world, "to=2025-01-01T00:00:00Z").await, [""; 0]);
    assert_eq!(subjects(&world, "stuck=true").await, [""; 0]);
    world.temp.clock.advance(Duration::from_secs(601));
    assert_eq!(subjects(&world, "stuck=true").await, ["Tank"]);
    let row = world
        .get(&format!("/api/notifications/{parked}"))
        .await
        .expect(200);
    assert_eq!(
        (&row["errorCode"], &row["stuck"]),
        (&json!("SMTP_550"), &json!(false))
    );
}

#[tokio::test]
async fn a_search_looks_back_seven_days_and_says_so() {
    let world = World::new().await;
    world.submitted("Pump").await;
    world.temp.clock.advance(Duration::from_secs(8 * 86_400));
    let page = world.get("/api/notifications?q=pump").await.expect(200);
    assert_eq!(
        (&page["items"], &page["from"]),
        (&json!([]), &json!("2026-01-02T00:00:00.000Z"))
    );
    assert_eq!(
        subjects(&world, "q=pump&from=2026-01-01T00:00:00Z").await,
        ["Pump"]
    );
    assert_eq!(
        world.get("/api/notifications").await.expect(200)["from"],
        Value::Null
    );
}

#[tokio::test]
async fn a_row_of_a_list_has_no_content_and_the_whole_one_has() {
    let mut world = World::new().await;
    let id = world.delivered("Pump").await;
    let page = world.get("/api/notifications").await.expect(200);
    let row = page["items"][0].as_object().unwrap();
    for name in ["body", "bodyHtml", "typeData", "recipients"] {
        assert!(!row.contains_key(name), "{name}");
    }
    let whole = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    for name in row.keys() {
        assert_eq!(whole[name], row[name], "{name}");
    }
    assert_eq!(
        (&whole["body"], &whole["resolvedTargets"]),
        (&json!("text"), &json!(["ops@example.com"]))
    );
    assert_ne!(whole["deliveredAt"], Value::Null);
    assert_eq!(whole["endedAt"], whole["deliveredAt"]);
}

#[tokio::test]
async fn the_status_of_what_ended_has_exactly_its_nine_fields() {
    let mut world = World::new().await;
    let id = world.delivered("Pump").await;
    let status = world
        .get(&format!("/api/notifications/{id}/status"))
        .await
        .expect(200);
    let mut names: Vec<_> = status.as_object().unwrap().keys().cloned().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "deliveredAt",
            "deliveryState",
            "enqueuedAt",
            "errorCode",
            "lastError",
            "notificationId",
            "receipt",
            "retryCount",
            "status"
        ]
    );
    assert_eq!(
        (&status["status"], &status["deliveryState"]),
        (&"Delivered".into(), &"sent".into())
    );
}

#[tokio::test]
async fn attempts_tell_the_story_of_one_notification() {
    let mut world = World::new().await;
    let id = world.parked("Pump").await;
    let story = world
        .get(&format!("/api/notifications/{id}/attempts"))
        .await
        .expect(200);
    let steps: Vec<_> = story["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["status"].as_str().unwrap())
        .collect();
    assert_eq!(steps.last(), Some(&"Parked"), "{story}");
    assert!(steps.contains(&"Attempted"), "{story}");
    assert!(
        story["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["notificationId"] == json!(id))
    );
}

#[tokio::test]
async fn a_row_that_waits_for_a_held_provider_says_why_and_until_when() {
    let mut world = World::new().await;
    let refusal = Failure::transient(Scope::Lane, "SMTP_535", "bad credentials").holding(HoldReason::Auth);
    world.mail.answers(Outcome::Failed(refusal));
    let id = world.submitted("Pump").await;
    world.dispatcher.sweep().await.unwrap();
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(row["held"]["reason"], "auth", "{row}");
    assert_ne!(row["held"]["nextProbe"], Value::Null);
    assert_eq!(row["retryCount"], 0);
    let lanes = world.get("/api/lanes").await.expect(200);
    assert_eq!(
        (&lanes["items"][0]["provider"], &lanes["items"][0]["waiting"]),
        (&json!("mail"), &json!(1))
    );
    let lane = &lanes["items"][0];
    let words = "the provider refuses our credentials";
    assert_eq!(
        (&lane["state"], &lane["words"], &lane["wrong"]),
        (&json!("held"), &json!(words), &json!(true))
    );
    assert_eq!(lane["detail"], "bad credentials");
    assert!(
        lane["advice"]
            .as_str()
            .unwrap()
            .contains("waypost provider set mail")
    );
    assert_eq!(
        (&lane["hold"]["code"], &lane["hold"]["by"]),
        (&json!("SMTP_535"), &Value::Null)
    );
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for path in [
        "/",
        "/providers",
        "/providers/mail",
        &format!("/notifications/{id}"),
    ] {
        let page = visitor.get(path).await.text;
        assert!(page.contains(words), "{path}: {page}");
    }
    let provider = world.get("/api/providers/mail").await.expect(200);
    assert_eq!(provider["hold"]["reason"], "auth");
}

#[tokio::test]
async fn the_figures_count_the_tenant_and_each_site() {
    let mut world = World::new().await;
    world.parked("a").await;
    world.delivered("b").await;
    let tank = json!({"listName": "ops", "body": "x", "sourceSiteId": "plant"});
    world.post("/api/notifications", tank).await.expect(202);
    let kpis = world.get("/api/kpis").await.expect(200);
    let wanted = json!({"queueDepth": 1, "stuckCount": 0, "parkedCount": 1, "deliveredLastInterval": 1,
                        "oldestPendingAgeSeconds": 0});
    assert_eq!(kpis, wanted);
    let sites = world.get("/api/kpis/sites").await.expect(200);
    let sites = sites["items"].as_array().unwrap();
    let plant = sites.iter().find(|s| s["site"] == "plant").unwrap();
    let none = sites.iter().find(|s| s["site"].is_null()).unwrap();
    assert_eq!(
        (&plant["queueDepth"], &none["parkedCount"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test]
async fn the_audit_log_is_filtered_by_time_kind_status_actor_and_correlation() {
    let mut world = World::new().await;
    let id = world.parked("a").await;
    world
        .act(&format!("/api/notifications/{id}/discard"))
        .await
        .expect(200);
    let count = async |query: &str| {
        let page = world.get(&format!("/api/audit?{query}")).await.expect(200);
        page["items"].as_array().unwrap().len()
    };
    assert!(count("").await > 3);
    assert_eq!(count("kind=NotifySend").await, 1);
    assert_eq!(count("status=Discarded&actor=key:operator").await, 1);
    assert_eq!(count("kind=NotifyDeliver&status=Parked").await, 1);
    assert!(count(&format!("correlation={id}")).await >= 3);
    assert_eq!(count("to=2025-01-01T00:00:00Z").await, 0);
    let bad = world.get("/api/audit?kind=x&status=y&correlation=z&from=q").await;
    let mut named = bad.bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["correlation", "from", "kind", "status"]);
}

#[tokio::test]
async fn a_row_that_waits_says_why_and_until_when_wherever_it_is_shown() {
    let mut world = World::new().await;
    let slow = Failure::transient(Scope::Lane, "SMTP_421", "too fast").after(Some(Duration::from_secs(300)));
    world.mail.answers(slow.into());
    world.submitted("first").await;
    world.dispatcher.sweep().await.unwrap();
    let id = world.submitted("second").await;
    let whole = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    let waiting = &whole["waiting"];
    assert_eq!(waiting["reason"], "throttled");
    assert!(waiting["until"].as_str().unwrap() > whole["createdAt"].as_str().unwrap());
    assert_eq!(
        whole["nextAttemptAt"], waiting["until"],
        "no time that has passed"
    );
    let status = world
        .get(&format!("/api/notifications/{id}/status"))
        .await
        .expect(200);
    assert_eq!(&status["waiting"], waiting);
    let page = world.get("/api/notifications?status=Pending").await.expect(200);
    assert_eq!(&page["items"][0]["waiting"], waiting);
    let lanes = world.get("/api/lanes").await.expect(200);
    assert_eq!(lanes["items"][0]["notBefore"], waiting["until"]);
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for path in ["/notifications".to_owned(), format!("/notifications/{id}")] {
        let page = visitor.get(&path).await.text;
        assert!(page.contains("the far end asked for a pause"), "{path}: {page}");
    }
    let hold = json!({"reason": "new server tonight"});
    world.post("/api/providers/mail/hold", hold).await.expect(200);
    let held = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(held["waiting"]["reason"], "held");
    assert_eq!(
        (&held["waiting"]["until"], &held["nextAttemptAt"]),
        (&json!(null), &json!(null))
    );
}

#[tokio::test]
async fn a_search_finds_ids_message_ids_addresses_and_words() {
    let world = World::new().await;
    let pump = json!({"to": ["ann@example.com"], "subject": "Pump 12345678 is empty", "body": "x"});
    let pump = world.post("/api/notifications", pump).await.expect(202);
    let pump = pump["notificationId"].as_str().unwrap().to_owned();
    world.submitted("something else").await;
    for q in [
        pump.clone(),
        pump[..13].to_owned(),
        format!("<{pump}@example.com>"),
        "ann@example.com".into(),
        "empty pump".into(),
        "12345678".into(),
    ] {
        let place = format!("/api/notifications?q={}", web::api::lists::encode(&q));
        let found = world.get(&place).await.expect(200);
        let ids: Vec<_> = found["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| &row["notificationId"])
            .collect();
        assert_eq!(ids, [&json!(pump)], "{q}");
    }
}

#[tokio::test]
async fn a_lane_whose_attempts_fail_says_so_everywhere_in_the_same_words() {
    let mut world = World::new().await;
    let busy = Failure::transient(Scope::Message, "PROVIDER_ERROR", "503 no").with_own_code("HTTP_503");
    world.mail.answers(Outcome::Failed(busy));
    for n in 0..3 {
        world.submitted(&format!("Pump {n}")).await;
    }
    world.dispatcher.sweep().await.unwrap();
    let words = "3 of the last 3 attempts failed (HTTP_503)";
    let lanes = world.get("/api/lanes").await.expect(200);
    let lane = &lanes["items"][0];
    assert_eq!(
        (&lane["state"], &lane["words"]),
        (&json!("failing"), &json!(words))
    );
    assert_eq!(
        lane["lastAttempts"],
        json!({"count": 3, "failed": 3, "code": "HTTP_503"})
    );
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for path in ["/", "/providers", "/providers/mail"] {
        let page = visitor.get(path).await.text;
        assert!(page.contains(words), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_hold_is_not_told_as_older_than_the_message_that_waits_for_it() {
    let world = World::new().await;
    let hold = json!({"reason": "new server tonight"});
    world.post("/api/providers/mail/hold", hold).await.expect(200);
    let held_at = domain::Clock::now(&*world.temp.clock);
    world.temp.clock.advance(Duration::from_secs(86_400));
    let id = world.submitted("Pump").await;
    let sent_at = domain::Clock::now(&*world.temp.clock).to_string();
    let place = format!("/api/notifications/{id}");
    let status = world.get(&format!("{place}/status")).await.expect(200);
    assert_eq!(status["hold"]["since"], json!(sent_at), "{status}");
    let whole = world.get(&place).await.expect(200);
    assert_eq!(whole["held"]["since"], json!(sent_at), "{whole}");
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor.get(&format!("/notifications/{id}")).await.text;
    assert!(page.contains("Waits: stopped by key:"), "{page}");
    assert!(!page.contains(&held_at.to_string()), "{page}");
}
