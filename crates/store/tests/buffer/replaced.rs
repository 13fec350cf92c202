//! Files that go away under whoever has them open.

use crate::harness::*;
use domain::{
    TrackedOperationId,
    site::{Category, OperationStatus},
};
use serde_json::json;
use std::time::Duration;
use store::{
    Buffer,
    buffer::{Attempted, MessageId, Start, Step},
    external::External,
};

#[tokio::test]
async fn nothing_is_acknowledged_after_the_buffer_was_deleted_and_nothing_of_it_is_lost() {
    for gone in ["sf.db", "sf.db-wal"] {
        let place = Place::new();
        let buffer = place.open();
        let mut ids = vec![];
        for _ in 0..50 {
            let message = a_message(Category::Notification, "ops");
            ids.push(message.id);
            put(&buffer, message).await;
        }
        std::fs::remove_file(place.folder.path().join(gone)).unwrap();
        let refused = buffer
            .enqueue(a_message(Category::Notification, "ops"), Start::Queued)
            .await;
        assert!(refused.is_err(), "{gone}: {refused:?}");
        assert!(*buffer.poisoned().borrow(), "{gone}: the process ends");
        drop(buffer);
        let buffer = place.open();
        for id in ids {
            assert!(get(&buffer, id).await.is_some(), "{gone}");
        }
        assert!(buffer.damaged() > 0, "{gone}: and somebody is told");
    }
}

#[tokio::test]
async fn a_buffer_that_was_replaced_is_found_out_even_when_nobody_sends() {
    let place = Place::new();
    let buffer = place.open();
    let message = a_message(Category::Notification, "ops");
    let id = message.id;
    put(&buffer, message).await;
    std::fs::rename(place.file(), place.folder.path().join("moved away")).unwrap();
    std::fs::write(place.file(), b"").unwrap();
    assert!(buffer.look_for_room().await.is_err());
    assert!(*buffer.poisoned().borrow());
    drop(buffer);
    let buffer = place.open();
    assert!(get(&buffer, id).await.is_some());
}

#[tokio::test]
async fn a_write_to_somebody_elses_file_counts_only_if_that_file_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let make = || {
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.execute_batch("create table if not exists t (n int)")
            .unwrap();
    };
    let rows = || -> i64 {
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.query_row("select count(*) from t", [], |row| row.get(0))
            .unwrap()
    };
    make();
    let db = External::new(&format!("sqlite://{}", path.display()), Duration::from_secs(60)).unwrap();
    let insert = "insert into t values (?1)";
    db.execute(insert, &[json!(1)]).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    let gone = db.execute(insert, &[json!(2)]).await.unwrap_err();
    assert_eq!(gone.kind, domain::FailureKind::Transient, "{gone:?}");
    assert!(!path.exists(), "and none is made");
    make();
    assert_eq!(db.execute(insert, &[json!(3)]).await.unwrap().rows, 1);
    assert_eq!(rows(), 1, "in the file that is there");
    // Replaced by another one at once.
    let other = folder.path().join("other.db");
    std::fs::copy(&path, &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(db.execute(insert, &[json!(4)]).await.unwrap().rows, 1);
    assert_eq!(rows(), 2);
}

/// Ids of calls: 10 that wait in a file that was closed well, of which then 5 were delivered and 1 is new.
async fn delivered_since(place: &Place) -> (Buffer, Vec<MessageId>, MessageId) {
    let buffer = place.open();
    for _ in 0..10 {
        put(&buffer, a_message(Category::ExternalSystem, "erp")).await;
    }
    buffer.close().await;
    drop(buffer);
    let buffer = place.open();
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 5)
        .await
        .unwrap();
    let delivered = claimed.iter().map(|message| Attempted {
        ticket: message.ticket(),
        step: Step::Delivered,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    });
    buffer.record(delivered.collect()).await.unwrap();
    let new = a_message(Category::ExternalSystem, "erp");
    let id = new.id;
    put(&buffer, new).await;
    (buffer, claimed.iter().map(|message| message.id).collect(), id)
}

#[tokio::test]
async fn a_buffer_whose_files_were_deleted_is_back_as_it_was_and_makes_no_call_again() {
    for gone in [
        &["sf.db-wal"][..],
        &["sf.db"],
        &["sf.db", "sf.db-wal", "sf.db-shm"],
    ] {
        let place = Place::new();
        let (buffer, delivered, new) = delivered_since(&place).await;
        for file in gone {
            std::fs::remove_file(place.folder.path().join(file)).unwrap();
        }
        let late = buffer.enqueue(a_message(Category::ExternalSystem, "erp"), Start::Queued);
        assert!(late.await.is_err(), "{gone:?}");
        drop(buffer);
        let buffer = place.open();
        for id in &delivered {
            assert!(
                get(&buffer, *id).await.is_none(),
                "{gone:?}: it would be made again"
            );
            let tracked = buffer.tracking(TrackedOperationId(id.0)).await.unwrap().unwrap();
            assert_eq!(tracked.status, OperationStatus::Delivered, "{gone:?}");
        }
        assert!(get(&buffer, new).await.is_some(), "{gone:?}");
        assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
        assert_eq!(
            (buffer.set_aside(), buffer.damaged()),
            (None, 1),
            "{gone:?}: and somebody is told"
        );
        let kept = buffer.damage().await.unwrap()[0].file.clone();
        assert_eq!(
            kept.is_some(),
            gone.len() == 1 && gone[0] == "sf.db-wal",
            "{gone:?}: {kept:?}"
        );
        assert!(kept.is_none_or(|file| std::path::Path::new(&file).exists()));
        // And once more: it is a buffer like any other.
        drop(buffer);
        let buffer = place.open();
        assert_eq!((buffer.set_aside(), buffer.damaged()), (None, 1));
        assert!(get(&buffer, new).await.is_some());
    }
}

#[tokio::test]
async fn what_was_rescued_takes_the_place_of_no_other_file() {
    let place = Place::new();
    let other = Place::new();
    let elsewhere = a_message(Category::ExternalSystem, "erp");
    let (id, buffer) = (elsewhere.id, other.open());
    put(&buffer, elsewhere).await;
    buffer.close().await;
    let (buffer, _, new) = delivered_since(&place).await;
    for file in ["sf.db", "sf.db-wal", "sf.db-shm"] {
        std::fs::remove_file(place.folder.path().join(file)).unwrap();
    }
    let late = buffer.enqueue(a_message(Category::ExternalSystem, "erp"), Start::Queued);
    assert!(late.await.is_err());
    drop(buffer);
    std::fs::copy(other.file(), place.file()).unwrap();
    let buffer = place.open();
    assert!(
        get(&buffer, id).await.is_some(),
        "the file that somebody put there stays"
    );
    assert!(get(&buffer, new).await.is_some(), "and has what was rescued");
    assert!(buffer.set_aside().is_some());
}
