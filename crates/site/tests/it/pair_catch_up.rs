//! A standby that was away for long catches up while scripts go on sending.

use crate::{
    pair_world::{Live, a_pair, contents, world},
    world::{a_notification, until},
};
use domain::pair::Role;
use site::Site;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::task::JoinSet;

/// Senders while the standby is away; many share a commit.
const SENDERS: u64 = 64;
/// So often something is sent while it catches up.
const STEADY: Duration = Duration::from_millis(5);

/// Changes that the standby misses.
fn missed() -> i64 {
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => 100_000,
        _ => 5_000,
    }
}

/// Sends until the log is so much longer.
async fn send_until(site: &Arc<Site>, head: i64) {
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let site = site.clone();
        senders.spawn(async move {
            while site.buffer.head().await.unwrap() < head {
                site.send(a_notification("tank")).await.unwrap();
            }
        });
    }
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
}

/// What scripts send at a steady pace, until they are told to stop; how many were accepted, and whether one was not.
fn steady(site: Arc<Site>, over: Arc<AtomicBool>, sent: Arc<AtomicU64>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let mut pace = tokio::time::interval(STEADY);
        while !over.load(Ordering::SeqCst) {
            pace.tick().await;
            assert!(site.send(a_notification("steady")).await.unwrap().accepted);
            sent.fetch_add(1, Ordering::SeqCst);
        }
    })
}

/// The copy ends where the active's log does, a moment ago.
fn follows(standby: &Live, behind: i64) -> bool {
    let standing = standby.agent().and_then(|agent| agent.site.buffer.standing());
    standing.is_some_and(|standing| standing.caught_up && standing.position >= behind)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_missed_much_catches_up_while_messages_are_taken_in() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let active = a.becomes(Role::Active).await;
    until("the standby follows", || follows(&b, 1)).await;
    let away = b.end().await;
    let left_at = active.site.buffer.head().await.unwrap();
    send_until(&active.site, left_at + missed()).await;
    let back_at = active.site.buffer.head().await.unwrap();
    let (over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let scripts = steady(active.site.clone(), over.clone(), sent.clone());
    let b = away.run();
    until("it to catch up", || follows(&b, back_at + 1)).await;
    let (took, head) = (
        sent.load(Ordering::SeqCst),
        active.site.buffer.head().await.unwrap(),
    );
    assert!(took > 0, "nothing was sent meanwhile");
    over.store(true, Ordering::SeqCst);
    scripts.await.unwrap();
    println!(
        "{} changes behind, {} came while it caught up",
        back_at - left_at,
        head - back_at
    );
    let last = active.site.buffer.head().await.unwrap();
    until("the rest is there", || follows(&b, last)).await;
    drop(active);
    let (a, b) = (a.end().await, b.end().await);
    assert_eq!(contents(&a.file).await, contents(&b.file).await);
    let copy = world.folder.path().join("north-b.db.copy");
    assert!(!copy.exists(), "what changed was enough");
}
