//! The file as a file: restarts, locks, damage, versions.

use crate::harness::*;
use domain::site::Category;
use std::{
    io::{Seek, SeekFrom, Write},
    os::unix::fs::PermissionsExt,
};
use store::{Buffer, Error};

#[tokio::test]
async fn what_was_accepted_is_there_after_a_restart_and_counted() {
    let place = Place::new();
    let buffer = place.open();
    let (call, note) = (
        a_message(Category::ExternalSystem, "erp"),
        a_message(Category::Notification, "ops"),
    );
    let ids = [call.id, note.id];
    put(&buffer, call).await;
    put(&buffer, note).await;
    let depth = buffer.depth();
    drop(buffer);
    let buffer = place.open();
    assert_eq!(buffer.depth(), depth);
    for id in ids {
        assert!(get(&buffer, id).await.is_some());
    }
    assert_eq!(buffer.set_aside(), None);
}

#[tokio::test]
async fn one_file_is_one_agents() {
    let place = Place::new();
    let _first = place.open();
    let second = Buffer::open(&place.options, place.clock.clone());
    assert!(matches!(second, Err(Error::Locked(_))), "{second:?}");
}

#[tokio::test]
async fn opening_again_and_again_changes_nothing() {
    let place = Place::new();
    for n in 0..3 {
        let buffer = place.open();
        assert_eq!(buffer.depth().waiting(), n);
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_made() {
    let mut place = Place::new();
    place.options.path = place.folder.path().join("data/deep/sf.db");
    put(&place.open(), a_message(Category::Notification, "ops")).await;
}

#[tokio::test]
async fn the_file_its_log_and_the_folders_made_for_it_are_their_owners_alone() {
    let mut place = Place::new();
    place.options.path = place.folder.path().join("data/deep/sf.db");
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    for (name, wanted) in [
        ("data", 0o700),
        ("data/deep", 0o700),
        ("data/deep/sf.db", 0o600),
        ("data/deep/sf.db-wal", 0o600),
        ("data/deep/sf.db-shm", 0o600),
    ] {
        let found = std::fs::metadata(place.folder.path().join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, wanted, "{name}");
    }
}

fn set_aside_files(place: &Place) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".damaged-"))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_and_never_deleted() {
    let place = Place::new();
    let buffer = place.open();
    for _ in 0..500 {
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
    buffer.close().await;
    drop(buffer);
    let size = std::fs::metadata(place.file()).unwrap().len();
    let mut file = std::fs::File::options().write(true).open(place.file()).unwrap();
    file.seek(SeekFrom::Start(size / 2)).unwrap();
    file.write_all(&[0xA5; 16 * 1024]).unwrap();
    drop(file);
    let buffer = place.open();
    let aside = buffer.set_aside().expect("it was damaged").clone();
    assert_eq!(std::fs::metadata(&aside).unwrap().len(), size);
    assert!(set_aside_files(&place).contains(&aside));
    put(&buffer, a_message(Category::Notification, "ops")).await;
    drop(buffer);
    assert_eq!(place.open().set_aside(), None);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_set_aside_too() {
    let place = Place::new();
    std::fs::write(
        place.file(),
        b"this was never a database, but it is somebody's".repeat(100),
    )
    .unwrap();
    let buffer = place.open();
    assert!(buffer.set_aside().is_some());
    put(&buffer, a_message(Category::Notification, "ops")).await;
}

#[tokio::test]
async fn a_log_without_its_file_is_kept_as_well() {
    let place = Place::new();
    let orphan = format!("{}-wal", place.file().display());
    std::fs::write(&orphan, b"what was left of it").unwrap();
    let buffer = place.open();
    let aside = format!("{}-wal", buffer.set_aside().unwrap().display());
    assert_eq!(std::fs::read(aside).unwrap(), b"what was left of it");
    put(&buffer, a_message(Category::Notification, "ops")).await;
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.open());
    rusqlite::Connection::open(place.file())
        .unwrap()
        .execute(
            "insert into refinery_schema_history values (999, 'later', '2030-01-01T00:00:00Z', '0')",
            [],
        )
        .unwrap();
    let opened = Buffer::open(&place.options, place.clock.clone());
    assert!(
        matches!(opened, Err(Error::NewerSchema { found: 999, .. })),
        "{opened:?}"
    );
    assert_eq!(set_aside_files(&place), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn every_commit_is_synced_and_the_log_is_write_ahead() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let mode: String = rusqlite::Connection::open(place.file())
        .unwrap()
        .query_row("pragma journal_mode", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn the_columns_and_indexes_of_the_specification_are_there() {
    let place = Place::new();
    drop(place.open());
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).unwrap();
        let found = statement.query_map([], |row| row.get("name")).unwrap();
        found.collect::<Result<_, _>>().unwrap()
    };
    let columns = names("pragma table_info(sf_messages)");
    for column in [
        "id",
        "category",
        "target",
        "payload_json",
        "retry_count",
        "max_retries",
        "retry_interval_ms",
        "created_at",
        "last_attempt_at",
        "status",
        "last_error",
        "origin_instance",
        "execution_id",
        "source_script",
        "parent_execution_id",
    ] {
        assert!(columns.iter().any(|c| c == column), "{column}");
    }
    let indexes = names("pragma index_list(sf_messages)");
    for index in ["idx_sf_messages_status", "idx_sf_messages_category"] {
        assert!(indexes.iter().any(|i| i == index), "{index}");
    }
}

#[tokio::test]
async fn a_category_more_needs_no_other_file() {
    let place = Place::new();
    put(&place.open(), a_message(Category::Notification, "ops")).await;
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let ask = |what: &str| conn.query_row(what, [], |row| row.get::<_, String>(0)).unwrap();
    let declared = ask("select sql from sqlite_schema where name = 'sf_messages'");
    assert!(declared.contains("category integer not null,"), "{declared}");
    assert_eq!(ask("pragma integrity_check"), "ok");
}

#[tokio::test]
async fn a_file_that_a_person_has_written_anew_is_gone_on_with_as_it_is() {
    let place = Place::new();
    let buffer = place.open();
    for _ in 0..100 {
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
    buffer.close().await;
    drop(buffer);
    // The command of docs/sites.md.
    rusqlite::Connection::open(place.file())
        .unwrap()
        .execute_batch("pragma auto_vacuum = incremental; vacuum")
        .unwrap();
    let buffer = place.open();
    assert_eq!(buffer.set_aside(), None);
    assert_eq!((buffer.depth().waiting(), buffer.damaged()), (100, 0));
}
