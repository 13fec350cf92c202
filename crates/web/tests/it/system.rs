//! Health, readiness, metrics, loops.

use crate::world::World;
use serde_json::json;
use store::loops::{About, Swept};

#[tokio::test]
async fn readiness_names_every_part_and_what_is_in_the_way() {
    let world = World::new().await;
    let ready = world.get("/readyz").await.expect(200);
    assert_eq!(
        ready,
        json!({"ready": true, "checks": [{"name": "store", "ok": true, "detail": null}]})
    );
    world
        .readiness
        .not_ready("secrets", "two providers cannot be opened");
    let not = world.get("/readyz").await.expect(503);
    assert_eq!(not["ready"], false);
    assert_eq!(
        not["checks"][1],
        json!({"name": "secrets", "ok": false, "detail": "two providers cannot be opened"})
    );
    world.readiness.ready("secrets");
    world.get("/readyz").await.expect(200);
}

#[tokio::test]
async fn a_scrape_has_the_state_of_the_outbox() {
    let mut world = World::new().await;
    world.parked("a").await;
    world.submitted("b").await;
    let scraped = world.get("/metrics").await;
    assert!(
        scraped.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/plain")
    );
    for line in [
        "waypost_queue_depth 1",
        "waypost_parked 1",
        "waypost_stuck 0",
        "waypost_store_up 1",
    ] {
        assert!(
            scraped.text.lines().any(|found| found == line),
            "{line} not in {}",
            scraped.text
        );
    }
}

#[tokio::test]
async fn the_queue_is_counted_once_for_all_scrapes_within_a_few_seconds() {
    let world = World::new().await;
    let depth = async || {
        let scraped = world.get("/metrics").await;
        let line = scraped
            .text
            .lines()
            .find(|l| l.starts_with("waypost_queue_depth "));
        line.and_then(|l| l.split(' ').nth(1)).unwrap().to_owned()
    };
    for waiting in 0.. {
        let began = tokio::time::Instant::now();
        assert_eq!(depth().await, waiting.to_string(), "counted anew");
        world.submitted("another").await;
        let again = depth().await;
        // On a machine that stood still meanwhile the count is old already: then once more.
        let within = began.elapsed() < central::watched_kpis::FRESH_FOR;
        tokio::time::pause();
        tokio::time::advance(central::watched_kpis::FRESH_FOR).await;
        tokio::time::resume();
        if within {
            assert_eq!(
                again,
                waiting.to_string(),
                "what was counted for the scrape before"
            );
            assert_eq!(depth().await, (waiting + 1).to_string());
            break;
        }
    }
}

#[tokio::test]
async fn a_part_that_is_gone_is_no_readiness() {
    let world = World::new().await;
    let recorder = world
        .central
        .loops
        .watch("recording attempts", async { panic!("on purpose") });
    assert!(tokio::spawn(recorder).await.is_err());
    let not = world.get("/readyz").await.expect(503);
    assert_eq!(
        not["checks"][1],
        json!({"name": "parts", "ok": false, "detail": "recording attempts: panicked"})
    );
}

#[tokio::test]
async fn loops_show_their_last_run_and_keep_the_words_of_a_failure_to_those_in_charge() {
    let world = World::new().await;
    let minute = std::time::Duration::from_secs(60);
    let about = About::every("purge", "deletes what is past its time", minute);
    let purge = |loops: &serde_json::Value| {
        let mut all = loops["items"].as_array().unwrap().iter();
        all.find(|one| one["name"] == "purge").unwrap().clone()
    };
    let run = world.central.loops.begin(about);
    let running = world.get("/api/loops").await.expect(200);
    assert!(purge(&running)["runningSince"].is_string());
    world.central.loops.over(&run, &Swept::failed("host=db refused"));
    let viewer = world.get("/api/loops").await.expect(200);
    assert_eq!(
        (&purge(&viewer)["name"], &purge(&viewer)["ok"]),
        (&json!("purge"), &json!(false))
    );
    assert_eq!(
        (&purge(&viewer)["runs"], &purge(&viewer)["every"]),
        (&json!(1), &json!("1m"))
    );
    assert_eq!(
        (&purge(&viewer)["panics"], &purge(&viewer)["runningSince"]),
        (&json!(0), &json!(null))
    );
    assert!(purge(&viewer)["nextRun"].is_string());
    assert!(!viewer.to_string().contains("host=db"));
    let admin = world
        .ask(
            "GET",
            "/api/loops",
            &world.key(store::directory::Role::Admin),
            None,
        )
        .await;
    assert!(admin.text.contains("host=db refused"));
}
