//! What runs in the background of a node: seen from the start, whatever it does.

use crate::world::World;
use central::Settings;
use std::time::Duration;
use testkit::until;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_loop_of_a_node_is_seen_from_its_start_with_what_it_is_for() {
    let mut settings = Settings::named("node-1");
    settings.dispatch.interval = Duration::from_millis(20);
    let world = World::with(settings).await;
    let stop = CancellationToken::new();
    let tasks = world.central.start(&stop);
    let loops = &world.central.loops;
    let ran = |name: &str| loops.reports().get(name).map_or(0, |report| report.runs);
    until("each loop to have run", async || {
        ["dispatch", "purge", "figures", "sites", "leases"]
            .iter()
            .all(|name| ran(name) > 0)
    })
    .await;
    let reports = loops.reports();
    let names: Vec<_> = reports.keys().copied().collect();
    assert_eq!(
        names,
        [
            "compact",
            "dispatch",
            "events",
            "expiry",
            "failover",
            "figures",
            "jobs",
            "leases",
            "purge",
            "receipts",
            "schedules",
            "sites",
            "unproven receipts"
        ]
    );
    for report in reports.values() {
        assert!(!report.about.what.is_empty(), "{report:?}");
        assert!(report.result.is_ok(), "{report:?}");
        assert_eq!(report.panics, 0);
    }
    // Nothing is compacted or expired unless somebody finds that there is something to do.
    for waits in ["compact", "expiry"] {
        assert_eq!((reports[waits].runs, reports[waits].next), (0, None));
    }
    stop.cancel();
    tasks.wait().await;
    assert_eq!(loops.ended(), None);
}
