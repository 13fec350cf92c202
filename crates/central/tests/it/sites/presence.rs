//! Who is there.

use super::{Linked, north};
use crate::world::{TENANT, World, secs};
use central::{Settings, secrets::Sealer, sites::Presence};
use domain::{Clock, site::Category};
use std::time::Duration;
use testkit::eventually;

#[tokio::test]
async fn a_connected_site_shows_its_report_and_a_gone_one_since_when() {
    let linked = Linked::new().await;
    let service = &linked.world.central.sites;
    let since = linked.world.temp.clock.now();
    let online = Presence::Online {
        since,
        central_node: "node-1".into(),
    };
    assert_eq!(linked.presence().await, online);
    let report = eventually("a report", async || {
        service.get(TENANT, &north()).await.unwrap().unwrap().report
    })
    .await;
    assert_eq!(report.backlog[&Category::Notification], 7);
    service.sweep().await.unwrap();

    linked.world.advance(secs(60));
    linked.gone().await;
    let view = service.get(TENANT, &north()).await.unwrap().unwrap();
    let Presence::Offline { since: left, .. } = view.presence else {
        panic!("{view:?}");
    };
    assert_eq!(left, linked.world.temp.clock.now());
    assert_eq!(view.report, Some(report), "the last report is kept");
    assert_eq!(service.list(TENANT).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_site_that_a_dead_node_left_connected_is_offline_since_its_last_word() {
    let linked = Linked::new().await;
    let last_word = linked.world.temp.clock.now();
    linked.network.cut();
    let Linked { world, .. } = linked;
    let World { temp, mail, hook, .. } = world;
    // The first node never wrote down that the site left: put its last word back.
    let seen = store::sites::SiteSeen {
        tenant: TENANT,
        site: north(),
        session: uuid::Uuid::new_v4(),
        central_node: "node-0".into(),
        connected_for: Duration::ZERO,
        silent_for: Duration::ZERO,
        agent_node: "n1".into(),
        agent_version: "0.1.0".into(),
        peer: "pipe".into(),
        report: None,
        agent_buffer: uuid::Uuid::nil(),
        turn: None,
        agent_run: uuid::Uuid::nil(),
    };
    temp.store.sites_seen(vec![seen]).await.unwrap();
    let other = World::over(temp, mail, hook, Settings::named("node-2"), Sealer::ephemeral());
    let service = &other.central.sites;
    let view = service.get(TENANT, &north()).await.unwrap().unwrap();
    assert!(matches!(view.presence, Presence::Online { central_node, .. } if central_node == "node-0"));
    other.advance(secs(60));
    let view = service.get(TENANT, &north()).await.unwrap().unwrap();
    let gone = Presence::Offline {
        since: last_word,
        why: "central's node node-0 went away".into(),
    };
    assert_eq!(view.presence, gone);
}
