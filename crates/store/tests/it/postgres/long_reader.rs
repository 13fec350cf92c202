//! Somebody keeps a transaction open, so that rows that are gone cannot be cleaned away.

use super::Schema;
use crate::harness::{LEASE, TestStore, delivered, retry};
use domain::{LaneId, LeaseToken, ManualClock, NotificationId};
use std::{sync::Arc, time::Duration};
use store::{
    Outbox,
    outbox::{Chores, Claimed, LaneWant, Recorded},
    postgres::PgStore,
};
use tokio_postgres::Client;

const REPORT: &str = "begin isolation level repeatable read read only; select count(*) from notifications";
const DUMP: &str = "begin isolation level repeatable read read only; select count(*) from due";

struct World {
    t: TestStore,
    other: PgStore,
    admin: Client,
    /// In the middle of its transaction.
    reader: Client,
    lane: LaneId,
}

impl World {
    async fn with_a_reader_that(reads: &str) -> Self {
        let schema = Schema::fresh();
        let clock = Arc::new(ManualClock::default());
        let t = TestStore::new(Arc::new(schema.open(&clock, "one").await), clock.clone(), ());
        let lane = t.lane("mail").await;
        let reader = schema.admin().await;
        reader.batch_execute(reads).await.unwrap();
        Self {
            t,
            other: schema.open(&clock, "other").await,
            admin: schema.admin().await,
            reader,
            lane,
        }
    }

    /// So many rows of about so many bytes.
    async fn rows_came_and_went(&self, rows: i64, width: i32) {
        let come = "insert into due (seq, tenant, lane, waiting_since, due_at, error)
            select 1000000 + i, 1, $1, 'epoch', 'epoch', repeat('x', $2)
            from generate_series(1, $3::bigint) i";
        self.admin
            .execute(come, &[&self.lane.0, &width, &rows])
            .await
            .unwrap();
        let gone = self
            .admin
            .execute("delete from due where seq > 1000000", &[])
            .await
            .unwrap();
        assert_eq!(gone, rows.unsigned_abs());
        // The server counts them a moment later.
        self.until("pg_stat_get_dead_tuples('due'::regclass)", |counted| {
            counted >= rows
        })
        .await;
    }

    async fn number(&self, what: &str) -> i64 {
        let answer = self.admin.query_one(&format!("select {what}"), &[]).await;
        answer.unwrap().get(0)
    }

    async fn until(&self, what: &str, so: impl Fn(i64) -> bool) {
        testkit::until(what, async || so(self.number(what).await)).await;
    }

    async fn look(&self) -> Chores {
        self.t.store.lanes_waiting().await.unwrap().chores
    }

    /// As the loop does that the look wakes.
    async fn compacted(&self) {
        assert!(self.look().await.compact, "it is worth it");
        // Somebody may have the lock.
        testkit::until("the queue to be compacted", async || {
            self.t.store.compact_queue().await.is_ok()
        })
        .await;
        let size = self.number("pg_relation_size('due')").await;
        assert!(size < 1 << 20, "{size}");
        assert!(!self.look().await.compact, "not again");
    }

    async fn claimed(&self, n: u32) -> Vec<NotificationId> {
        ids(&self.t.claim(self.lane, n).await)
    }

    async fn claimed_by_the_other(&self, n: u32) -> Vec<Claimed> {
        let want = LaneWant { lane: self.lane, n };
        let claims = self.other.claim_due(&[want], LeaseToken::mint(), LEASE).await;
        claims.unwrap().rows
    }

    async fn a_second_passes(&self) {
        self.t.clock.advance(Duration::from_secs(1));
    }

    async fn queue(&self) -> Vec<String> {
        let rows = self
            .admin
            .query("select d::text from due d order by seq", &[])
            .await;
        rows.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

fn ids(claimed: &[Claimed]) -> Vec<NotificationId> {
    claimed.iter().map(|row| row.id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn among_many_rows_that_are_gone_everything_is_claimed_once_whatever_comes_back() {
    let world = World::with_a_reader_that(REPORT).await;
    world.rows_came_and_went(60_000, 1).await;
    world.look().await;
    let sent = world.t.send_many(world.lane, 6).await;
    world.a_second_passes().await;
    assert_eq!(world.claimed(1).await, sent[..1]);
    world.a_second_passes().await;

    // What this node gives back is found at once.
    let given_back = world.t.claim(world.lane, 1).await;
    assert_eq!(ids(&given_back), sent[1..2]);
    world.t.store.release(&[given_back[0].lease]).await.unwrap();
    assert_eq!(world.claimed(2).await, sent[1..3]);

    // What the other one gives back is found when all lanes are looked at, as is what it let lapse.
    let others = world.claimed_by_the_other(2).await;
    assert_eq!(ids(&others), sent[3..5]);
    assert_eq!(world.claimed(1).await, sent[5..]);
    world.other.release(&[others[0].lease]).await.unwrap();
    world.look().await;
    assert_eq!(world.claimed(5).await, sent[3..4]);
    world.t.clock.advance(2 * LEASE);
    world.look().await;
    assert_eq!(world.claimed(10).await, sent);

    // And the new ones go on being found.
    let more = world.t.send_many(world.lane, 2).await;
    assert_eq!(world.claimed(5).await, more);
    world.t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_does_not_walk_over_the_rows_that_are_gone() {
    let world = World::with_a_reader_that(REPORT).await;
    world.rows_came_and_went(60_000, 1).await;
    world.look().await;
    // Due before everything that a look has found: a claim that begins at the start would have it.
    let early = world.t.send(world.lane).await;
    world
        .admin
        .execute("update due set due_at = 'epoch'", &[])
        .await
        .unwrap();
    world.a_second_passes().await;
    assert_eq!(world.claimed(5).await, []);
    world.look().await;
    assert_eq!(world.claimed(5).await, [early], "but it is not lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_is_compacted_beside_a_reader_and_nothing_that_waits_changes() {
    let world = World::with_a_reader_that(REPORT).await;
    world.t.send_many(world.lane, 50).await;
    let claimed = world.t.claim(world.lane, 20).await;
    let (again, kept) = claimed.split_at(5);
    for row in again {
        let recorded = world.t.record(retry(row, LEASE / 2)).await;
        assert_eq!(recorded, Recorded::Done);
    }
    world.rows_came_and_went(80_000, 900).await;
    let before = world.queue().await;
    assert!(world.number("pg_relation_size('due')").await > 128 << 20);

    world.compacted().await;
    assert_eq!(world.queue().await, before);
    for row in kept {
        assert_eq!(world.t.record(delivered(row)).await, Recorded::Done);
    }
    assert_eq!(world.claimed(100).await.len(), 30);
    world.t.clock.advance(LEASE / 2);
    assert_eq!(world.claimed(100).await, ids(again));
    world
        .reader
        .batch_execute("select count(*) from notifications; commit")
        .await
        .unwrap();
    world.t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_comes_in_while_the_queue_is_compacted_is_lost() {
    let world = World::with_a_reader_that(REPORT).await;
    world.rows_came_and_went(80_000, 900).await;
    let compacted = world.compacted();
    let sent = async {
        let mut sent = 0;
        // Until well after it was.
        for _ in 0..400 {
            sent += world.t.send_many(world.lane, 5).await.len();
        }
        sent
    };
    let ((), sent) = tokio::join!(compacted, sent);
    world.look().await;
    assert_eq!(world.claimed(10_000).await.len(), sent);
    world.t.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_is_never_compacted_by_somebody_who_does_not_see_what_others_commit() {
    let world = World::with_a_reader_that(REPORT).await;
    let compact = format!("begin isolation level repeatable read; {}", compact());
    let refused = world.admin.batch_execute(&compact).await.unwrap_err();
    assert_eq!(
        refused.code(),
        Some(&tokio_postgres::error::SqlState::RAISE_EXCEPTION)
    );
}

/// The statement.
fn compact() -> String {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/postgres/outbox/sql/compact_due.sql"
    );
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_somebody_has_read_is_not_compacted_under_their_eyes() {
    let world = World::with_a_reader_that(DUMP).await;
    let refused = world.admin.batch_execute(&compact()).await.unwrap_err();
    assert_eq!(
        refused.code(),
        Some(&tokio_postgres::error::SqlState::LOCK_NOT_AVAILABLE)
    );
    let sent = world.t.send(world.lane).await;
    assert_eq!(world.claimed(1).await, [sent]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_says_that_the_queue_is_worth_compacting_and_leaves_it_as_it_is() {
    let world = World::with_a_reader_that(REPORT).await;
    assert!(!world.look().await.compact, "a small one is not");
    world.rows_came_and_went(80_000, 900).await;
    let before = world.number("pg_relation_filenode('due')::bigint").await;
    assert!(world.look().await.compact);
    assert!(world.look().await.compact);
    assert_eq!(world.number("pg_relation_filenode('due')::bigint").await, before);
    world.compacted().await;
    assert_ne!(world.number("pg_relation_filenode('due')::bigint").await, before);
}
