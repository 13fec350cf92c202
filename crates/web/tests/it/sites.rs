//! Sites over the API: registered here, asked over a real link.

use crate::{
    console::visitor::Visitor,
    world::{MINE, OTHER, World},
};
use domain::{Clock, Jitter, SiteId, TenantId};
use link::{
    LinkClient, LinkState, Options, Uplink,
    server::{self, Identity},
};
use serde_json::json;
use std::{collections::BTreeSet, sync::Arc};
use store::directory::Role;
use testkit::{
    Network, eventually,
    site::{ASite, a_telemetry},
};
use tokio_util::sync::CancellationToken;

pub struct Linked {
    pub network: Network,
    pub site: Arc<ASite>,
    pub link: LinkClient,
    pub options: Options,
}

/// Registers `north` over the API and connects it.
pub async fn linked(world: &World) -> Linked {
    linked_as(world, ASite::default()).await
}

/// The same, of a site that is as it is given.
pub async fn linked_as(world: &World, site: ASite) -> Linked {
    let made = world.post("/api/sites", json!({"id": "north"})).await.expect(201);
    let key = made["key"].as_str().unwrap().to_owned();
    let desk = &world.central.sites;
    desk.begin().await.unwrap();
    let network = Network::default();
    let identity = Identity {
        node: "node-1".into(),
        version: "0.1.0".into(),
    };
    let serving = server::serve(
        network.incoming(),
        identity,
        desk.gateway(),
        CancellationToken::new(),
    );
    tokio::spawn(serving);
    let clock: Arc<dyn Clock> = world.temp.clock.clone();
    let options = Options {
        dial: Arc::new(network.clone()),
        clock,
        jitter: Arc::new(|| Jitter::NONE),
        node: "n1".into(),
        ..Options::new(
            SiteId::new("north"),
            key.into(),
            vec!["http://127.0.0.1:7443".parse().unwrap()],
        )
    };
    let site = Arc::new(site);
    let link = LinkClient::new(options.clone());
    tokio::spawn(link.clone().run(site.clone(), CancellationToken::new()));
    link.state().wait_for(LinkState::is_up).await.unwrap();
    Linked {
        network,
        site,
        link,
        options,
    }
}

#[tokio::test]
async fn a_site_is_registered_once_and_its_key_shown_once() {
    let world = World::new().await;
    let made = world.post("/api/sites", json!({"id": "north"})).await.expect(201);
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("wp_"));
    let listed = world.get("/api/sites").await;
    assert!(!listed.text.contains(key));
    let site = &listed.expect(200)["items"][0];
    assert_eq!(
        (&site["id"], &site["presence"]),
        (&json!("north"), &json!("NeverSeen"))
    );
    let again = world.post("/api/sites", json!({"id": "north"})).await;
    assert_eq!(again.problem(409), "conflict");
    let over_http = world.ask("GET", "/api/kpis", key, None).await;
    assert_eq!(over_http.problem(403), "forbidden", "a site speaks over the link");
}

#[tokio::test]
async fn a_bad_site_id_is_named() {
    let world = World::new().await;
    for bad in [
        json!({}),
        json!({"id": " "}),
        json!({"id": "a/b"}),
        json!({"id": 7}),
    ] {
        assert_eq!(world.post("/api/sites", bad).await.bad_fields(), ["id"]);
    }
    let unknown = world.post("/api/sites", json!({"id": "north", "x": 1})).await;
    assert_eq!(unknown.bad_fields(), ["x"]);
}

#[tokio::test]
async fn a_connected_site_shows_how_it_is_doing() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let site = eventually("a report", async || {
        let site = world.get("/api/sites/north").await.expect(200);
        site["report"].is_object().then_some(site)
    })
    .await;
    assert_eq!(
        (&site["presence"], &site["centralNode"]),
        (&json!("Online"), &json!("node-1"))
    );
    assert_eq!(site["report"]["parked"], 1);
    assert_eq!(
        site["report"]["backlog"],
        json!([{"category": "Notification", "waiting": 7}])
    );
    let damage = &site["report"]["damage"][0];
    assert_eq!(
        (&damage["what"], &damage["recovered"], &damage["lost"]),
        (&json!("the buffer was damaged"), &json!(40), &json!(2))
    );
    assert!(site["report"]["forgottenUntil"].is_string());
    drop(linked);
}

#[tokio::test]
async fn what_is_parked_at_a_site_is_read_and_acted_on() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let page = world
        .get("/api/sites/north/parked?category=externalsystem&limit=10")
        .await
        .expect(200);
    assert_eq!((&page["total"], &page["nextCursor"]), (&json!(1), &json!(null)));
    let message = &page["items"][0];
    assert_eq!(
        (&message["messageId"], &message["category"]),
        (&json!("p1"), &json!("ExternalSystem"))
    );
    assert_eq!(
        (&message["target"], &message["lastError"]),
        (&json!("erp"), &json!("503"))
    );

    let done = world.act("/api/sites/north/parked/p1/retry").await.expect(200);
    assert_eq!(
        done,
        json!({"siteId": "north", "messageId": "p1", "action": "retry"})
    );
    assert_eq!(linked.site.asked.lock().unwrap()[0], "retry p1 by key:operator");
    assert_eq!(
        world.act("/api/sites/north/parked/p2/retry").await.problem(404),
        "not_found"
    );
    assert_eq!(
        world.act("/api/sites/north/parked/p1/discard").await.problem(409),
        "wrong_state"
    );
    let log = world.get("/api/audit?kind=SiteParked").await.expect(200);
    assert_eq!(log["items"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&log["items"][0]["actor"], &log["items"][0]["site"]),
        (&json!("key:operator"), &json!("north"))
    );

    let bad = world
        .get("/api/sites/north/parked?category=Pigeon&limit=0&x=1")
        .await;
    assert_eq!(bad.bad_fields(), ["category", "limit", "x"]);
    assert_eq!(
        world
            .get("/api/sites/north/parked?cursor=mine")
            .await
            .problem(502),
        "site_failed"
    );
}

#[tokio::test]
async fn what_waits_at_a_site_is_read_tried_and_given_up() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let page = world
        .get("/api/sites/north/waiting?category=externalsystem&limit=10")
        .await
        .expect(200);
    assert_eq!((&page["total"], &page["nextCursor"]), (&json!(1), &json!(null)));
    assert_eq!(
        page["items"][0],
        json!({
            "messageId": "w1", "category": "ExternalSystem", "target": "mes", "summary": "PUT /batches", "retryCount": 2,
            "maxRetries": 50, "createdAt": "1970-01-01T00:00:00.001Z", "lastAttemptAt": "1970-01-01T00:00:00.002Z",
            "dueAt": "1970-01-01T00:00:00.003Z", "lastError": "HTTP_503: busy", "instance": "line-2",
            "script": "batch.js", "held": "it has no lease",
        })
    );

    let tried = world.act("/api/sites/north/waiting/w1/try").await.expect(200);
    assert_eq!(
        tried,
        json!({
            "siteId": "north", "messageId": "w1", "action": "try", "status": "Retrying", "lastError": "HTTP_503: busy",
        })
    );
    assert_eq!(
        linked.site.asked.lock().unwrap()[0],
        "try waiting w1 by key:operator"
    );
    let discarded = world.act("/api/sites/north/waiting/w2/discard").await.expect(200);
    assert_eq!(
        (&discarded["status"], &discarded["lastError"]),
        (&json!("Discarded"), &json!(null))
    );
    let unknown = world.act("/api/sites/north/waiting/w3/try").await;
    assert_eq!(unknown.problem(404), "not_found");
    let refused = world.act("/api/sites/north/waiting/w1/discard").await;
    assert_eq!(refused.problem(409), "wrong_state");
    assert_eq!(refused.json()["detail"], "it is being tried right now");
    let log = world.get("/api/audit?kind=SiteParked").await.expect(200);
    let rows = log["items"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["actor"] == "key:operator" && row["site"] == "north"),
        "{log}"
    );

    let bad = world
        .get("/api/sites/north/waiting?category=Pigeon&limit=0&target=mes")
        .await;
    assert_eq!(bad.bad_fields(), ["category", "limit", "target"]);
    let astray = world.get("/api/sites/north/waiting?cursor=mine").await;
    assert_eq!(astray.problem(502), "site_failed");
}

#[tokio::test]
async fn an_unknown_site_is_404_and_an_offline_one_503_with_since_when() {
    let world = World::new().await;
    let linked = linked(&world).await;
    for path in [
        "/api/sites/nowhere",
        "/api/sites/nowhere/parked",
        "/api/sites/a%20b/parked",
        "/api/sites/nowhere/waiting",
        "/api/sites/a%20b/waiting",
    ] {
        assert_eq!(world.get(path).await.problem(404), "not_found", "{path}");
    }
    assert_eq!(
        world
            .act("/api/sites/nowhere/parked/p1/discard")
            .await
            .problem(404),
        "not_found"
    );
    linked.network.cut();
    let tenant = TenantId::DEFAULT;
    let registry = world.central.sites.registry();
    eventually("the site to be gone", async || {
        registry
            .find(tenant, &SiteId::new("north"))
            .is_none()
            .then_some(())
    })
    .await;
    for path in [
        "/api/sites/north/waiting/w1/try",
        "/api/sites/north/waiting/w2/discard",
    ] {
        assert_eq!(world.act(path).await.problem(503), "site_offline", "{path}");
    }
    let offline = world.get("/api/sites/north/parked").await;
    assert_eq!(offline.problem(503), "site_offline");
    assert_eq!(offline.json()["offlineSince"], "2026-01-01T00:00:00.000Z");
    assert!(
        offline.json()["detail"]
            .as_str()
            .unwrap()
            .contains("is offline since 2026-01-01")
    );
    world
        .post("/api/sites", json!({"id": "silent"}))
        .await
        .expect(201);
    let never = world.act("/api/sites/silent/parked/p1/retry").await;
    assert_eq!(never.problem(503), "site_offline");
    assert!(never.json().get("offlineSince").is_none());
}

#[tokio::test]
async fn calls_of_sites_are_listed_filtered_and_found_in_the_log() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let news: Vec<_> = (0..3).map(|_| a_telemetry()).collect();
    linked.link.telemetry(news.clone()).await.unwrap();
    let page = world
        .get("/api/site-calls?site=north&status=Retrying,Parked&limit=2")
        .await
        .expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = world
        .get(&format!("/api/site-calls?limit=2&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(
        (rest["items"].as_array().unwrap().len(), &rest["nextCursor"]),
        (1, &json!(null))
    );
    let one = news[0].operation.0.simple();
    let found = world
        .get(&format!("/api/site-calls?trackedOperationId={one}"))
        .await
        .expect(200);
    let call = &found["items"][0];
    assert_eq!(call["trackedOperationId"], json!(news[0].operation));
    assert_eq!(
        (&call["status"], &call["category"]),
        (&json!("Retrying"), &json!("CachedDbWrite"))
    );
    assert_eq!(
        (&call["siteId"], &call["lastError"]),
        (&json!("north"), &json!("no route"))
    );
    let log = world
        .get(&format!("/api/audit?correlation={one}"))
        .await
        .expect(200);
    assert_eq!(log["items"][0]["trackedOperationId"], json!(news[0].operation));
    let bad = world
        .get("/api/site-calls?status=Lost&trackedOperationId=7&from=x")
        .await;
    assert_eq!(bad.bad_fields(), ["status", "trackedOperationId", "from"]);
}

#[tokio::test]
async fn nobody_sees_or_asks_another_tenants_sites() {
    let world = World::new().await;
    let linked = linked(&world).await;
    linked.link.telemetry(vec![a_telemetry()]).await.unwrap();
    let theirs = world.key_of(OTHER, Role::Admin);
    for path in [
        "/api/sites/north",
        "/api/sites/north/parked",
        "/api/sites/north/waiting",
    ] {
        assert_eq!(
            world.ask("GET", path, &theirs, None).await.problem(404),
            "not_found"
        );
    }
    for path in ["/api/sites", "/api/site-calls"] {
        let page = world.ask("GET", path, &theirs, None).await.expect(200);
        assert_eq!(page["items"], json!([]), "{path}");
        let ours = world
            .ask("GET", path, &world.key_of(MINE, Role::Viewer), None)
            .await
            .expect(200);
        assert_eq!(ours["items"].as_array().unwrap().len(), 1, "{path}");
    }
    let act = world
        .ask("POST", "/api/sites/north/parked/p1/retry", &theirs, None)
        .await;
    assert_eq!(act.problem(404), "not_found");
    let try_now = world
        .ask("POST", "/api/sites/north/waiting/w1/try", &theirs, None)
        .await;
    assert_eq!(try_now.problem(404), "not_found");
    assert!(linked.site.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn every_call_of_a_site_can_be_reached_from_its_page() {
    let world = World::new().await;
    world.post("/api/sites", json!({"id": "north"})).await.expect(201);
    let news: Vec<_> = (0..120).map(|_| a_telemetry()).collect();
    let all: BTreeSet<String> = news.iter().map(|n| n.operation.to_string()).collect();
    let (tenant, north) = (TenantId::DEFAULT, SiteId::new("north"));
    let store = &world.temp.store;
    store.record_telemetry(tenant, &north, news).await.unwrap();
    let mut visitor = Visitor::new(&world, tenant, Role::Viewer).await;
    let (mut seen, mut next) = (BTreeSet::new(), Some("/sites/north".to_owned()));
    while let Some(place) = next {
        let page = visitor.get(&place).await;
        assert_eq!(page.status, 200, "{place}");
        let shown = page.text.split("data-operation=\"").skip(1);
        seen.extend(shown.map(|rest| rest.split('"').next().unwrap().to_owned()));
        next = page
            .text
            .split_once("id=\"older-calls\" href=\"")
            .map(|(_, rest)| rest.split('#').next().unwrap().replace("&amp;", "&"));
    }
    assert_eq!(seen, all);
    let astray = visitor.get("/sites/north?cursor=nowhere").await;
    assert_eq!(astray.status, 422);
}

#[tokio::test]
async fn all_that_match_at_a_site_are_acted_on_by_a_job_that_takes_what_was_counted() {
    let world = World::new().await;
    let linked = linked(&world).await;
    *linked.site.many.lock().unwrap() = 700;
    let path = "/api/sites/north/parked/discard";
    let counted = world
        .post(path, json!({"filter": {"target": "erp"}, "dryRun": true}))
        .await
        .expect(200);
    assert_eq!(counted, json!({"total": 700, "until": 7}));
    let job = world
        .post(
            path,
            json!({"filter": {"target": "erp"}, "until": counted["until"]}),
        )
        .await
        .expect(202);
    assert_eq!((&job["action"], &job["total"]), (&json!("discard"), &json!(700)));
    world.central.jobs.sweep().await.unwrap();
    let place = format!("/api/jobs/{}", job["id"].as_str().unwrap());
    let done = eventually("the job to be finished", async || {
        let job = world.get(&place).await.expect(200);
        (job["finished"] == true).then_some(job)
    })
    .await;
    assert_eq!((&done["done"], &done["error"]), (&json!(700), &json!(null)));
    let step = linked.site.last_step.lock().unwrap().clone().unwrap();
    assert_eq!(
        (step.filter.target.as_deref(), step.filter.until),
        (Some("erp"), Some(7))
    );

    let bad = json!({"filter": {"category": "Pigeon", "removed": true, "nope": 1}, "until": "x"});
    let mut named = world.post(path, bad).await.bad_fields();
    named.sort_unstable();
    assert_eq!(
        named,
        ["filter.category", "filter.nope", "filter.target", "until"]
    );
    let retried = json!({"filter": {"target": "erp", "removed": true}});
    let refused = world.post("/api/sites/north/parked/retry", retried).await;
    assert_eq!(refused.bad_fields(), ["filter.removed"]);
    assert_eq!(world.post(path, json!({})).await.bad_fields(), ["filter"]);
    let nowhere = world
        .post("/api/sites/nowhere/parked/retry", json!({"filter": {}}))
        .await;
    assert_eq!(nowhere.problem(404), "not_found");
}

#[tokio::test]
async fn a_second_agent_with_the_same_id_is_shown_with_where_it_comes_from() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let site = world.get("/api/sites/north").await.expect(200);
    assert_eq!(site["conflict"], json!(null));
    let options = Options {
        node: "n2".into(),
        ..linked.options.clone()
    };
    let second = LinkClient::new(options);
    tokio::spawn(
        second
            .clone()
            .run(Arc::new(ASite::default()), CancellationToken::new()),
    );
    let told =
        |s: &LinkState| matches!(s, LinkState::Down { why, .. } if why.contains("another agent speaks"));
    second.state().wait_for(told).await.unwrap();
    let site = world.get("/api/sites/north").await.expect(200);
    assert_eq!(
        (&site["node"], &site["conflict"]["node"]),
        (&json!("n1"), &json!("n2"))
    );
    assert!(
        site["conflict"]["peer"]
            .as_str()
            .is_some_and(|peer| !peer.is_empty())
    );
}

#[tokio::test]
async fn notifications_that_were_given_up_at_a_site_are_listed_with_who_did_it() {
    let world = World::new().await;
    let linked = linked(&world).await;
    let given_up = domain::site::Telemetry {
        category: domain::site::Category::Notification,
        target: "ops".into(),
        summary: Some("Tank 4 is full".into()),
        event: domain::site::OperationEvent::Discard,
        status: domain::site::OperationStatus::Discarded,
        actor: Some("local".into()),
        ..a_telemetry()
    };
    let id = given_up.operation;
    linked
        .link
        .telemetry(vec![given_up, a_telemetry()])
        .await
        .unwrap();
    let found = world
        .get("/api/site-calls?category=Notification")
        .await
        .expect(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let row = &found["items"][0];
    assert_eq!(
        (&row["status"], &row["summary"]),
        (&json!("Discarded"), &json!("Tank 4 is full"))
    );
    assert!(row["actor"].as_str().unwrap().contains("local"), "{row}");
    let log = world
        .get(&format!("/api/audit?correlation={id}"))
        .await
        .expect(200);
    assert_eq!(
        (&log["items"][0]["kind"], &log["items"][0]["status"]),
        (&json!("SiteParked"), &json!("Discarded"))
    );
    assert!(
        log["items"][0]["actor"].as_str().unwrap().contains("local"),
        "{log}"
    );
}

#[tokio::test]
async fn the_key_of_a_connected_site_tells_that_it_is_used() {
    let world = World::new().await;
    let _linked = linked(&world).await;
    let admin = world.key(Role::Admin);
    let used = eventually("the key's use to be written down", async || {
        let keys = world.ask("GET", "/api/keys", &admin, None).await.expect(200);
        let mut keys = keys["items"].as_array().unwrap().iter();
        let key = keys.find(|key| key["name"] == "north").unwrap();
        key["lastUsedAt"].as_str().map(str::to_owned)
    });
    assert_eq!(used.await, world.temp.clock.now().to_string());
}
