//! A disk that is really full: a small tmpfs in a mount namespace of the test's own.

use crate::harness::*;
use domain::{ManualClock, site::Category};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};
use store::{
    Buffer,
    buffer::{Enqueued, Handed, NewMessage, Options, RESERVE, Start},
};

const DISK: &str = "WAYPOST_TEST_SMALL_DISK";

/// Runs the test again in a process that has a disk of so many MB at the path it is given; none in the process that
/// started it.
fn small_disk(test: &str, megabytes: u32) -> Option<PathBuf> {
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

fn options(disk: &Path) -> Options {
    Options {
        reserve_bytes: RESERVE,
        ..Options::at(disk.join("sf.db"))
    }
}

fn large() -> NewMessage {
    NewMessage {
        payload: format!("{{\"body\":\"{}\"}}", "x".repeat(20_000)),
        ..a_message(Category::Notification, "ops")
    }
}

async fn is_taken(buffer: &Buffer) -> bool {
    match buffer.enqueue(large(), Start::Queued).await.unwrap() {
        Enqueued::New(_) => true,
        Enqueued::NoRoom(_) => false,
        other => panic!("{other:?}"),
    }
}

async fn fill(buffer: &Buffer) -> u64 {
    let mut taken = 0;
    while is_taken(buffer).await {
        taken += 1;
        assert!(taken < 100_000, "the disk is small");
    }
    taken
}

/// Hands everything over that waits, as the forwarder does.
async fn drain(buffer: &Buffer) {
    drain_to(buffer, "a").await;
}

async fn drain_to(buffer: &Buffer, central: &str) {
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
async fn keep_sending(buffer: &Buffer, central: &str) {
    for n in 0..2_000 {
        assert!(is_taken(buffer).await, "message {n} of 2000 was refused");
        if n % 100 == 99 {
            drain_to(buffer, central).await;
        }
    }
}

/// Somebody else writes until nothing fits any more.
fn take_the_rest(disk: &Path) -> PathBuf {
    let path = disk.join("others");
    let mut file = File::create(&path).unwrap();
    for size in [1 << 20, 64 << 10, 4 << 10] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
    path
}

fn free(disk: &Path) -> u64 {
    let said = Command::new("df")
        .args(["--output=avail", "-B1"])
        .arg(disk)
        .output()
        .unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    text.lines().last().unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn a_disk_that_was_full_takes_messages_again_once_they_have_gone_and_goes_on_doing_so() {
    let name =
        "small_disk::a_disk_that_was_full_takes_messages_again_once_they_have_gone_and_goes_on_doing_so";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    assert!(fill(&buffer).await > 500);
    assert!(buffer.refusing().is_some());
    drain(&buffer).await;
    buffer.look_for_room().await.unwrap();
    assert_eq!(buffer.refusing(), None);
    assert!(disk.join("sf.db.reserve").exists(), "the reserve is kept again");
    keep_sending(&buffer, "a").await;
    let depth = buffer.depth();
    assert!(
        depth.remembered_bytes > 0 && depth.bytes >= depth.remembered_bytes,
        "{depth:?}"
    );
    assert!(
        buffer.forgotten_until().is_some(),
        "and it is told that the memory is shorter"
    );
    assert_eq!(depth, buffer.recount().await.unwrap());
    buffer.check().unwrap();
}

#[tokio::test]
async fn handing_over_takes_no_room_when_somebody_else_has_taken_all_of_it() {
    let name = "small_disk::handing_over_takes_no_room_when_somebody_else_has_taken_all_of_it";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    let taken = fill(&buffer).await;
    let others = take_the_rest(&disk);
    assert!(!disk.join("sf.db.reserve").exists());
    assert_eq!(free(&disk), 0, "not a byte is left");
    assert!(!is_taken(&buffer).await);
    assert_eq!(buffer.depth().waiting(), taken);
    drain(&buffer).await;
    assert_eq!(buffer.depth().waiting(), 0, "everything has left all the same");
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    // What was freed is the buffer's again, whoever has the rest of the disk.
    buffer.look_for_room().await.unwrap();
    assert!(is_taken(&buffer).await);
    fs::remove_file(others).unwrap();
    assert!(fill(&buffer).await > 500);
    buffer.check().unwrap();
}

/// A buffer whose small disk is full of what the database "a" acknowledged.
async fn full_of_memory(disk: &Path) -> Buffer {
    let buffer = Buffer::open(&options(disk), Arc::new(ManualClock::default())).unwrap();
    fill(&buffer).await;
    drain(&buffer).await;
    buffer.look_for_room().await.unwrap();
    keep_sending(&buffer, "a").await;
    assert!(buffer.depth().remembered_bytes > 10 << 20, "{:?}", buffer.depth());
    buffer
}

#[tokio::test]
async fn a_restarted_central_stops_no_site_whose_disk_is_full() {
    let name = "small_disk::a_restarted_central_stops_no_site_whose_disk_is_full";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = full_of_memory(&disk).await;
    let again = buffer.met_central(&identity("b")).await.unwrap();
    assert!(again > 500, "{again} wait again");
    assert_eq!(buffer.depth().waiting(), again);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    drain_to(&buffer, "b").await;
    assert_eq!(buffer.depth().waiting(), 0);
    buffer.look_for_room().await.unwrap();
    keep_sending(&buffer, "b").await;
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    buffer.check().unwrap();
}

#[tokio::test]
async fn what_waits_again_takes_no_room_when_somebody_else_has_taken_all_of_it() {
    let name = "small_disk::what_waits_again_takes_no_room_when_somebody_else_has_taken_all_of_it";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = full_of_memory(&disk).await;
    fs::remove_file(disk.join("sf.db.reserve")).unwrap();
    take_the_rest(&disk);
    assert_eq!(free(&disk), 0, "not a byte is left");
    let remembered = buffer.depth().remembered_bytes;
    buffer.met_central(&identity("b")).await.unwrap();
    let waits = buffer.depth().bytes;
    assert!(waits > remembered / 2, "{waits} of {remembered} bytes wait again");
    drain_to(&buffer, "b").await;
    assert_eq!(buffer.depth().waiting(), 0);
    buffer.look_for_room().await.unwrap();
    assert!(is_taken(&buffer).await);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn pages_that_hold_nothing_go_back_to_the_disk() {
    let Some(disk) = small_disk("small_disk::pages_that_hold_nothing_go_back_to_the_disk", 160) else {
        return;
    };
    let clock = Arc::new(ManualClock::default());
    let buffer = Buffer::open(&options(&disk), clock.clone()).unwrap();
    for _ in 0..4_000 {
        assert!(is_taken(&buffer).await);
    }
    let size = || fs::metadata(disk.join("sf.db")).unwrap().len();
    let large = size();
    drain(&buffer).await;
    clock.advance(std::time::Duration::from_secs(3_600));
    buffer.forget_acked(buffer.now()).await.unwrap();
    for _ in 0..20 {
        buffer.look_for_room().await.unwrap();
    }
    assert!(size() < large / 3, "{} of {large} bytes are left", size());
    assert_eq!(buffer.depth().remembered_bytes, 0);
    assert!(is_taken(&buffer).await);
}
