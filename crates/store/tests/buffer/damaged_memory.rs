//! Bits that turn over in what is remembered of acknowledged notifications: only the row itself is affected.

use crate::harness::*;
use domain::site::Category;
use std::time::Duration;
use store::{
    Buffer,
    buffer::{End, Handed, MessageId, NewMessage, Origin, What},
};

const ROWS: usize = 10;

/// Large enough that forgetting writes the row anew.
fn marked(n: usize) -> NewMessage {
    NewMessage {
        payload: format!("{{\"body\":\"{}\"}}", "x".repeat(3_000)),
        origin: Origin {
            instance: Some(format!("instance-{n:04}")),
            ..Origin::default()
        },
        ..a_message(Category::Notification, &format!("target-{n:04}"))
    }
}

async fn hand_over(buffer: &Buffer) {
    let central = identity("a");
    buffer.met_central(&central).await.unwrap();
    let waiting = buffer.forwardable(0, 500, usize::MAX).await.unwrap();
    let handed = Handed {
        acked: waiting.iter().map(|m| m.seq).collect(),
        refused: vec![],
    };
    assert!(buffer.handed_over(&central, handed).await.unwrap());
}

/// Ten notifications that central has.
async fn remembered(place: &Place) -> Vec<MessageId> {
    let buffer = place.open();
    let mut ids = vec![];
    for n in 0..ROWS {
        let message = marked(n);
        ids.push(message.id);
        put(&buffer, message).await;
    }
    hand_over(&buffer).await;
    buffer.close().await;
    ids
}

fn no_text(mark: &str) -> Vec<u8> {
    let mut bytes = mark.as_bytes().to_vec();
    bytes[0] |= 0x80;
    bytes
}

/// Changes one row to what its table would not take.
fn break_a_rule(place: &Place, column: &str, value: &str) {
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    conn.pragma_update(None, "ignore_check_constraints", "on")
        .unwrap();
    let change = format!("update tombstones set {column} = {value} where seq = 5");
    assert_eq!(conn.execute(&change, []).unwrap(), 1);
}

#[tokio::test]
async fn a_flipped_bit_in_what_is_remembered_stops_no_forgetting() {
    for in_text in [true, false] {
        let place = Place::new();
        remembered(&place).await;
        match in_text {
            true => flip(&place.file(), "instance-0004", &no_text("instance-0004")),
            false => break_a_rule(&place, "ended_as", "'Deliwered'"),
        }
        let buffer = place.open();
        place.clock.advance(Duration::from_secs(3_600));
        assert_eq!(buffer.forget_acked(buffer.now()).await.unwrap(), ROWS as u64);
        assert_eq!(buffer.depth().remembered_bytes, 0);
        assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
        let ends: i64 = rusqlite::Connection::open(place.file())
            .unwrap()
            .query_row("select count(*) from tombstones", [], |row| row.get(0))
            .unwrap();
        assert_eq!(ends, ROWS as i64, "that they were handed over is known of all");
    }
}

#[tokio::test]
async fn a_flipped_bit_in_what_is_remembered_does_not_keep_it_from_giving_way() {
    let mut place = Place::new();
    remembered(&place).await;
    flip(&place.file(), "instance-0004", &no_text("instance-0004"));
    place.options.max_bytes = 20_000;
    let buffer = place.open();
    for n in 0..5 {
        put(&buffer, marked(ROWS + n)).await;
    }
    assert!(buffer.depth().bytes <= 20_000, "{:?}", buffer.depth());
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn what_is_remembered_and_is_no_message_any_more_is_set_aside_and_the_others_wait_again() {
    let place = Place::new();
    remembered(&place).await;
    break_a_rule(&place, "retry_interval_ms", "-30000");
    let buffer = place.open();
    let others = ROWS as u64 - 1;
    assert_eq!(buffer.met_central(&identity("b")).await.unwrap(), others);
    assert_eq!(
        buffer.forwardable(0, 500, usize::MAX).await.unwrap().len() as u64,
        others
    );
    assert_eq!(buffer.depth().waiting(), others);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    let damage = buffer.damage().await.unwrap();
    assert_eq!((damage.len(), damage[0].lost), (1, 1), "{damage:?}");
    let kept: String = rusqlite::Connection::open(place.file())
        .unwrap()
        .query_row("select payload_json from unreadable where seq = 5", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(kept, marked(0).payload, "its bytes stay");
    assert_eq!(buffer.met_central(&identity("c")).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_remembered_and_is_no_text_waits_again_with_its_bytes() {
    let place = Place::new();
    let ids = remembered(&place).await;
    flip(&place.file(), "instance-0004", &no_text("instance-0004"));
    let buffer = place.open();
    assert_eq!(buffer.met_central(&identity("b")).await.unwrap(), ROWS as u64);
    let waiting = buffer.forwardable(0, 500, usize::MAX).await.unwrap();
    let damaged: Vec<_> = waiting
        .iter()
        .filter(|m| m.damaged.is_some())
        .map(|m| m.id)
        .collect();
    assert_eq!(damaged, [ids[4]]);
    assert_eq!(waiting.iter().map(|m| m.id).collect::<Vec<_>>(), ids);
}

#[tokio::test]
async fn a_damaged_target_hides_nothing_of_what_happened_to_a_notification() {
    let place = Place::new();
    let ids = remembered(&place).await;
    flip(&place.file(), "target-0004", &no_text("target-0004"));
    let buffer = place.open();
    let events = buffer.events_of(ids[4], 10).await.unwrap();
    assert!(events.iter().any(|e| e.what == What::Delivered), "{events:?}");
    let left = buffer.tombstone(ids[4]).await.unwrap().unwrap();
    assert_eq!((left.id, left.end), (ids[4], End::Delivered));
}
