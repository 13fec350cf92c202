//! What a site was acknowledged is there after any kill of central, once.

use crate::{
    node::{Node, Setup},
    size,
};
use domain::{NotificationId, SiteId, SystemClock, TenantId};
use link::{Ack, Forward, LinkClient, LinkState, Options, Uplink};
use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};
use store::{
    Queries,
    query::{Filter, Page},
    sqlite::SqliteStore,
};
use testkit::{
    site::{ASite, a_forward},
    until,
};
use tokio_util::sync::CancellationToken;

async fn connected(node: &Node, key: &str) -> (LinkClient, CancellationToken) {
    let central = vec![format!("http://{}", node.link).parse().unwrap()];
    let link = LinkClient::new(Options::new(SiteId::new("north"), key.to_owned().into(), central));
    let stop = CancellationToken::new();
    tokio::spawn(link.clone().run(Arc::new(ASite::default()), stop.clone()));
    let mut state = link.state();
    let up = tokio::time::timeout(Duration::from_secs(180), state.wait_for(LinkState::is_up)).await;
    assert!(
        up.is_ok(),
        "{:?}; log:\n{}",
        link.state().borrow(),
        node.log_tail()
    );
    (link, stop)
}

/// Every id in the table, read from the file itself.
async fn stored(folder: &Path) -> BTreeSet<NotificationId> {
    let store = SqliteStore::open_beside(&folder.join("waypost.db"), Arc::new(SystemClock)).unwrap();
    let (mut ids, mut after) = (BTreeSet::new(), None);
    loop {
        let page = Page { limit: 1000, after };
        let page = store
            .list(TenantId::DEFAULT, &Filter::default(), page)
            .await
            .unwrap();
        for row in page.rows {
            assert_eq!(row.submission.provenance.site.as_deref(), Some("north"));
            assert!(
                ids.insert(row.submission.id),
                "{} is there twice",
                row.submission.id
            );
        }
        after = page.next;
        if after.is_none() {
            return ids;
        }
    }
}

/// Hands over what was not acknowledged yet, four batches at a time, until all is or the link breaks.
async fn hand_over(link: LinkClient, mut open: Vec<Forward>) -> (Vec<NotificationId>, Vec<Forward>) {
    let (mut acknowledged, mut left) = (vec![], vec![]);
    while !open.is_empty() {
        let batches: Vec<Vec<_>> = (0..4)
            .map(|_| open.split_off(open.len().saturating_sub(25)))
            .filter(|batch| !batch.is_empty())
            .collect();
        let answers = batches.iter().map(|batch| link.submit(batch.clone()));
        let answers = futures_util::future::join_all(answers).await;
        for (batch, answer) in batches.into_iter().zip(answers) {
            match answer {
                Err(_) => left.extend(batch),
                Ok(acks) => {
                    for (item, ack) in batch.into_iter().zip(acks) {
                        match ack {
                            Ack::Accepted | Ack::Duplicate => acknowledged.push(item.id),
                            Ack::NotNow(_) => left.push(item),
                            Ack::Refused(why) => panic!("{why}"),
                        }
                    }
                }
            }
        }
        if !link.state().borrow().is_up() {
            left.append(&mut open);
        }
    }
    (acknowledged, left)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_site_was_acknowledged_survives_any_kill_of_central_and_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let mut node = Node::start(&setup).await;
    let key = node.client.register_site("north").await.unwrap().key;
    let (kills, per_kill) = (size::pick(3, 50), size::pick(1500, 4000));
    let mut everything = BTreeSet::new();
    let mut acknowledged = BTreeSet::new();
    let mut open = vec![];
    let mut epochs = BTreeSet::new();
    for _ in 0..kills {
        open.extend((0..per_kill).map(|_| a_forward()));
        everything.extend(open.iter().map(|item| item.id));
        let (link, stop) = connected(&node, &key).await;
        if let LinkState::Up { central, .. } = &*link.state().borrow() {
            epochs.insert(central.epoch.clone());
        }
        let handing = tokio::spawn(hand_over(link, std::mem::take(&mut open)));
        tokio::time::sleep(Duration::from_millis(rand::random_range(5..150))).await;
        node.kill();
        let (acked, left) = handing.await.unwrap();
        stop.cancel();
        acknowledged.extend(acked);
        open = left;
        let there = stored(folder.path()).await;
        assert!(
            acknowledged.is_subset(&there),
            "{} acknowledged, {} there",
            acknowledged.len(),
            there.len()
        );
        node = Node::start(&setup).await;
    }
    assert_eq!(epochs.len(), kills, "every start is told from the one before");
    // A link that a machine took for dead because it stood still itself is made again.
    until("all to be acknowledged", async || {
        let (link, stop) = connected(&node, &key).await;
        let (acked, left) = hand_over(link, std::mem::take(&mut open)).await;
        stop.cancel();
        acknowledged.extend(acked);
        open = left;
        open.is_empty()
    })
    .await;
    assert_eq!(acknowledged, everything);
    assert_eq!(node.stop().await, 0);
    assert_eq!(stored(folder.path()).await, everything);
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_can_ask_a_site_that_another_one_has() {
    let folder = tempfile::tempdir().unwrap();
    let database = crate::postgres::database().await;
    let one = Node::start(&Setup::postgres("one", folder.path(), &database)).await;
    let two = Node::start(&Setup::postgres("two", folder.path(), &database)).await;
    let key = two.client.register_site("north").await.unwrap().key;
    let (_link, stop) = connected(&one, &key).await;
    for node in [&one, &two] {
        assert_eq!(node.client.site("north").await.unwrap().presence, "Online");
        let parked = node.client.site_parked("north", 10, None).await.unwrap();
        assert_eq!(parked.items[0].message_id, "p1");
    }
    two.client.retry_site_parked("north", "p1").await.unwrap();
    let gone = two.client.discard_site_parked("north", "p1").await.unwrap_err();
    assert!(gone.to_string().contains("not parked"), "{gone}");
    stop.cancel();
    until("the other node to know that it is offline", async || {
        let offline = two.client.site_parked("north", 10, None).await.unwrap_err();
        offline.to_string().contains("is offline since")
    })
    .await;
}
