//! PostgreSQL goes away under load, as in a power cut, and comes back.

use crate::{
    crash::drained,
    far_end,
    load::{Load, one_try},
    node::{Node, Setup},
    postgres::{self, Server},
    size,
};
use testkit::eventually;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_outlives_its_database_says_why_it_is_not_ready_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start();
    let far_end = far_end::receiver().await;
    let mut node = Node::start(&Setup::postgres("node-1", folder.path(), &server.url)).await;
    far_end::provider(&node.client, &far_end, 16).await;
    let (crashes, per_crash) = (size::pick(2, 10), 1000);
    let load = Load::new((crashes + 1) * per_crash, one_try(&node.client));
    let mut senders = load.start(16);
    for crash in 0..crashes {
        load.acknowledged(crash * per_crash + rand::random_range(1..per_crash))
            .await;
        server.crash();
        let why = eventually("the node to say that it is not ready", async || {
            let readiness = node.client.readyz().await;
            let readiness = readiness.expect("the node answers while its database is away");
            (!readiness.ready).then_some(readiness)
        })
        .await;
        assert!(
            why.checks
                .iter()
                .any(|c| !c.ok && !c.detail.as_deref().unwrap_or("").is_empty()),
            "{why:?}"
        );
        assert!(node.is_running());
        server.again();
        node.wait_ready().await;
    }
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    drained(&node.client).await;
    let acknowledged = load.acknowledged.lock().unwrap().clone();
    let lost = acknowledged
        .iter()
        .filter(|id| far_end.deliveries_of(&id.to_string()) == 0)
        .count();
    assert_eq!(lost, 0, "of {} acknowledged", acknowledged.len());
    let store = postgres::open(&server.url, "observer").await;
    assert_eq!(store::Maintenance::misplaced(&store).await.unwrap(), 0);
    assert_eq!(node.stop().await, 0);
}
