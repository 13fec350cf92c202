//! A real process, really killed: whatever it said was stored is there afterwards.

use crate::harness::*;
use domain::{ManualClock, NotificationId, Status};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::Arc,
};
use store::sqlite::SqliteStore;

const FILE: &str = "WAYPOST_KILL_TEST_FILE";

/// Not a test by itself: what the test below starts and kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run as a child by what_a_killed_process_acknowledged_is_there"]
async fn child() {
    let Ok(path) = std::env::var(FILE) else { return };
    let store = SqliteStore::open(path.as_ref(), Arc::new(ManualClock::default())).unwrap();
    let t = TestStore::new(Arc::new(store), Arc::new(ManualClock::default()), ());
    let lane = t.lane("mail").await;
    let say = |what: &str, id: NotificationId| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nsaid {what} {id}")
            .and_then(|()| out.flush())
            .unwrap();
    };
    loop {
        for id in t.send_many(lane, 7).await {
            say("accepted", id);
        }
        for claimed in t.claim(lane, 3).await {
            t.record(delivered(&claimed)).await;
            say("delivered", claimed.id);
        }
    }
}

#[tokio::test]
async fn what_a_killed_process_acknowledged_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waypost.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite_kill::child", "--ignored", "--nocapture"])
        .env(FILE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut accepted = vec![];
    let mut delivered = vec![];
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some(said) = line.strip_prefix("said ") else {
            continue;
        };
        let (what, id) = said.split_once(' ').unwrap();
        let Ok(id) = id.parse::<NotificationId>() else {
            continue;
        };
        if what == "delivered" {
            delivered.push(id)
        } else {
            accepted.push(id)
        }
        if accepted.len() + delivered.len() == 400 {
            // In the middle of whatever it is doing; what is still in the pipe was said too.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(accepted.len() + delivered.len() >= 400);
    let clock = Arc::new(ManualClock::default());
    let store = SqliteStore::open(&path, clock.clone()).unwrap();
    let t = TestStore::new(Arc::new(store), clock, folder);
    for id in delivered {
        assert_eq!(t.status(id).await, Status::Delivered);
    }
    for id in accepted {
        assert!(t.store.get(TENANT, id).await.unwrap().is_some());
    }
    t.check().await;
}
