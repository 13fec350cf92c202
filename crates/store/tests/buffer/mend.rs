//! Bits that SQLite's quick check makes nothing of: in what a row is found by, and in the index it is found with.

use crate::{
    harness::*,
    replication::{an_active, an_attached, follow_to_the_end},
};
use domain::{
    pair::{Meeting, Plan},
    site::Category,
};
use std::path::Path;
use store::{
    Buffer,
    buffer::{MessageId, What},
};

/// Where the file tells of what category a message is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Where {
    Table,
    DueIndex,
    CategoryIndex,
}

/// Makes category 2 of the message at place 5 a 3 there: one bit, in the file itself.
fn flip_category(file: &Path, id: MessageId, target: &str, place: Where) {
    let id = id.to_string();
    let named = [id.as_bytes(), &[2], target.as_bytes()].concat();
    let (pattern, at) = match place {
        // With the payload behind it: the event log names it as well.
        Where::Table => ([named.as_slice(), b"{"].concat(), id.len()),
        Where::DueIndex => ([&[2], target.as_bytes()].concat(), 0),
        // The length, that of the header, two numbers of a byte each: the category and the place.
        Where::CategoryIndex => (vec![5, 3, 1, 1, 2, 5], 4),
    };
    let mut bytes = std::fs::read(file).unwrap();
    let is_named = |n: usize| n >= id.len() && bytes[n - id.len()..].starts_with(&named);
    let places: Vec<_> = (0..bytes.len() - pattern.len())
        .filter(|n| bytes[*n..].starts_with(&pattern))
        .filter(|n| place != Where::DueIndex || !is_named(*n))
        .collect();
    assert_eq!(places.len(), 1, "{place:?}");
    bytes[places[0] + at] = 3;
    std::fs::write(file, bytes).unwrap();
}

/// Nine messages, three of each category; the write at place 5 has a target of its own.
async fn nine(place: &Place) -> MessageId {
    let buffer = place.open();
    let mut odd = None;
    for n in 1..=9 {
        let (category, target) = match n % 3 {
            0 => (Category::ExternalSystem, "erp"),
            1 => (Category::Notification, "ops"),
            _ if n == 5 => (Category::CachedDbWrite, "the-odd-one"),
            _ => (Category::CachedDbWrite, "history"),
        };
        let message = a_message(category, target);
        odd = odd.or((n == 5).then_some(message.id));
        assert_eq!(put(&buffer, message).await.seq, n);
    }
    buffer.close().await;
    odd.unwrap()
}

async fn tried(buffer: &Buffer) -> usize {
    let mut tried = 0;
    for due in buffer.targets_due().await.unwrap() {
        let claimed = buffer.claim_due(due.category, &due.target, 10).await.unwrap();
        tried += claimed.len();
    }
    tried
}

#[tokio::test]
async fn a_flipped_bit_in_a_category_costs_that_message_at_most_wherever_it_is() {
    use Where::{CategoryIndex, DueIndex, Table};
    let cases: [(&[Where], usize); 5] = [
        (&[Table], 5),
        (&[DueIndex], 6),
        (&[CategoryIndex], 6),
        (&[CategoryIndex, DueIndex], 6),
        (&[Table, DueIndex, CategoryIndex], 5),
    ];
    for (flipped, left) in cases {
        let place = Place::new();
        let id = nine(&place).await;
        for one in flipped {
            flip_category(&place.file(), id, "the-odd-one", *one);
        }
        let buffer = place.open();
        assert_eq!(buffer.set_aside(), None, "SQLite finds nothing wrong");
        assert_eq!(tried(&buffer).await, left, "{flipped:?}");
        let forwarded = buffer.forwardable(0, 10, usize::MAX).await.unwrap();
        assert_eq!(forwarded.len(), 3, "{flipped:?}");
        assert_eq!(buffer.depth(), buffer.recount().await.unwrap(), "{flipped:?}");
        assert_eq!(buffer.depth().waiting() as usize, left + 3, "{flipped:?}");
        let lost: u64 = buffer.damage().await.unwrap().iter().map(|d| d.lost).sum();
        assert_eq!(lost as usize, 6 - left, "{flipped:?}");
    }
}

#[tokio::test]
async fn a_category_that_changes_while_the_agent_runs_stops_no_sweep() {
    let place = Place::new();
    nine(&place).await;
    let buffer = place.open();
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    conn.execute("update sf_messages set category = 3 where seq = 5", [])
        .unwrap();
    drop(conn);
    assert_eq!(tried(&buffer).await, 5);
    assert_eq!(buffer.damage().await.unwrap()[0].lost, 1);
    assert_eq!(buffer.depth().waiting(), 8);
}

/// The index leads to a row whose target is spelled otherwise in the table: a write that takes it out of the index does
/// not find it there.
#[tokio::test]
async fn an_index_that_differs_from_its_table_costs_a_start_and_no_message() {
    let place = Place::new();
    let id = nine(&place).await.to_string();
    let row = [id.as_bytes(), &[2], b"the-odd-one{"].concat();
    let changed = [id.as_bytes(), &[2], b"the-odd-ooe{"].concat();
    let mut bytes = std::fs::read(place.file()).unwrap();
    let at = bytes.windows(row.len()).position(|found| found == row).unwrap();
    bytes[at..at + row.len()].copy_from_slice(&changed);
    std::fs::write(place.file(), bytes).unwrap();
    let buffer = place.open();
    let claimed = buffer.claim_due(Category::CachedDbWrite, "the-odd-one", 1).await;
    claimed.unwrap_err();
    assert!(*buffer.poisoned().borrow(), "the process ends");
    buffer.close().await;
    drop(buffer);
    let buffer = place.open();
    assert_eq!(buffer.set_aside(), None);
    assert_eq!(
        tried(&buffer).await,
        6,
        "and the next one goes on with all of them"
    );
    let damage = buffer.damage().await.unwrap();
    assert_eq!((damage.len(), damage[0].lost), (1, 0), "{damage:?}");
    let events = buffer.events(None, 100).await.unwrap();
    assert!(events.iter().any(|e| e.what == What::Damaged));
}

#[tokio::test]
async fn a_line_of_the_event_log_that_cannot_be_read_ends_no_page_before_its_time() {
    let place = Place::new();
    nine(&place).await;
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let changed = conn.execute("update site_events set what = 'Quexed' where seq in (9, 4)", []);
    assert_eq!(changed.unwrap(), 2);
    drop(conn);
    let buffer = place.open();
    let (mut seen, mut before) = (vec![], None);
    loop {
        let page = buffer.events_page(before, 3).await.unwrap();
        seen.extend(page.events.iter().map(|event| event.seq));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, [8, 7, 6, 5, 3, 2, 1]);
}

#[tokio::test]
async fn a_standby_that_set_a_row_aside_makes_a_whole_copy_before_it_counts_as_one() {
    let (_place, active) = an_active().await;
    put(&active, a_message(Category::ExternalSystem, "erp")).await;
    let (place, standby) = an_attached(&active).await;
    follow_to_the_end(&active, &standby).await;
    assert!(standby.standing().unwrap().caught_up);
    standby.close().await;
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    conn.execute("update sf_messages set category = 7", []).unwrap();
    drop(conn);
    let standby = place.open();
    assert_eq!(standby.depth().waiting(), 0);
    assert!(!standby.standing().unwrap().caught_up, "it gives no lease");
    let plan = standby.node().await.unwrap().meets(&active.node().await.unwrap());
    assert_eq!(plan, Meeting::Follow(Plan::Copy));
}
