//! An active machine whose sends wait for the standby, and which goes on alone when that does not follow.

use crate::{
    logged::Logged,
    pair_world::{a_pair, world},
    world::a_notification,
};
use domain::pair::Role;
use metrics_exporter_prometheus::PrometheusBuilder;
use site::Agent;

async fn until_it_is_replicated(active: &Agent) {
    testkit::until("the standby to have one", async || {
        let sent = active.site.send(a_notification("is it there?")).await.unwrap();
        sent.replicated == Some(true)
    })
    .await;
}

#[tokio::test]
async fn that_sends_go_on_without_the_standby_is_logged_once_and_each_is_counted() {
    let mut world = world();
    world.machines.iter_mut().for_each(|machine| machine.waits = true);
    let (a, b) = a_pair(&world).await;
    let active = a.becomes(Role::Active).await;
    until_it_is_replicated(&active).await;
    let off = b.end().await;
    let recorder = PrometheusBuilder::new().build_recorder();
    let figures = recorder.handle();
    let (logged, guard) = Logged::start();
    {
        let _counts = metrics::set_default_local_recorder(&recorder);
        for n in 0..3 {
            let sent = active
                .site
                .send(a_notification(&format!("tank {n}")))
                .await
                .unwrap();
            assert_eq!((sent.accepted, sent.replicated), (true, Some(false)));
        }
    }
    let counted = figures.render();
    assert!(counted.contains("waypost_site_unreplicated_total 3"), "{counted}");
    assert_eq!(logged.with("the standby does not follow").len(), 1);
    let b = off.run();
    until_it_is_replicated(&active).await;
    let (lost, found) = (
        logged.with("the standby does not follow").len(),
        logged.with("the standby follows again").len(),
    );
    assert!(
        (1..=lost).contains(&found),
        "lost {lost} times, found {found} times"
    );
    drop((guard, active));
    a.end().await;
    b.end().await;
}
