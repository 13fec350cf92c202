//! What holds for the embedded store as a file: one server, short commands beside it, crashes, copies.

use crate::{harness::*, suite::receipt_effects::one_that_cannot_be_worked_on_waits_alone};
use domain::{AuditStatus, ManualClock, Status};
use rusqlite::Connection;
use std::{fs::Permissions, os::unix::fs::PermissionsExt, path::Path, sync::Arc};
use store::{
    Directory, Error,
    directory::{NewKey, Role},
    outbox::Recorded,
    sqlite::SqliteStore,
};

fn at(path: &Path, clock: &Arc<ManualClock>) -> TestStore {
    let store = SqliteStore::open(path, clock.clone()).unwrap();
    TestStore::new(Arc::new(store), clock.clone(), ())
}

struct Place {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::default()),
        }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self) -> TestStore {
        at(&self.file("waypost.db"), &self.clock)
    }
}

#[tokio::test]
async fn one_file_is_served_by_one_process() {
    let place = Place::new();
    let first = place.open();
    let second = SqliteStore::open(&place.file("waypost.db"), place.clock.clone());
    let Err(Error::Locked(words)) = second else {
        panic!("{second:?}")
    };
    assert!(words.contains("in use by another waypost process"), "{words}");
    first.store.close().await;
    place.open().store.ping().await.unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_database_its_log_and_its_copies_are_their_owners_alone() {
    let place = Place::new();
    let t = place.open();
    t.store.ping().await.unwrap();
    let copy = place.file("copy.db");
    t.store.backup(&copy).await.unwrap();
    for name in [
        "waypost.db",
        "waypost.db-wal",
        "waypost.db-shm",
        "waypost.db.lock",
        "copy.db",
    ] {
        assert_eq!(mode(&place.file(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_database_that_everybody_could_read_is_closed_at_the_next_start_and_one_for_a_group_is_not() {
    let place = Place::new();
    place.open().store.close().await;
    let file = place.file("waypost.db");
    for (before, after) in [(0o644, 0o600), (0o660, 0o660)] {
        std::fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
        let t = place.open();
        assert_eq!(mode(&file), after);
        t.store.close().await;
    }
}

#[tokio::test]
async fn a_key_is_made_beside_the_process_that_serves() {
    let place = Place::new();
    let serving = place.open();
    let beside = SqliteStore::open_beside(&place.file("waypost.db"), place.clock.clone()).unwrap();
    let key = NewKey {
        tenant: TENANT,
        name: "first".into(),
        role: Role::Admin,
        hash: [7; 32],
    };
    let made = beside.create_key(key, &admin()).await.unwrap();
    assert_eq!(serving.store.key_by_hash(&[7; 32]).await.unwrap(), Some(made));
    let lane = serving.lane("mail").await;
    serving.send(lane).await;
}

#[tokio::test]
async fn a_command_makes_the_file_if_there_is_none() {
    let place = Place::new();
    let store = SqliteStore::open_beside(&place.file("waypost.db"), place.clock.clone()).unwrap();
    assert_eq!(store.tenants().await.unwrap().len(), 1);
    drop(store);
    place.open().store.ping().await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_in_words() {
    let place = Place::new();
    place.open().store.close().await;
    let path = place.file("waypost.db");
    Connection::open(&path)
        .unwrap()
        .execute(
            "insert into refinery_schema_history values (999, 'later', '2030-01-01T00:00:00Z', '0')",
            [],
        )
        .unwrap();
    for opened in [
        SqliteStore::open(&path, place.clock.clone()),
        SqliteStore::open_beside(&path, place.clock.clone()),
    ] {
        let Err(error @ Error::NewerSchema { found: 999, .. }) = opened else {
            panic!("{opened:?}")
        };
        assert!(error.to_string().contains("use the newer waypost"), "{error}");
    }
}

#[tokio::test]
async fn what_was_accepted_is_there_after_a_restart() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    let (ended, waiting) = (t.delivered(lane).await, t.send(lane).await);
    drop(t);
    let t = place.open();
    assert_eq!(t.status(ended).await, Status::Delivered);
    assert_eq!(t.status(waiting).await, Status::Pending);
    t.check().await;
}

#[tokio::test]
async fn a_dead_processs_leases_are_void_at_start_and_count_as_interrupted() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    let (held, released) = (t.send(lane).await, t.send(lane).await);
    let claimed = t.claim(lane, 2).await;
    t.store.release(&[claimed[1].lease]).await.unwrap();
    drop(t);
    let t = place.open();
    assert_eq!(t.store.void_stale_leases().await.unwrap(), 1);
    let again = t.claim(lane, 2).await;
    let seen = |id| {
        again
            .iter()
            .find(|c| c.id == id)
            .map(|c| (c.attempts, c.interruptions))
    };
    assert_eq!((seen(held), seen(released)), (Some((1, 1)), Some((0, 0))));
    assert_eq!(t.store.void_stale_leases().await.unwrap(), 0, "these are ours");
    assert_eq!(
        t.record(retry(&claimed[0], SECOND)).await,
        Recorded::LostLease { completed: false }
    );
}

/// The files as a crash would leave them. The log first: while nothing is written, a checkpoint in between only
/// copies what the log has anyway.
fn crash_image(place: &Place, into: &str) -> std::path::PathBuf {
    let image = place.file(into);
    for suffix in ["-wal", ""] {
        let from = place.file(&format!("waypost.db{suffix}"));
        let mut to = image.clone().into_os_string();
        to.push(suffix);
        if from.exists() {
            std::fs::copy(from, to).unwrap();
        }
    }
    image
}

#[tokio::test]
async fn an_acknowledged_row_is_in_the_files_at_that_moment() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    for i in 0..20 {
        let id = t.send(lane).await;
        let claimed = t.claim_one(lane).await;
        if i % 2 == 0 {
            t.record(delivered(&claimed)).await;
        }
        let image = crash_image(&place, &format!("crash-{i}.db"));
        let after = at(&image, &place.clock);
        let expected = if i % 2 == 0 {
            Status::Delivered
        } else {
            Status::Pending
        };
        assert_eq!(after.status(id).await, expected);
        after.check().await;
        t.record(delivered(&claimed)).await;
    }
}

#[tokio::test]
async fn a_backup_is_a_whole_copy_and_never_writes_over_a_file() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    let ids = t.send_many(lane, 50).await;
    let copy = place.file("copy.db");
    let writing = t.send_many(lane, 200);
    let (copied, _) = tokio::join!(t.store.backup(&copy), writing);
    copied.unwrap();
    let restored = at(&copy, &place.clock);
    for id in ids {
        assert_eq!(restored.status(id).await, Status::Pending);
    }
    restored.check().await;
    let again = t.store.backup(&copy).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    let onto_itself = t.store.backup(&place.file("waypost.db")).await;
    assert!(matches!(onto_itself, Err(Error::Conflict(_))), "{onto_itself:?}");
}

#[tokio::test]
async fn an_outcome_is_written_even_when_its_audit_row_cannot_be() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    let (id, next) = (t.send(lane).await, t.send(lane).await);
    let claimed = t.claim(lane, 2).await;
    let outside = Connection::open(place.file("waypost.db")).unwrap();
    outside
        .execute_batch(
            "create trigger broken before insert on audit_log when new.kind = 'NotifyDeliver'
             begin select raise(abort, 'no'); end",
        )
        .unwrap();
    assert_eq!(t.record(park(&claimed[0])).await, Recorded::Done);
    assert_eq!(t.status(id).await, Status::Parked);
    outside.execute_batch("drop trigger broken").unwrap();
    assert_eq!(t.record(park(&claimed[1])).await, Recorded::Done);
    let log = t.store.attempts(TENANT, next).await.unwrap().unwrap();
    assert_eq!(log.last().unwrap().status, AuditStatus::Parked);
}

#[tokio::test]
async fn a_receipt_that_cannot_be_worked_on_keeps_no_other_waiting() {
    let place = Place::new();
    let t = place.open();
    let outside = Connection::open(place.file("waypost.db")).unwrap();
    one_that_cannot_be_worked_on_waits_alone(&t, async |id| {
        let spoil = "update notifications set extra = '\"spoilt\"' where id = ?1";
        assert_eq!(outside.execute(spoil, [id.0.as_bytes()]).unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_command_that_fails_takes_no_neighbour_with_it() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    let calls = (0..40).map(|i| {
        let store = t.store.clone();
        tokio::spawn(async move {
            if i % 4 == 0 {
                // The same name again and again: only the first is made.
                store.create_tenant("same", &admin()).await.is_ok()
            } else {
                let batch = vec![store::outbox::NewNotification {
                    submission: mail(),
                    lane,
                }];
                store.ingest(batch).await.unwrap();
                false
            }
        })
    });
    let made = futures_util::future::join_all(calls).await;
    assert_eq!(made.into_iter().filter(|m| *m.as_ref().unwrap()).count(), 1);
    assert_eq!(t.claim(lane, 100).await.len(), 30);
    assert_eq!(t.store.tenants().await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_log_is_moved_into_the_file_beside_the_writer() {
    let place = Place::new();
    let t = place.open();
    let lane = t.lane("mail").await;
    t.send_many(lane, 500).await;
    let path = place.file("waypost.db");
    // Waits on the condition, with the writer idle; the file grows only by checkpoints.
    testkit::until("the log to be moved into the file", async || {
        std::fs::metadata(&path).unwrap().len() >= 100_000
    })
    .await;
}

#[test]
fn what_was_being_sent_before_an_upgrade_stays_leased_and_keeps_its_place() {
    let step = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
        std::fs::read_to_string(format!("{folder}/{name}.sql")).unwrap()
    };
    let conn = Connection::open_in_memory().unwrap();
    for before in ["V1__outbox", "V2__sites", "V3__users"] {
        conn.execute_batch(&step(before)).unwrap();
    }
    conn.execute_batch(
        "insert into due (seq, tenant, lane, waiting_since, due_at, token, last_attempt_at)
         values (1, 1, 1, 10, 20, null, null), (2, 1, 1, 10, 900, 7, 30)",
    )
    .unwrap();
    conn.execute_batch(&step("V4__leases")).unwrap();
    let mut rows = conn
        .prepare("select due_at, leased_until from due order by seq")
        .unwrap();
    let rows: Vec<(i64, Option<i64>)> = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows, [(20, None), (30, Some(900))]);
}

#[tokio::test]
async fn a_category_of_sites_more_needs_no_other_table() {
    let place = Place::new();
    place.open().store.close().await;
    let conn = Connection::open(place.file("waypost.db")).unwrap();
    let ask = |what: &str| conn.query_row(what, [], |row| row.get::<_, String>(0)).unwrap();
    let declared = ask("select sql from sqlite_schema where name = 'site_calls'");
    assert!(declared.contains("category text not null,"), "{declared}");
    assert_eq!(ask("pragma integrity_check"), "ok");
}
