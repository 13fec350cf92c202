//! A small disk for a test: a tmpfs in a mount namespace of its own, and what fills and empties it.

use crate::harness::*;
use domain::site::Category;
use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};
use store::{
    Buffer,
    buffer::{Enqueued, Handed, NewMessage, Options, RESERVE, Start},
};

const DISK: &str = "WAYPOST_TEST_SMALL_DISK";

/// Runs the test again in a process that has a disk of so many MB at the path it is given; none in the process that
/// started it.
pub fn small_disk(test: &str, megabytes: u32) -> Option<PathBuf> {
    if let Ok(disk) = std::env::var(DISK) {
        return Some(disk.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=\"$1\" tmpfs \"$2\" && exec \"$3\" --exact \"$4\" --nocapture";
    let ended = Command::new("unshare")
        .args([
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            &format!("{megabytes}m"),
        ])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(DISK, folder.path())
        .status();
    assert!(
        ended.as_ref().is_ok_and(std::process::ExitStatus::success),
        "{ended:?}: it failed, or this machine lets nobody mount a tmpfs in a namespace of its own (unshare -rm)"
    );
    None
}

pub fn options(disk: &Path) -> Options {
    Options {
        reserve_bytes: RESERVE,
        ..Options::at(disk.join("sf.db"))
    }
}

pub fn reserve(disk: &Path) -> PathBuf {
    disk.join("sf.db.reserve")
}

pub fn large() -> NewMessage {
    NewMessage {
        payload: format!("{{\"body\":\"{}\"}}", "x".repeat(20_000)),
        ..a_message(Category::Notification, "ops")
    }
}

pub async fn is_taken(buffer: &Buffer) -> bool {
    match buffer.enqueue(large(), Start::Queued).await.unwrap() {
        Enqueued::New(_) => true,
        Enqueued::NoRoom(_) => false,
        other => panic!("{other:?}"),
    }
}

pub async fn fill(buffer: &Buffer) -> u64 {
    let mut taken = 0;
    while is_taken(buffer).await {
        taken += 1;
        assert!(taken < 100_000, "the disk is small");
    }
    taken
}

/// Hands everything over that waits, as the forwarder does.
pub async fn drain(buffer: &Buffer) {
    drain_to(buffer, "a").await;
}

pub async fn drain_to(buffer: &Buffer, central: &str) {
    let central = identity(central);
    buffer.met_central(&central).await.unwrap();
    loop {
        let waiting = buffer.forwardable(0, 500, 1 << 20).await.unwrap();
        if waiting.is_empty() {
            return;
        }
        let handed = Handed {
            acked: waiting.iter().map(|m| m.seq).collect(),
            refused: vec![],
        };
        assert!(buffer.handed_over(&central, handed).await.unwrap());
    }
}

/// Sends and hands over, more than the disk holds.
pub async fn keep_sending(buffer: &Buffer, central: &str) {
    for n in 0..2_000 {
        assert!(is_taken(buffer).await, "message {n} of 2000 was refused");
        if n % 100 == 99 {
            drain_to(buffer, central).await;
        }
    }
}

/// Somebody else writes until nothing fits any more.
pub fn take_the_rest(disk: &Path) -> PathBuf {
    let path = disk.join("others");
    let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
    for size in [1 << 20, 64 << 10, 4 << 10] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
    path
}

pub fn free(disk: &Path) -> u64 {
    let said = Command::new("df")
        .args(["--output=avail", "-B1"])
        .arg(disk)
        .output()
        .unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    text.lines().last().unwrap().trim().parse().unwrap()
}
