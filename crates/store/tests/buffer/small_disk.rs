//! A disk that is really full: what has left makes room, and getting it out needs none.

use crate::{a_small_disk::*, harness::*};
use domain::ManualClock;
use std::{fs, path::Path, sync::Arc, time::Duration};
use store::Buffer;

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
    assert!(reserve(&disk).exists(), "the reserve is kept");
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
    fs::remove_file(reserve(&disk)).unwrap();
    let others = take_the_rest(&disk);
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
    fs::remove_file(reserve(&disk)).unwrap();
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
    clock.advance(Duration::from_secs(3_600));
    buffer.forget_acked(buffer.now()).await.unwrap();
    for _ in 0..20 {
        buffer.look_for_room().await.unwrap();
    }
    assert!(size() < large / 3, "{} of {large} bytes are left", size());
    assert_eq!(buffer.depth().remembered_bytes, 0);
    assert!(is_taken(&buffer).await);
}
