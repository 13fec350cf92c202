//! What was said in attempts is kept with them, for a while.

use crate::harness::*;
use domain::{
    NotificationId, Transcript,
    transcript::{Part, Side},
};
use std::sync::Arc;
use store::{maintenance::Retention, outbox::AttemptRecord, outbox::Recorded};

fn said(text: &str) -> Transcript {
    let part = |side, text: &str| Part {
        side,
        text: text.into(),
    };
    Transcript {
        parts: vec![
            part(Side::Sent, "MAIL FROM:<a@example.com>\nDATA"),
            part(Side::Received, text),
        ],
        cut: text.len() > 10,
        message_id: Some("n@example.com".into()),
    }
}

fn saying(mut record: AttemptRecord, text: &str) -> AttemptRecord {
    record.attempt.as_mut().unwrap().transcript = Some(Arc::new(said(text)));
    record
}

async fn read(t: &TestStore, id: NotificationId, number: u32) -> Option<Transcript> {
    t.store.transcript(TENANT, id, number).await.unwrap()
}

/// The numbers of the attempts, and which of them can be opened.
async fn numbers(t: &TestStore, id: NotificationId) -> Vec<(u32, bool)> {
    let rows = t.store.attempts(TENANT, id).await.unwrap().unwrap();
    rows.iter()
        .filter_map(|row| Some((row.attempt?, row.has_transcript)))
        .collect()
}

pub async fn what_was_said_is_read_back_by_the_number_of_the_attempt(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (id, other) = (t.send(lane).await, t.send(lane).await);
    let claimed = t.claim(lane, 2).await;
    let (first, beside) = (claimed[0].clone(), claimed[1].clone());
    let both = vec![
        saying(retry(&first, SECOND), "451 \"later\" ö"),
        delivered(&beside),
    ];
    let answers = t.store.record(both.into()).await.unwrap();
    assert_eq!(answers, [Recorded::Done, Recorded::Done]);
    t.clock.advance(SECOND);
    t.record(retry(&t.claim_one(lane).await, SECOND)).await;
    t.clock.advance(SECOND);
    t.record(saying(delivered(&t.claim_one(lane).await), "250 ok"))
        .await;
    assert_eq!(numbers(t, id).await, [(1, true), (2, false), (3, true)]);
    assert_eq!(read(t, id, 1).await, Some(said("451 \"later\" ö")));
    assert_eq!(read(t, id, 2).await, None);
    assert_eq!(read(t, id, 3).await, Some(said("250 ok")));
    for none in [0, 4, u32::MAX] {
        assert_eq!(read(t, id, none).await, None);
    }
    assert_eq!(numbers(t, other).await, [(1, false)]);
    assert_eq!(read(t, other, 1).await, None);
    assert_eq!(read(t, NotificationId::mint(), 1).await, None);
}

pub async fn an_attempt_that_was_cut_off_has_a_number_and_no_transcript(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.claim_one(lane).await;
    t.clock.advance(HOUR);
    t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
    assert_eq!(numbers(t, id).await, [(1, false), (2, true)]);
    assert_eq!(read(t, id, 1).await, None);
    assert_eq!(read(t, id, 2).await, Some(said("550 no")));
}

pub async fn numbers_go_on_over_a_requeue(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
    t.clock.advance(SECOND);
    t.store.requeue(TENANT, &[(id, lane)], &admin()).await.unwrap();
    t.clock.advance(SECOND);
    t.record(saying(delivered(&t.claim_one(lane).await), "250 yes"))
        .await;
    assert_eq!(numbers(t, id).await, [(1, true), (2, true)]);
    assert_eq!(read(t, id, 1).await, Some(said("550 no")));
    assert_eq!(read(t, id, 2).await, Some(said("250 yes")));
}

pub async fn what_was_said_in_a_late_attempt_is_kept_too_and_only_once(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let lost = t.claim_one(lane).await;
    t.clock.advance(HOUR);
    t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
    t.clock.advance(SECOND);
    let late = saying(delivered(&lost), "250 late");
    assert_eq!(
        t.record(late.clone()).await,
        Recorded::LostLease { completed: true }
    );
    assert_eq!(t.record(late).await, Recorded::AlreadyRecorded);
    assert_eq!(numbers(t, id).await, [(1, false), (2, true), (3, true)]);
    assert_eq!(read(t, id, 3).await, Some(said("250 late")));
}

pub async fn another_tenant_reads_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
    let other = t.tenant("other").await;
    assert_eq!(t.store.transcript(other, id, 1).await.unwrap(), None);
}

const KEEP: Retention = Retention {
    terminal: DAY.saturating_mul(365),
    audit: DAY.saturating_mul(365),
    spent_keys: None,
    stats: DAY.saturating_mul(31),
    events: DAY,
    transcripts: DAY,
};

pub async fn transcripts_go_after_their_own_time_in_chunks(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut ids = vec![];
    for _ in 0..3 {
        ids.push(t.send(lane).await);
        t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
        t.clock.advance(SECOND);
    }
    t.clock.advance(DAY - 2 * SECOND);
    assert_eq!(t.store.purgeable(&KEEP, 10).await.unwrap().transcripts, 1);
    assert_eq!(t.store.purge_chunk(&KEEP, 10).await.unwrap().transcripts, 1);
    assert_eq!(numbers(t, ids[0]).await, [(1, false)], "the attempt stays");
    assert_eq!(read(t, ids[0], 1).await, None);
    assert_eq!(read(t, ids[1], 1).await, Some(said("550 no")));
    let none = Retention {
        transcripts: std::time::Duration::ZERO,
        ..KEEP
    };
    for expected in [1, 1, 0] {
        let purged = t.store.purge_chunk(&none, 1).await.unwrap();
        assert_eq!((purged.transcripts, purged.notifications), (expected, 0));
    }
}

pub async fn transcripts_go_with_their_notification(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.record(saying(park(&t.claim_one(lane).await), "550 no")).await;
    t.clock.advance(2 * DAY);
    let keep = Retention {
        terminal: DAY,
        transcripts: 30 * DAY,
        ..KEEP
    };
    assert_eq!(t.store.purge_chunk(&keep, 10).await.unwrap().notifications, 1);
    assert_eq!(read(t, id, 1).await, None);
    let later = Retention {
        transcripts: std::time::Duration::ZERO,
        ..KEEP
    };
    assert_eq!(
        t.store.purgeable(&later, 10).await.unwrap().transcripts,
        0,
        "nothing is left behind"
    );
}
