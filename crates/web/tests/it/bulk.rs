//! Retry and discard over a filter, as jobs.

use crate::{console::visitor::encode, world::World};
use domain::Clock;
use serde_json::json;
use std::time::Duration;
use store::directory::Role;

#[tokio::test]
async fn a_job_does_what_the_filter_says_and_tells_how_far_it_is() {
    let mut world = World::new().await;
    let pump = world.parked("Pump").await;
    let tank = world.parked("Tank").await;
    let body = json!({"filter": {"q": "pump", "status": "Parked"}});
    let answer = world.post("/api/notifications/retry", body).await;
    let job = answer.expect(202);
    assert_eq!(
        (&job["action"], &job["total"], &job["finished"]),
        (&json!("retry"), &json!(1), &json!(false))
    );
    assert_eq!(
        (&job["filter"]["q"], &job["totalAtLeast"]),
        (&json!("pump"), &json!(false))
    );
    let place = answer.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(place, format!("/api/jobs/{}", job["id"].as_str().unwrap()));
    world.central.jobs.sweep().await.unwrap();
    let job = world.get(&place).await.expect(200);
    assert_eq!(
        (&job["done"], &job["skipped"], &job["finished"]),
        (&json!(1), &json!(0), &json!(true))
    );
    assert_eq!(world.status(&pump).await, "Pending");
    assert_eq!(world.status(&tank).await, "Parked");
}

#[tokio::test]
async fn everything_parked_is_discarded_by_an_empty_filter_and_only_by_an_explicit_one() {
    let mut world = World::new().await;
    let one = world.parked("a").await;
    let two = world.parked("b").await;
    let waiting = world.submitted("c").await;
    assert_eq!(
        world
            .post("/api/notifications/discard", json!({}))
            .await
            .bad_fields(),
        ["filter"]
    );
    world
        .post("/api/notifications/discard", json!({"filter": {}}))
        .await
        .expect(202);
    world.central.jobs.sweep().await.unwrap();
    for id in [one, two] {
        assert_eq!(world.status(&id).await, "Discarded");
    }
    assert_eq!(world.status(&waiting).await, "Pending");
}

#[tokio::test]
async fn a_dry_run_only_counts() {
    let mut world = World::new().await;
    let id = world.parked("a").await;
    let body = json!({"filter": {}, "dryRun": true});
    let counted = world.post("/api/notifications/discard", body).await.expect(200);
    assert_eq!(
        (&counted["total"], &counted["totalAtLeast"]),
        (&json!(1), &json!(false))
    );
    assert!(counted["asOf"].is_string());
    world.central.jobs.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Parked");
}

#[tokio::test]
async fn a_bad_filter_names_its_fields_and_starts_nothing() {
    let mut world = World::new().await;
    world.parked("a").await;
    let body =
        json!({"filter": {"status": "Pending", "type": "Pigeon", "from": "x", "stuck": true}, "force": true});
    let mut named = world.post("/api/notifications/retry", body).await.bad_fields();
    named.sort_unstable();
    assert_eq!(
        named,
        [
            "filter.from",
            "filter.status",
            "filter.stuck",
            "filter.type",
            "force"
        ]
    );
    assert_eq!(world.central.jobs.sweep().await.unwrap().rows, 0);
}

#[tokio::test]
async fn ops_retries_for_a_tenant_but_does_not_discard() {
    let mut world = World::new().await;
    world.parked("a").await;
    let body = json!({"filter": {}});
    let key = world.key(Role::Ops);
    world
        .ask("POST", "/api/notifications/retry", &key, Some(body.clone()))
        .await
        .expect(202);
    let refused = world
        .ask("POST", "/api/notifications/discard", &key, Some(body))
        .await;
    assert_eq!(refused.problem(403), "forbidden");
}

#[tokio::test]
async fn a_job_that_is_given_the_count_acts_on_nothing_that_parked_after_it() {
    for action in ["retry", "discard"] {
        let mut world = World::new().await;
        let early = world.parked("a").await;
        let path = format!("/api/notifications/{action}");
        let counted = world
            .post(&path, json!({"filter": {}, "dryRun": true}))
            .await
            .expect(200);
        world.temp.clock.advance(Duration::from_secs(22));
        let late = world.parked("b").await;
        let body = json!({"filter": {}, "asOf": counted["asOf"], "total": counted["total"]});
        let job = world.post(&path, body).await.expect(202);
        assert_eq!(
            (&job["total"], &job["filter"]["asOf"]),
            (&json!(1), &counted["asOf"])
        );
        world.central.jobs.sweep().await.unwrap();
        assert_ne!(world.status(&early).await, "Parked");
        assert_eq!(world.status(&late).await, "Parked");
    }
}

#[tokio::test]
async fn a_job_that_would_take_more_than_was_counted_is_a_conflict() {
    let mut world = World::new().await;
    world.parked("a").await;
    world.parked("b").await;
    let now = world.temp.clock.now();
    let body = json!({"filter": {}, "asOf": now.to_string(), "total": 1});
    let refused = world.post("/api/notifications/discard", body).await;
    assert_eq!(refused.problem(409), "conflict");
    let body = json!({"filter": {}, "total": 1});
    let refused = world.post("/api/notifications/discard", body).await;
    assert_eq!(refused.bad_fields(), ["total"]);
}

#[tokio::test]
async fn jobs_are_listed_with_who_asked_and_one_can_be_stopped() {
    let mut world = World::new().await;
    world.parked("a").await;
    let body = json!({"filter": {}, "reason": "spring cleaning"});
    let job = world.post("/api/notifications/discard", body).await.expect(202);
    let all = world.get("/api/jobs").await.expect(200);
    let first = &all["items"][0];
    assert_eq!(first["id"], job["id"]);
    assert_eq!(
        (&first["actor"], &first["reason"]),
        (&json!("key:admin"), &json!("spring cleaning"))
    );
    let place = format!("/api/jobs/{}/stop", job["id"].as_str().unwrap());
    let stopped = world.act(&place).await.expect(200);
    assert_eq!(
        (&stopped["finished"], &stopped["stoppedBy"]),
        (&json!(true), &json!("key:operator"))
    );
    assert_eq!(
        world.central.jobs.sweep().await.unwrap().rows,
        0,
        "nothing is done any more"
    );
    assert_eq!(
        world.act("/api/jobs/nothing/stop").await.problem(404),
        "not_found"
    );
    let elsewhere = world.key_of(crate::world::OTHER, Role::Admin);
    assert_eq!(
        world.ask("POST", &place, &elsewhere, None).await.problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn who_may_only_replay_stops_replays_and_what_they_asked_for_and_nothing_else() {
    let mut world = World::new().await;
    world.parked("a").await;
    let [ops, admin, viewer] = [Role::Ops, Role::Admin, Role::Viewer].map(|role| world.key(role));
    for (path, started_by, stopped_by, code) in [
        ("/api/events/replay", &ops, &ops, 200),
        ("/ops/outbox/replay", &ops, &ops, 200),
        ("/api/automation-schedules/replay", &admin, &ops, 200),
        ("/api/events/replay", &ops, &viewer, 403),
        ("/api/notifications/retry", &ops, &ops, 200),
        ("/api/notifications/retry", &admin, &ops, 403),
        ("/api/notifications/discard", &admin, &ops, 403),
        ("/api/notifications/retry", &ops, &admin, 200),
    ] {
        let body = Some(json!({"filter": {}}));
        let job = world.ask("POST", path, started_by, body).await.expect(202);
        let place = format!("/api/jobs/{}/stop", job["id"].as_str().unwrap());
        let answer = world.ask("POST", &place, stopped_by, None).await;
        match code {
            200 => assert!(!answer.expect(200)["stoppedBy"].is_null(), "{path}"),
            _ => assert_eq!(answer.problem(403), "forbidden", "{path}"),
        }
    }
}

#[tokio::test]
async fn cancel_and_resend_go_over_a_filter_of_the_states_they_are_for() {
    let mut world = World::new().await;
    let delivered = world.delivered("a").await;
    let parked = world.parked("b").await;
    let waiting = world.submitted("c").await;
    let count = async |action: &str, filter: serde_json::Value| {
        let body = json!({"filter": filter, "dryRun": true});
        world.post(&format!("/api/notifications/{action}"), body).await
    };
    assert_eq!(count("cancel", json!({})).await.expect(200)["total"], 1);
    assert_eq!(count("resend", json!({})).await.expect(200)["total"], 1);
    assert_eq!(
        count("resend", json!({"status": "Delivered"})).await.expect(200)["total"],
        1
    );
    assert_eq!(
        count("cancel", json!({"status": "Parked"})).await.bad_fields(),
        ["filter.status"]
    );
    assert_eq!(
        count("resend", json!({"status": "Pending"})).await.bad_fields(),
        ["filter.status"]
    );
    world
        .post("/api/notifications/cancel", json!({"filter": {}}))
        .await
        .expect(202);
    world
        .post(
            "/api/notifications/resend",
            json!({"filter": {"status": "Delivered"}}),
        )
        .await
        .expect(202);
    world.central.jobs.sweep().await.unwrap();
    assert_eq!(world.status(&waiting).await, "Discarded");
    assert_eq!(world.status(&parked).await, "Parked");
    let log = world
        .get(&format!("/api/notifications/{delivered}/attempts"))
        .await
        .expect(200);
    assert_eq!(
        log["items"].as_array().unwrap().last().unwrap()["kind"],
        "NotifyResend"
    );
}

#[tokio::test]
async fn what_a_search_by_id_shows_is_what_a_bulk_action_over_it_is_about() {
    let mut world = World::new().await;
    let wanted = world.parked("Pump").await;
    // Found by its id, it is found although it is older than a search for words looks.
    world.temp.clock.advance(Duration::from_secs(30 * 24 * 3600));
    let other = world.parked("Tank").await;
    for text in [
        wanted.clone(),
        wanted[..24].to_owned(),
        format!("<{wanted}@waypost.example>"),
    ] {
        let shown = world
            .get(&format!("/api/notifications?q={}", encode(&text)))
            .await
            .expect(200);
        assert_eq!(shown["items"].as_array().unwrap().len(), 1, "{text}");
        let body = json!({"filter": {"q": text}, "dryRun": true});
        let counted = world.post("/api/notifications/retry", body).await.expect(200);
        assert_eq!(counted["total"], 1, "{text}");
    }
    let body = json!({"filter": {"q": wanted[..24]}});
    let job = world.post("/api/notifications/retry", body).await.expect(202);
    assert_eq!(
        (&job["total"], &job["filter"]["id"]),
        (&json!(1), &json!(wanted[..24]))
    );
    world.central.jobs.sweep().await.unwrap();
    assert_eq!(world.status(&wanted).await, "Pending");
    assert_eq!(world.status(&other).await, "Parked");
    // It was found by its id and is not what the other filters ask for: no word is looked for in its place.
    let later = format!("/api/notifications?q={wanted}&from={}", world.temp.clock.now());
    let none = world.get(&later).await.expect(200);
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn a_bulk_action_over_words_looks_back_seven_days_as_the_list_does() {
    let mut world = World::new().await;
    world.parked("Pump").await;
    world.temp.clock.advance(Duration::from_secs(8 * 24 * 3600));
    world.parked("Pump").await;
    let body = json!({"filter": {"q": "pump"}, "dryRun": true});
    let counted = world.post("/api/notifications/retry", body).await.expect(200);
    assert_eq!(counted["total"], 1);
}
