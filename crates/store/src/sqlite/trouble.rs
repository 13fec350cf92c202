//! Tests of the writer in trouble: commands that fail among others, a full disk, a disk that lies, a bug.

use super::{SqliteStore, directory};
use crate::{Directory, Error, Maintenance, Result};
use domain::{Actor, ManualClock};
use rusqlite::{ffi, params};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

fn open() -> (Arc<SqliteStore>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waypost.db");
    let store = SqliteStore::open(&path, Arc::new(ManualClock::default())).unwrap();
    (Arc::new(store), folder)
}

fn sqlite_error(code: i32) -> Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
}

async fn put_text(store: &SqliteStore, name: &'static str, recipients: String) -> Result<()> {
    let work = move |s: &mut super::WriteSession<'_>| {
        let mut put = s.conn.prepare_cached(directory::sql::list_put)?;
        put.execute(params![1, name, recipients])?;
        Ok(())
    };
    store.write(1, work).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_fails_undoes_itself_alone_in_its_group() {
    let (store, _folder) = open();
    let (go, wait) = mpsc::channel::<()>();
    let (begun, begins) = tokio::sync::oneshot::channel();
    let inside = std::sync::Mutex::new((Some(begun), wait));
    let held = tokio::spawn({
        let store = store.clone();
        let work = move |_: &mut super::WriteSession<'_>| {
            let mut inside = inside.lock().unwrap();
            inside.0.take().map(|begun| begun.send(()));
            let _ = inside.1.recv();
            Ok(())
        };
        async move { store.write(1, work).await }
    });
    begins.await.unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let mut commands = vec![];
    for i in 0..6 {
        let (store, runs) = (store.clone(), runs.clone());
        commands.push(tokio::spawn(async move {
            let work = move |s: &mut super::WriteSession<'_>| {
                runs.fetch_add(1, Ordering::SeqCst);
                let mut put = s.conn.prepare_cached(directory::sql::list_put)?;
                put.execute(params![1, format!("list-{i}"), "[]"])?;
                if i == 3 {
                    Err(Error::Conflict("no".into()))
                } else {
                    Ok(i)
                }
            };
            store.write(1, work).await
        }));
    }
    // All six are waiting when the writer is let go, so they are one group.
    let gathered = async {
        while store.writer.waiting() < 6 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), gathered)
        .await
        .unwrap();
    go.send(()).unwrap();
    held.await.unwrap().unwrap();
    for (i, command) in commands.into_iter().enumerate() {
        match command.await.unwrap() {
            Ok(n) => assert_eq!(n, i),
            Err(error) => assert!(i == 3 && matches!(error, Error::Conflict(_)), "{i}: {error:?}"),
        }
    }
    let names: Vec<_> = store.lists(domain::TenantId::DEFAULT).await.unwrap();
    assert_eq!(names.len(), 5, "all but the one that failed");
    assert!(
        runs.load(Ordering::SeqCst) > 6,
        "they ran again, each in its savepoint"
    );
}

#[tokio::test]
async fn a_full_disk_refuses_in_words_and_passes() {
    let (store, _folder) = open();
    let limit = |pages: i64| {
        store.write(1, move |s| {
            Ok(s.conn.pragma_update(None, "max_page_count", pages)?)
        })
    };
    limit(1).await.unwrap();
    let refused = put_text(&store, "big", "x".repeat(1 << 20)).await.unwrap_err();
    assert!(refused.may_pass(), "{refused:?}");
    assert!(!*store.poisoned().borrow(), "what is on disk is known");
    limit(1 << 30).await.unwrap();
    put_text(&store, "big", "[]".into()).await.unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn after_an_io_error_nothing_more_is_acknowledged() {
    let (store, _folder) = open();
    let failed: Result<()> = store
        .write(1, |_| Err(sqlite_error(ffi::SQLITE_IOERR_FSYNC)))
        .await;
    assert!(failed.unwrap_err().may_pass());
    assert!(*store.poisoned().borrow());
    let later = put_text(&store, "later", "[]".into()).await;
    assert!(matches!(later, Err(Error::Unavailable(_))), "{later:?}");
    assert!(store.ping().await.is_err());
    assert_eq!(store.tenants().await.unwrap().len(), 1, "reading goes on");
}

#[tokio::test]
async fn a_writer_that_dies_of_a_bug_says_so() {
    let (store, _folder) = open();
    let died: Result<()> = store.write(1, |_| panic!("a bug, made for this test")).await;
    assert!(matches!(died, Err(Error::UnknownCommit(_))), "{died:?}");
    let mut poisoned = store.poisoned();
    poisoned.wait_for(|poisoned| *poisoned).await.unwrap();
    let later = store.create_tenant("later", &Actor::system()).await;
    assert!(matches!(later, Err(Error::Unavailable(_))), "{later:?}");
}
