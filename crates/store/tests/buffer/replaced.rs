//! Files that go away under whoever has them open.

use crate::harness::*;
use domain::site::Category;
use serde_json::json;
use std::time::Duration;
use store::{buffer::Start, external::External};

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
