//! Nothing a site accepted is lost, whoever is killed and whatever happens to the cable, and central has it once.

use crate::{
    node::{Node, Setup},
    proxy::{Cable, Proxy},
    site_agent::{AgentProcess, SiteSetup},
    size,
};
use client::{Filter, NotificationId, TextFilters, site::Notify, site::Site};
use futures_util::TryStreamExt;
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use testkit::until;

const SITE: &str = "north";

/// Central with a list, and a site that is known to it.
async fn central(folder: &Path) -> (Setup, Node, String) {
    let setup = Setup::sqlite(folder);
    let node = Node::start(&setup).await;
    let key = node.client.register_site(SITE).await.unwrap().key;
    (setup, node, key)
}

fn site(folder: &Path, central: &str, key: &str) -> SiteSetup {
    SiteSetup {
        id: SITE.into(),
        folder: folder.into(),
        central: central.into(),
        key: key.into(),
        more: String::new(),
    }
}

async fn at_central(node: &Node) -> Vec<NotificationId> {
    at_central_from(node, SITE).await
}

/// Every notification of the site at central, in the order in which central took them in.
pub async fn at_central_from(node: &Node, site: &str) -> Vec<NotificationId> {
    let filter = Filter {
        by: TextFilters {
            site: Some(site.into()),
            ..TextFilters::default()
        },
        ..Filter::default()
    };
    let mut ids: Vec<_> = node
        .client
        .list(&filter)
        .map_ok(|row| row.notification_id)
        .try_collect()
        .await
        .unwrap();
    ids.reverse();
    ids
}

/// Sends one after the other; what the agent acknowledged is what counts.
async fn send(site: &Site, n: usize, acknowledged: &Mutex<Vec<NotificationId>>) {
    for _ in 0..n {
        let id = NotificationId::mint();
        let sent = Notify::to("ops")
            .id(id)
            .send(site, "Tank 4 is full", "Level 98 %")
            .await;
        if sent.is_ok() {
            acknowledged.lock().unwrap().push(id);
        }
    }
}

pub fn assert_once(accepted: &[NotificationId], rows: &[NotificationId]) {
    let there: HashSet<_> = rows.iter().collect();
    assert_eq!(there.len(), rows.len(), "central has each of them once");
    let lost: Vec<_> = accepted.iter().filter(|id| !there.contains(id)).collect();
    assert!(lost.is_empty(), "{} of {} are lost", lost.len(), accepted.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_site_took_while_central_was_away_survives_three_kills_and_arrives_once_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (setup, node, key) = central(folder.path()).await;
    let proxy = Proxy::start(node.link).await;
    assert_eq!(node.stop().await, 0);
    let setup_site = site(folder.path(), &format!("http://{}", proxy.address), &key);
    let total = size::pick(5_000, 200_000);
    let acknowledged = Arc::new(Mutex::new(vec![]));
    let mut agent = AgentProcess::start(&setup_site).await;
    for _ in 0..3 {
        let senders = (0..8).map(|_| {
            let (site, acknowledged) = (agent.site.clone(), acknowledged.clone());
            tokio::spawn(async move { send(&site, total / 32, &acknowledged).await })
        });
        for sender in senders.collect::<Vec<_>>() {
            sender.await.unwrap();
        }
        agent.kill();
        agent = AgentProcess::start(&setup_site).await;
    }
    // The last part one after the other, so that the order of creation is known.
    let ordered = Arc::new(Mutex::new(vec![]));
    send(&agent.site, total - 3 * 8 * (total / 32), &ordered).await;
    let ordered = ordered.lock().unwrap().clone();
    let mut accepted = acknowledged.lock().unwrap().clone();
    accepted.extend(&ordered);
    assert_eq!(accepted.len(), total);
    assert_eq!(agent.site.health().await.unwrap().waiting, total as u64);
    let node = Node::start(&setup).await;
    proxy.lead_to(node.link);
    agent.drained().await;
    let rows = at_central(&node).await;
    println!("{total} accepted over three kills, {} at central", rows.len());
    assert_once(&accepted, &rows);
    assert_eq!(rows.len(), total);
    in_order(&ordered, &rows);
    assert_eq!(agent.stop().await, 0, "an orderly stop ends with 0");
}

/// Notifications that may be on the link at once.
const UNDER_WAY: usize = 6 * 500;

/// Within what batches under way can mix up.
fn in_order(sent: &[NotificationId], rows: &[NotificationId]) {
    let place: HashMap<_, _> = rows.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let mut furthest = 0;
    for id in sent {
        let at = place[id];
        assert!(at + UNDER_WAY >= furthest, "{id} came far too late");
        furthest = furthest.max(at);
    }
}

/// Waits until so many are acknowledged.
async fn more_than(acknowledged: &Mutex<Vec<NotificationId>>, n: usize) {
    until(
        "messages that the agent takes, whatever happens to central",
        async || acknowledged.lock().unwrap().len() >= n,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_either_side_and_a_bad_cable_lose_nothing_and_repeat_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (setup, mut node, key) = central(folder.path()).await;
    let proxy = Proxy::start(node.link).await;
    let setup_site = site(folder.path(), &format!("http://{}", proxy.address), &key);
    let mut agent = AgentProcess::start(&setup_site).await;
    let acknowledged = Arc::new(Mutex::new(vec![]));
    let current = Arc::new(Mutex::new(agent.site.clone()));
    let done = Arc::new(AtomicBool::new(false));
    let senders: Vec<_> = (0..4)
        .map(|_| {
            let (acknowledged, current, done) = (acknowledged.clone(), current.clone(), done.clone());
            tokio::spawn(async move {
                while !done.load(Ordering::SeqCst) {
                    let site = current.lock().unwrap().clone();
                    send(&site, 20, &acknowledged).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
        })
        .collect();
    for round in 0..size::pick(5, 100) {
        let pause = |most: u64| Duration::from_millis(rand::random_range(50..most));
        // Every round has something to lose.
        let before = acknowledged.lock().unwrap().len();
        more_than(&acknowledged, before + rand::random_range(100..400)).await;
        match round % 5 {
            0 => {
                agent.kill();
                agent = AgentProcess::start(&setup_site).await;
                *current.lock().unwrap() = agent.site.clone();
            }
            1 => {
                node.kill();
                node = Node::start(&setup).await;
                proxy.lead_to(node.link);
            }
            2 => {
                proxy.set(Cable::Pulled);
                tokio::time::sleep(pause(400)).await;
                proxy.set(Cable::Well);
            }
            3 => {
                // Central commits and nobody hears of it; then the line is cut.
                proxy.set(Cable::Deaf);
                tokio::time::sleep(pause(400)).await;
                proxy.set(Cable::Pulled);
                tokio::time::sleep(pause(100)).await;
                proxy.set(Cable::Well);
            }
            _ => {
                proxy.delay(Duration::from_millis(rand::random_range(5..100)));
                tokio::time::sleep(pause(400)).await;
                proxy.delay(Duration::ZERO);
            }
        }
    }
    done.store(true, Ordering::SeqCst);
    for sender in senders {
        sender.await.unwrap();
    }
    agent.drained().await;
    let accepted = acknowledged.lock().unwrap().clone();
    let rows = at_central(&node).await;
    println!("{} acknowledged, {} at central", accepted.len(), rows.len());
    assert_once(&accepted, &rows);
    assert_eq!(agent.site.health().await.unwrap().parked, 0);
}
