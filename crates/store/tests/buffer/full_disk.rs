//! A disk that is full when the agent starts, and one that stays full.

use crate::{a_small_disk::*, harness::*};
use domain::{
    ManualClock, TrackedOperationId,
    site::{Category, OperationStatus},
};
use std::{
    fs::{self, OpenOptions},
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
    process::Command,
    sync::Arc,
    time::Duration,
};
use store::{
    Buffer,
    buffer::{Attempted, Count, Handed, Message, MessageId, NewMessage, Options, Recorded, Step},
};

#[tokio::test]
async fn a_start_on_a_full_disk_finds_the_buffer_as_it_was_and_gets_everything_out() {
    let name = "full_disk::a_start_on_a_full_disk_finds_the_buffer_as_it_was_and_gets_everything_out";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let open = || Buffer::open(&options(&disk), Arc::new(ManualClock::default()));
    let buffer = open().unwrap();
    for _ in 0..300 {
        assert!(is_taken(&buffer).await);
    }
    buffer.close().await;
    drop(buffer);
    // The log has gone with the process that had it.
    let others = take_the_rest(&disk);
    assert_eq!(free(&disk), 0, "not a byte is left");
    let buffer = open().unwrap();
    assert_eq!((buffer.set_aside(), buffer.damaged()), (None, 0));
    assert!(buffer.refusing().is_some(), "the reserve was needed");
    assert!(!is_taken(&buffer).await);
    assert_eq!(buffer.depth().waiting(), 300);
    drain(&buffer).await;
    assert_eq!(buffer.depth().waiting(), 0);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    fs::remove_file(others).unwrap();
    buffer.look_for_room().await.unwrap();
    assert!(reserve(&disk).exists() && is_taken(&buffer).await);
    buffer.check().unwrap();
}

#[tokio::test]
async fn a_full_disk_without_a_reserve_is_no_damage() {
    let Some(disk) = small_disk("full_disk::a_full_disk_without_a_reserve_is_no_damage", 48) else {
        return;
    };
    let without = Options::at(disk.join("sf.db"));
    let open = || Buffer::open(&without, Arc::new(ManualClock::default()));
    let buffer = open().unwrap();
    assert!(is_taken(&buffer).await);
    buffer.close().await;
    drop(buffer);
    let others = take_the_rest(&disk);
    assert!(
        open().is_err(),
        "SQLite has no room for what it needs beside the file"
    );
    fs::remove_file(others).unwrap();
    let buffer = open().unwrap();
    assert_eq!((buffer.set_aside(), buffer.damaged()), (None, 0));
    assert_eq!(buffer.depth().waiting(), 1);
}

/// Calls whose attempts have begun.
async fn calls_under_way(buffer: &Buffer, n: u32) {
    for _ in 0..n {
        put(buffer, a_message(Category::ExternalSystem, "erp")).await;
    }
    let begun = buffer
        .claim_due(Category::ExternalSystem, "erp", n)
        .await
        .unwrap();
    assert_eq!(begun.len(), n as usize);
}

/// What became of attempts that had begun: words that take room.
fn failed(begun: &[Message]) -> Vec<Attempted> {
    let each = begun.iter().map(|message| Attempted {
        ticket: message.ticket(),
        step: Step::Retry {
            after: Duration::from_secs(30),
            error: "no answer, ".repeat(200),
            count: Count::Try,
        },
        started_at: message.created_at,
        took: Duration::ZERO,
        http_status: None,
    });
    each.collect()
}

#[tokio::test]
async fn what_became_of_attempts_is_written_on_a_full_disk_at_once_and_after_a_restart() {
    let name = "full_disk::what_became_of_attempts_is_written_on_a_full_disk_at_once_and_after_a_restart";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let clock = Arc::new(ManualClock::default());
    let open = || Buffer::open(&options(&disk), clock.clone()).unwrap();
    let buffer = open();
    calls_under_way(&buffer, 60).await;
    fill(&buffer).await;
    take_the_rest(&disk);
    assert_eq!(free(&disk), 0, "not a byte is left");
    assert!(reserve(&disk).exists(), "it is not for messages");
    let begun = buffer.interrupted().await.unwrap();
    let recorded = buffer.record(failed(&begun)).await.unwrap();
    assert_eq!(recorded, vec![Recorded::Done; 60]);
    assert!(!reserve(&disk).exists());
    clock.advance(Duration::from_secs(30));
    let begun = buffer
        .claim_due(Category::ExternalSystem, "erp", 60)
        .await
        .unwrap();
    assert_eq!(begun.len(), 60);
    buffer.close().await;
    drop(buffer);
    let buffer = open();
    let begun = buffer.interrupted().await.unwrap();
    let recorded = buffer.record(failed(&begun)).await.unwrap();
    assert_eq!(recorded, vec![Recorded::Done; 60]);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn a_disk_that_stays_full_is_full_all_the_time_and_nothing_is_written_to_find_that_out() {
    let name =
        "full_disk::a_disk_that_stays_full_is_full_all_the_time_and_nothing_is_written_to_find_that_out";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    calls_under_way(&buffer, 60).await;
    fill(&buffer).await;
    let kept = fs::metadata(reserve(&disk)).unwrap();
    for _ in 0..10 {
        let _ = buffer.look_for_room().await;
        assert!(buffer.refusing().is_some());
        assert!(!is_taken(&buffer).await);
    }
    let still = fs::metadata(reserve(&disk)).unwrap();
    assert_eq!((still.ino(), still.mtime_nsec()), (kept.ino(), kept.mtime_nsec()));
    // Those who get messages out need it: what is left of it stays theirs.
    let others = take_the_rest(&disk);
    let begun = buffer.interrupted().await.unwrap();
    buffer.record(failed(&begun)).await.unwrap();
    let mut taken_again = 0;
    for _ in 0..10 {
        let _ = buffer.look_for_room().await;
        if buffer.refusing().is_none() {
            // What they did not need of the file's last growth has room for a few.
            taken_again += 1;
            fill(&buffer).await;
        }
    }
    assert!(taken_again <= 1, "{taken_again}");
    fs::remove_file(others).unwrap();
    drain(&buffer).await;
    buffer.look_for_room().await.unwrap();
    assert_eq!(buffer.refusing(), None);
    assert!(reserve(&disk).exists() && is_taken(&buffer).await);
}

#[tokio::test]
async fn what_cannot_be_parked_for_want_of_room_stops_nothing_behind_it() {
    let Some(disk) = small_disk(
        "full_disk::what_cannot_be_parked_for_want_of_room_stops_nothing_behind_it",
        48,
    ) else {
        return;
    };
    let open = || Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    let buffer = open();
    // The last of all ids, so that it stands where it belongs in the index by id after it was damaged too.
    let no_message = NewMessage {
        id: MessageId(uuid::Uuid::max()),
        payload: "x".repeat(200_000),
        ..large()
    };
    let id = no_message.id.to_string();
    put(&buffer, no_message).await;
    let (refused, unknown) = (put(&buffer, large()).await.seq, put(&buffer, large()).await.seq);
    buffer.close().await;
    drop(buffer);
    flip(&disk.join("sf.db"), &id, &[0xFF; 36]);
    let buffer = open();
    let taken = fill(&buffer).await;
    fs::remove_file(reserve(&disk)).unwrap();
    let others = take_the_rest(&disk);
    assert_eq!(free(&disk), 0, "not a byte is left");
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    // Words that take room.
    let why = format!("REFUSED: {}", "no, ".repeat(20_000));
    assert!(!buffer.park_forward(unknown, &why).await.unwrap());
    let first = buffer.forwardable(0, 2, usize::MAX).await.unwrap();
    assert_eq!(
        first.iter().map(|m| m.seq).collect::<Vec<_>>(),
        [refused],
        "what is no message is passed"
    );
    let handed = Handed {
        acked: vec![],
        refused: vec![(refused, why.clone())],
    };
    assert!(buffer.handed_over(&central, handed.clone()).await.unwrap());
    assert_eq!(buffer.depth().all_parked(), 0, "there was no room for that");
    let behind = buffer.forwardable(unknown, 100_000, usize::MAX).await.unwrap();
    assert_eq!(behind.len() as u64, taken);
    for some in behind.chunks(500) {
        let acked = some.iter().map(|m| m.seq).collect();
        let handed = Handed {
            acked,
            refused: vec![],
        };
        assert!(buffer.handed_over(&central, handed).await.unwrap());
    }
    fs::remove_file(others).unwrap();
    buffer.wake().take_rewind();
    buffer.look_for_room().await.unwrap();
    assert!(buffer.wake().take_rewind(), "and they are come across again");
    let again = buffer.forwardable(0, 10, usize::MAX).await.unwrap();
    assert_eq!(
        again.iter().map(|m| m.seq).collect::<Vec<_>>(),
        [refused, unknown]
    );
    assert_eq!(buffer.damaged(), 1, "and what is no message is set aside");
    assert!(buffer.park_forward(unknown, &why).await.unwrap());
    assert!(buffer.handed_over(&central, handed).await.unwrap());
    assert_eq!((buffer.depth().waiting(), buffer.depth().all_parked()), (0, 2));
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn a_call_that_was_delivered_is_written_down_when_others_have_taken_the_whole_disk() {
    let name = "full_disk::a_call_that_was_delivered_is_written_down_when_others_have_taken_the_whole_disk";
    let Some(disk) = small_disk(name, 48) else {
        return;
    };
    let buffer = Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    // Its pages are free as soon as it has gone; the others have too little for an event and news each.
    let first = NewMessage {
        category: Category::ExternalSystem,
        target: "erp".into(),
        max_retries: 50,
        ..large()
    };
    put(&buffer, first).await;
    for _ in 0..199 {
        put(&buffer, a_message(Category::ExternalSystem, "erp")).await;
    }
    let begun = buffer
        .claim_due(Category::ExternalSystem, "erp", 200)
        .await
        .unwrap();
    assert_eq!(begun.len(), 200);
    fill(&buffer).await;
    fs::remove_file(reserve(&disk)).unwrap();
    take_the_rest(&disk);
    assert_eq!(free(&disk), 0, "not a byte is left");
    let begun = buffer.interrupted().await.unwrap();
    let delivered = begun.iter().map(|message| Attempted {
        ticket: message.ticket(),
        step: Step::Delivered,
        started_at: message.created_at,
        took: Duration::ZERO,
        http_status: Some(200),
    });
    let recorded = buffer.record(delivered.collect()).await.unwrap();
    assert_eq!(recorded, vec![Recorded::Done; 200]);
    for message in &begun {
        assert!(get(&buffer, message.id).await.is_none());
        let tracked = buffer
            .tracking(TrackedOperationId(message.id.0))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(tracked.status, OperationStatus::Delivered);
    }
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

/// The disk gets so many MB.
fn resize(disk: &Path, megabytes: u32) {
    let done = Command::new("mount")
        .args(["-o", &format!("remount,size={megabytes}m")])
        .arg(disk)
        .status();
    assert!(done.unwrap().success());
}

#[tokio::test]
async fn a_damaged_buffer_for_which_there_is_no_room_is_taken_in_at_a_later_start() {
    let name = "full_disk::a_damaged_buffer_for_which_there_is_no_room_is_taken_in_at_a_later_start";
    let Some(disk) = small_disk(name, 64) else {
        return;
    };
    let open = || Buffer::open(&options(&disk), Arc::new(ManualClock::default())).unwrap();
    let buffer = open();
    for _ in 0..1_500 {
        assert!(is_taken(&buffer).await);
    }
    buffer.close().await;
    drop(buffer);
    let file = OpenOptions::new().write(true).open(disk.join("sf.db")).unwrap();
    file.write_all_at(&[0xA5; 16 * 1024], 10 << 20).unwrap();
    drop(file);
    let named = |part: &str| {
        let names = fs::read_dir(&disk)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains(part)).count()
    };
    let buffer = open();
    assert!(buffer.refusing().is_some(), "the disk is full");
    let some = buffer.depth().waiting();
    assert!(some < 1_400, "{some} found room");
    assert!(named(".pending-") > 0 && named(".damaged-") == 0);
    buffer.close().await;
    drop(buffer);
    resize(&disk, 128);
    let buffer = open();
    let all = buffer.depth().waiting();
    assert!(all > 1_400, "{all} of 1500 came back");
    assert!(named(".pending-") == 0 && named(".damaged-") > 0);
    assert!(buffer.damaged() > 0);
    assert_eq!(buffer.refusing(), None);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}
