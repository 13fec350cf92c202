//! Bits that turn over: one bad row stops nobody, what can be read comes back, and damage stays visible.

use crate::harness::*;
use domain::{Actor, site::Category};
use std::io::{Seek, SeekFrom, Write};
use store::buffer::{MessageId, NewMessage, What};

fn marked(category: Category, mark: &str) -> NewMessage {
    NewMessage {
        payload: format!("{{\"mark\":\"{mark}\"}}"),
        ..a_message(category, "erp")
    }
}

/// A flipped bit: the high one of the first letter.
fn not_text(mark: &str) -> Vec<u8> {
    let mut bytes = mark.as_bytes().to_vec();
    bytes[0] |= 0x80;
    bytes
}

#[tokio::test]
async fn a_flipped_bit_in_one_payload_is_told_with_the_row_and_stops_no_other() {
    for category in Category::ALL.iter().copied() {
        let place = Place::new();
        let buffer = place.open();
        let mut ids = vec![];
        for n in 0..300 {
            let message = marked(category, &format!("mark-{n:04}"));
            ids.push(message.id);
            put(&buffer, message).await;
        }
        let counted = buffer.depth();
        buffer.close().await;
        drop(buffer);
        flip(&place.file(), "mark-0150", &not_text("mark-0150"));
        let buffer = place.open();
        assert_eq!(buffer.set_aside(), None, "SQLite finds nothing wrong");
        assert_eq!(buffer.depth(), counted);
        let (found, damaged): (Vec<MessageId>, Vec<MessageId>) = if category == Category::Notification {
            let found = buffer.forwardable(0, 500, usize::MAX).await.unwrap();
            let damaged = found
                .iter()
                .filter(|m| m.damaged.is_some())
                .map(|m| m.id)
                .collect();
            (found.iter().map(|m| m.id).collect(), damaged)
        } else {
            let found = buffer.claim_due(category, "erp", 500).await.unwrap();
            let damaged = found
                .iter()
                .filter(|m| m.damaged.is_some())
                .map(|m| m.id)
                .collect();
            (found.iter().map(|m| m.id).collect(), damaged)
        };
        assert_eq!(found, ids, "{category}");
        assert_eq!(damaged, [ids[150]], "{category}");
        assert!(get(&buffer, ids[150]).await.unwrap().damaged.is_some());
    }
}

#[tokio::test]
async fn a_row_that_is_no_message_any_more_is_set_aside_counted_and_shown() {
    let place = Place::new();
    let buffer = place.open();
    for category in Category::ALL.iter().copied() {
        for _ in 0..3 {
            put(&buffer, a_message(category, "erp")).await;
        }
    }
    buffer.close().await;
    drop(buffer);
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let changed = conn
        .execute(
            "update sf_messages set id = 'no id ' || seq where seq % 3 = 2",
            [],
        )
        .unwrap();
    assert_eq!(changed, 3);
    drop(conn);
    let buffer = place.open();
    let waiting = buffer.forwardable(0, 100, usize::MAX).await.unwrap();
    assert_eq!(waiting.len(), 2);
    for category in [Category::ExternalSystem, Category::CachedDbWrite] {
        assert_eq!(buffer.claim_due(category, "erp", 10).await.unwrap().len(), 2);
    }
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    assert_eq!(buffer.depth().waiting(), 6);
    let damage = buffer.damage().await.unwrap();
    assert_eq!((damage.len(), damage[0].lost), (1, 3), "{damage:?}");
    let kept: i64 = rusqlite::Connection::open(place.file())
        .unwrap()
        .query_row(
            "select count(*) from unreadable where payload_json like '%erp%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 3, "their bytes stay");
}

#[tokio::test]
async fn what_can_be_read_of_a_damaged_file_comes_back_by_itself_and_the_damage_stays_until_acknowledged() {
    let place = Place::new();
    let buffer = place.open();
    let mut ids = vec![];
    for n in 0..500 {
        let category = Category::ALL[n % 3];
        let message = a_message(category, "erp");
        ids.push(message.id);
        put(&buffer, message).await;
    }
    buffer.close().await;
    drop(buffer);
    let size = std::fs::metadata(place.file()).unwrap().len();
    let mut file = std::fs::File::options().write(true).open(place.file()).unwrap();
    file.seek(SeekFrom::Start(size / 2)).unwrap();
    file.write_all(&[0xA5; 16 * 1024]).unwrap();
    drop(file);
    let mut waiting = 0;
    for start in 0..3 {
        let buffer = place.open();
        assert_eq!(buffer.set_aside().is_some(), start == 0);
        waiting = buffer.depth().waiting();
        assert!(waiting > 300, "only {waiting} of 500 came back");
        let damage = buffer.damage().await.unwrap();
        assert_eq!((damage.len(), damage[0].recovered), (1, waiting), "{damage:?}");
        assert!(std::path::Path::new(damage[0].file.as_deref().unwrap()).exists());
        assert_eq!(buffer.damaged(), 1);
    }
    let buffer = place.open();
    let (mut here, mut known) = (0, 0);
    for id in &ids {
        if let Some(message) = get(&buffer, *id).await {
            here += 1;
            known += u64::from(message.category != Category::Notification);
        }
    }
    assert_eq!(here, waiting, "each under its own id");
    let mut tracked = 0;
    for id in &ids {
        let id = domain::TrackedOperationId(id.0);
        tracked += u64::from(buffer.tracking(id).await.unwrap().is_some());
    }
    assert_eq!(tracked, known, "calls and writes can be followed again");
    let events = buffer.events(None, 10).await.unwrap();
    assert!(events.iter().any(|e| e.what == What::Damaged), "{events:?}");
    assert_eq!(
        buffer
            .acknowledge_damage(None, &Actor::new("anna"))
            .await
            .unwrap(),
        1
    );
    assert_eq!((buffer.damaged(), buffer.damage().await.unwrap()), (0, vec![]));
    drop(buffer);
    assert_eq!(place.open().damaged(), 0);
}

#[tokio::test]
async fn recovering_a_file_takes_in_what_is_not_known_and_nothing_twice() {
    let place = Place::new();
    let buffer = place.open();
    let mut ids = vec![];
    for n in 0..60 {
        let message = a_message(Category::ALL[n % 3], "erp");
        ids.push(message.id);
        put(&buffer, message).await;
    }
    buffer.close().await;
    drop(buffer);
    let aside = place.folder.path().join("sf.db.damaged-by-hand");
    std::fs::rename(place.file(), &aside).unwrap();
    let before = std::fs::read(&aside).unwrap();
    let buffer = place.open();
    assert_eq!(
        buffer.depth().waiting(),
        0,
        "what a person put aside is left to them"
    );
    let somebody = Actor::new("anna");
    let done = buffer.recover(&aside, &somebody).await.unwrap();
    assert_eq!(
        (done.taken, done.known, done.lost, done.trouble),
        (60, 0, 0, None)
    );
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    // Some of them leave, in every way there is.
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    let waiting = buffer.forwardable(0, 5, usize::MAX).await.unwrap();
    let handed = store::buffer::Handed {
        acked: waiting.iter().map(|m| m.seq).collect(),
        refused: vec![],
    };
    assert!(buffer.handed_over(&central, handed).await.unwrap());
    let claimed = buffer
        .claim_due(Category::ExternalSystem, "erp", 5)
        .await
        .unwrap();
    let delivered = claimed.iter().map(|message| store::buffer::Attempted {
        ticket: message.ticket(),
        step: store::buffer::Step::Delivered,
        started_at: buffer.now(),
        took: std::time::Duration::ZERO,
        http_status: None,
    });
    buffer.record(delivered.collect()).await.unwrap();
    let again = buffer.recover(&aside, &somebody).await.unwrap();
    assert_eq!((again.taken, again.known), (0, 60), "{again:?}");
    assert_eq!(buffer.depth().waiting(), 50);
    assert_eq!(std::fs::read(&aside).unwrap(), before, "the file stays as it is");
}

#[tokio::test]
async fn a_log_whose_file_was_cut_to_nothing_is_kept_and_its_messages_come_back() {
    let place = Place::new();
    let buffer = place.open();
    for _ in 0..100 {
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
    let mut next = Place::new();
    next.options.path = next.folder.path().join("sf.db");
    as_killed(&place, &next.file());
    let log = std::fs::read(next.folder.path().join("sf.db-wal")).unwrap();
    std::fs::File::options()
        .write(true)
        .open(next.file())
        .unwrap()
        .set_len(0)
        .unwrap();
    let buffer = next.open();
    let aside = buffer.set_aside().expect("the log is not written over").clone();
    let kept = std::fs::read(format!("{}-wal", aside.display())).unwrap();
    assert_eq!(kept, log);
    let damage = buffer.damage().await.unwrap();
    assert_eq!(
        buffer.depth().waiting(),
        100,
        "all of them were in the log: {damage:?}"
    );
    assert_eq!(buffer.damaged(), 1);
}

#[tokio::test]
async fn a_log_of_another_file_is_set_aside_and_the_file_is_used_as_it_is() {
    let place = Place::new();
    put(&place.open(), a_message(Category::Notification, "ops")).await;
    let backup = place.folder.path().join("backup");
    std::fs::copy(place.file(), &backup).unwrap();
    let buffer = place.open();
    for _ in 0..50 {
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
    // A kill leaves the log; the file itself is then replaced by a copy of earlier.
    let log = place.folder.path().join("sf.db-wal");
    let kept = std::fs::read(&log).unwrap();
    let lock = std::fs::read(place.folder.path().join("sf.db.lock")).unwrap();
    buffer.close().await;
    drop(buffer);
    std::fs::write(place.folder.path().join("sf.db.lock"), lock).unwrap();
    std::fs::remove_file(place.file()).unwrap();
    std::fs::rename(&backup, place.file()).unwrap();
    std::fs::write(&log, &kept).unwrap();
    // The log that was noted is gone with its inode; what counts is that the file is another one and the log is not.
    let noted = noted_with_log(&place, &log);
    std::fs::write(place.folder.path().join("sf.db.lock"), noted).unwrap();
    let buffer = place.open();
    let aside = buffer.set_aside().expect("the log is not its own").clone();
    assert_eq!(std::fs::read(format!("{}-wal", aside.display())).unwrap(), kept);
    assert!(get_any(&buffer).await >= 1);
    put(&buffer, a_message(Category::Notification, "ops")).await;
}

fn noted_with_log(place: &Place, log: &std::path::Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let text = std::fs::read_to_string(place.folder.path().join("sf.db.lock")).unwrap();
    let file = text.split_once(' ').unwrap().0.to_owned();
    let log = std::fs::metadata(log).unwrap();
    // Should the file system have given the number of the old file out again, it is still another one.
    let now = std::fs::metadata(place.file()).unwrap();
    let file = match file == format!("{}:{}", now.dev(), now.ino()) {
        true => format!("{}:{}", now.dev(), now.ino() + 1),
        false => file,
    };
    format!("{file} {}:{}", log.dev(), log.ino())
}

async fn get_any(buffer: &store::Buffer) -> usize {
    buffer.forwardable(0, 500, usize::MAX).await.unwrap().len()
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date_and_can_give_pages_back() {
    let place = Place::new();
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    let first = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/buffer/V1__buffer.sql");
    conn.execute_batch(&std::fs::read_to_string(first).unwrap())
        .unwrap();
    conn.execute(
        "insert into site_events (at, what, category, target) values (1, 'Queued', 1, 'ops')",
        [],
    )
    .unwrap();
    drop(conn);
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    assert_eq!(
        buffer.events(None, 10).await.unwrap().len(),
        2,
        "nothing of before is gone"
    );
    buffer.close().await;
    drop(buffer);
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let mode: i64 = conn
        .query_row("pragma auto_vacuum", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, 2, "incremental");
    conn.execute(
        "insert into site_events (at, what, target) values (1, 'Damaged', 'buffer')",
        [],
    )
    .unwrap();
    let said: String = conn
        .query_row("pragma integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(said, "ok");
}

#[tokio::test]
async fn a_flipped_bit_in_a_targets_name_holds_up_no_other_target() {
    let place = Place::new();
    let buffer = place.open();
    for target in ["erp", "the-bad-target", "mes"] {
        for category in [Category::ExternalSystem, Category::CachedDbWrite] {
            put(&buffer, a_message(category, target)).await;
        }
    }
    buffer.close().await;
    drop(buffer);
    // In the table and in the index by which it is found.
    flip(&place.file(), "the-bad-target", &not_text("the-bad-target"));
    let buffer = place.open();
    let targets = buffer.targets_due().await.unwrap();
    let mut names: Vec<_> = targets.iter().map(|t| t.target.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["erp", "erp", "mes", "mes"]);
    assert_eq!(buffer.damage().await.unwrap()[0].lost, 2);
    assert_eq!(buffer.depth().waiting(), 4);
    assert!(
        buffer.events(None, 100).await.unwrap().len() > 4,
        "the log can be read"
    );
}

#[tokio::test]
async fn a_flipped_bit_in_news_for_central_costs_that_piece_and_is_shown() {
    let place = Place::new();
    let buffer = place.open();
    for n in 0..5 {
        put(
            &buffer,
            a_message(Category::ExternalSystem, &format!("erp-{n:04}")),
        )
        .await;
    }
    buffer.close().await;
    drop(buffer);
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let broken = "update telemetry set body_json = replace(body_json, '{', '[') where seq = 3";
    assert_eq!(conn.execute(broken, []).unwrap(), 1);
    drop(conn);
    let buffer = place.open();
    let news = buffer.telemetry(100).await.unwrap();
    assert_eq!(news.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [1, 2, 4, 5]);
    let damage = buffer.damage().await.unwrap();
    assert_eq!(
        (damage.len(), damage[0].lost, buffer.damaged()),
        (1, 1, 1),
        "{damage:?}"
    );
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let kept: String = conn
        .query_row("select payload_json from unreadable", [], |row| row.get(0))
        .unwrap();
    assert!(kept.contains("erp-0002"), "its bytes stay: {kept}");
    assert_eq!(buffer.telemetry(100).await.unwrap().len(), 4);
    assert_eq!(buffer.damaged(), 1, "once");
}
