//! Notification lists and their entries.

use crate::world::World;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn a_list_is_made_read_replaced_and_removed() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let body = json!({"name": "on call/1", "recipients": [{"name": "Ann", "address": "ann@example.com"},
                      {"address": "+4912345", "type": "Sms", "enabled": false}]});
    let made = world.post("/api/lists", body.clone()).await;
    let shown = json!({"name": "on call/1", "recipients": [
        {"name": "Ann", "address": "ann@example.com", "type": "Email", "enabled": true},
        {"name": null, "address": "+4912345", "type": "Sms", "enabled": false},
    ]});
    assert_eq!(made.expect(201), shown);
    let place = made.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(place, "/api/lists/on%20call%2F1");
    assert_eq!(world.get(&place).await.expect(200), shown);
    assert_eq!(world.post("/api/lists", body).await.problem(409), "conflict");
    // What was read can be sent back.
    world.ask("PUT", &place, &admin, Some(shown)).await.expect(200);
    let replaced = world
        .ask("PUT", &place, &admin, Some(json!({"recipients": []})))
        .await
        .expect(200);
    assert_eq!(replaced["recipients"], json!([]));
    world.ask("DELETE", &place, &admin, None).await.expect(204);
    assert_eq!(world.get(&place).await.problem(404), "not_found");
    assert_eq!(
        world.ask("DELETE", &place, &admin, None).await.problem(404),
        "not_found"
    );
    assert_eq!(
        world
            .ask("PUT", &place, &admin, Some(json!({})))
            .await
            .problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn every_bad_field_of_a_list_is_named() {
    let world = World::new().await;
    let bad = json!({"recipients": [{"adress": "x"}, 7, {"address": "a", "type": "Pigeon", "enabled": "yes"}], "x": 1});
    let mut named = world.post("/api/lists", bad).await.bad_fields();
    named.sort_unstable();
    let wanted = [
        "name",
        "recipients[0].address",
        "recipients[0].adress",
        "recipients[1]",
        "recipients[2].enabled",
        "recipients[2].type",
        "x",
    ];
    assert_eq!(named, wanted);
    let twice = json!({"name": "n", "recipients": [{"address": "a@b"}, {"address": "a@b"}]});
    assert_eq!(
        world.post("/api/lists", twice).await.bad_fields(),
        ["recipients[1].address"]
    );
    let blank = world
        .post("/api/lists/ops/recipients", json!({"address": " "}))
        .await;
    assert_eq!(blank.bad_fields(), ["address"]);
    let renamed = world
        .ask(
            "PUT",
            "/api/lists/ops",
            &world.key(Role::Admin),
            Some(json!({"name": "x"})),
        )
        .await;
    assert_eq!(renamed.bad_fields(), ["name"]);
}

#[tokio::test]
async fn entries_are_added_replaced_and_taken_off_one_by_one() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let entries = "/api/lists/ops/recipients";
    let made = world.post(entries, json!({"address": "ann+x@example.com"})).await;
    assert_eq!(made.expect(201)["type"], "Email");
    let place = made.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(
        world
            .post(entries, json!({"address": "ann+x@example.com"}))
            .await
            .problem(409),
        "conflict"
    );
    world
        .post(
            entries,
            json!({"address": "ann+x@example.com", "type": "Pushbullet"}),
        )
        .await
        .expect(201);
    let ambiguous = world.ask("DELETE", &place, &admin, None).await;
    assert_eq!(ambiguous.bad_fields(), ["type"]);
    let off = json!({"enabled": false});
    let replaced = world
        .ask("PUT", &format!("{place}?type=Email"), &admin, Some(off))
        .await
        .expect(200);
    assert_eq!(
        (&replaced["address"], &replaced["enabled"]),
        (&json!("ann+x@example.com"), &json!(false))
    );
    world
        .ask("DELETE", &format!("{place}?type=Pushbullet"), &admin, None)
        .await
        .expect(204);
    let left = world.get(entries).await.expect(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 2);
    let gone = world
        .ask("DELETE", &format!("{place}?type=Pushbullet"), &admin, None)
        .await;
    assert_eq!(gone.problem(404), "not_found");
    assert_eq!(
        world.get("/api/lists/nope/recipients").await.problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn entries_added_at_the_same_time_are_all_kept() {
    let world = World::new().await;
    let asked = (0..20).map(|n| {
        world.post(
            "/api/lists/ops/recipients",
            json!({"address": format!("{n}@example.com")}),
        )
    });
    for answer in futures_util::future::join_all(asked).await {
        answer.expect(201);
    }
    let list = world.get("/api/lists/ops").await.expect(200);
    assert_eq!(list["recipients"].as_array().unwrap().len(), 21);
}

#[tokio::test]
async fn an_address_no_far_end_could_take_is_refused_by_the_type_it_is_for() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let list = json!({"name": "night", "recipients": [
        {"address": "fine@example.com"},
        {"address": "rubbish"},
        {"address": "a@x.example, b@x.example"},
        {"address": "ops@example.com", "type": "Sms"},
        {"address": "+491511234567", "type": "Sms"},
        {"address": "https://example.com", "type": "Webhook"},
    ]});
    let refused = world.ask("POST", "/api/lists", &admin, Some(list)).await;
    let wanted = [1, 2, 3, 5].map(|i| format!("recipients[{i}].address"));
    assert_eq!(refused.bad_fields(), wanted);
    let one = json!({"address": "rubbish"});
    let path = "/api/lists/ops/recipients";
    let refused = world.ask("POST", path, &admin, Some(one)).await;
    assert_eq!(refused.bad_fields(), ["address"]);
}

#[tokio::test]
async fn an_address_that_was_taken_before_it_was_checked_keeps_nobody_from_changing_the_list() {
    let world = World::new().await;
    let old = |address: &str| domain::Recipient {
        name: None,
        address: address.into(),
        channel: None,
        enabled: true,
    };
    let list = store::directory::List {
        name: "old".into(),
        recipients: vec![old("rubbish"), old("more rubbish"), old("a@example.com")],
    };
    let (tenant, actor) = (domain::TenantId::DEFAULT, domain::Actor::system());
    world.central.store.put_list(tenant, &list, &actor).await.unwrap();
    let admin = world.key(Role::Admin);
    let gone = world
        .ask("DELETE", "/api/lists/old/recipients/rubbish", &admin, None)
        .await;
    assert_eq!(gone.status, 204, "{}", gone.text);
}
