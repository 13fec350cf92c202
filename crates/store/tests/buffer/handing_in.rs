//! What a machine that was active as well hands in, and rows of a machine whose schema is older.

use crate::{
    harness::{Place, a_message, put},
    replication::{an_active, an_attached, follow_to_the_end},
};
use domain::{
    Actor, TrackedOperationId,
    pair::{Row, RowValue, Table, Value},
    site::{Category, DatabaseIdentity, OperationStatus},
};
use std::time::Duration;
use store::{
    Buffer,
    buffer::{
        Attempted, Count, Enqueued, Handed, MessageId, Start, Step,
        replication::{as_waiting, has_ended, is_unheard},
    },
};
use uuid::Uuid;

const ALL: usize = usize::MAX;

/// One attempt on what is due ends so.
async fn attempt(buffer: &Buffer, step: Step) {
    let due = buffer
        .claim_due(Category::ExternalSystem, "erp", 1)
        .await
        .unwrap();
    let attempted = Attempted {
        ticket: due[0].ticket(),
        step,
        started_at: buffer.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    buffer.record(vec![attempted]).await.unwrap();
}

/// Rows of this table that changed after this place.
async fn changed(buffer: &Buffer, after: i64, table: Table) -> Vec<Row> {
    let changes = buffer.changes(after, ALL).await.unwrap().unwrap();
    let of_table = changes.rows.into_iter().filter(|(of, _)| *of == table);
    of_table.map(|(_, row)| row).collect()
}

async fn ended(buffer: &Buffer, after: i64) -> Vec<Row> {
    let mut rows = changed(buffer, after, Table::Tracking).await;
    rows.retain(has_ended);
    rows
}

async fn status(buffer: &Buffer, id: MessageId) -> OperationStatus {
    let tracked = buffer.tracking(TrackedOperationId(id.0)).await.unwrap();
    tracked.unwrap().status
}

#[tokio::test]
async fn a_parked_call_that_a_person_had_made_at_the_other_machine_is_parked_no_more() {
    let (_place, active) = an_active().await;
    let (_copy, standby) = an_attached(&active).await;
    let call = a_message(Category::ExternalSystem, "erp");
    let id = call.id;
    put(&active, call).await;
    let park = Step::Park {
        error: "HTTP_400: no".into(),
        count: Count::Try,
        exhausted: false,
    };
    attempt(&active, park).await;
    follow_to_the_end(&active, &standby).await;
    let fork = standby.standing().unwrap().position;
    standby.promote(0, false).await.unwrap();
    active.requeue(id, &Actor::new("user:a")).await.unwrap();
    attempt(&active, Step::Delivered).await;
    let taken = standby.take_ended(ended(&active, fork).await).await.unwrap();
    assert_eq!((taken, standby.depth().all_parked()), (1, 0));
    assert_eq!(status(&standby, id).await, OperationStatus::Delivered);
    assert_eq!(standby.depth(), standby.recount().await.unwrap());
}

#[tokio::test]
async fn a_call_that_only_the_other_machine_had_and_made_is_known_and_not_made_again() {
    let (_place, old) = an_active().await;
    let (_other, new) = an_attached(&old).await;
    follow_to_the_end(&old, &new).await;
    let fork = new.standing().unwrap().position;
    new.promote(0, false).await.unwrap();
    let call = a_message(Category::ExternalSystem, "erp");
    put(&old, call.clone()).await;
    attempt(&old, Step::Delivered).await;
    let rows = ended(&old, fork).await;
    assert_eq!(new.take_ended(rows.clone()).await.unwrap(), 1);
    assert_eq!(new.take_ended(rows).await.unwrap(), 0, "once is enough");
    assert_eq!(status(&new, call.id).await, OperationStatus::Delivered);
    let again = new.enqueue(call, Start::Queued).await.unwrap();
    assert!(!matches!(again, Enqueued::New(_)), "{again:?}");
    assert_eq!(new.depth().waiting(), 0);
}

#[tokio::test]
async fn news_that_central_has_not_heard_is_told_by_the_machine_it_is_handed_in_to() {
    let (_place, old) = an_active().await;
    let (_other, new) = an_attached(&old).await;
    follow_to_the_end(&old, &new).await;
    let fork = new.standing().unwrap().position;
    new.promote(0, false).await.unwrap();
    let before = new.telemetry_waiting().await.unwrap();
    put(&old, a_message(Category::ExternalSystem, "erp")).await;
    attempt(&old, Step::Delivered).await;
    let mut news = changed(&old, fork, Table::Telemetry).await;
    assert!(!news.is_empty() && news.iter().all(is_unheard));
    let told = news.len() as u64;
    let heard = [RowValue::Integer(1), RowValue::Text(b"{}"), RowValue::Integer(5)];
    let unreadable = [RowValue::Integer(2), RowValue::Text(b"?"), RowValue::Null];
    news.extend([
        heard.into_iter().collect(),
        unreadable.into_iter().collect(),
        Row::default(),
    ]);
    assert_eq!(new.take_news(news).await.unwrap(), told);
    assert_eq!(new.telemetry_waiting().await.unwrap(), before + told);
    assert_eq!(new.telemetry(100).await.unwrap().len() as u64, before + told);
}

#[tokio::test]
async fn what_central_acknowledged_to_one_machine_alone_is_forwarded_once_more_by_the_other() {
    let (_place, old) = an_active().await;
    let (_other, new) = an_attached(&old).await;
    follow_to_the_end(&old, &new).await;
    let first = old.last_message().await.unwrap();
    new.promote(0, false).await.unwrap();
    let central = DatabaseIdentity {
        id: Uuid::nil(),
        epoch: "1".into(),
    };
    let sent = a_message(Category::Notification, "ops");
    let Enqueued::New(ticket) = old.enqueue(sent.clone(), Start::Queued).await.unwrap() else {
        panic!("it is new");
    };
    old.met_central(&central).await.unwrap();
    let handed = Handed {
        acked: vec![ticket.seq],
        refused: vec![],
    };
    assert!(old.handed_over(&central, handed).await.unwrap());
    let after = Some(Value::Integer(first));
    let part = old.copy_part(Table::Tombstones, after, ALL).await.unwrap();
    let rows: Vec<Row> = part.rows.iter().filter_map(as_waiting).collect();
    let taken = new.take_handed_in(rows.clone()).await.unwrap();
    assert_eq!((taken.taken, taken.known, taken.lost), (1, 0, 0));
    assert_eq!(new.take_handed_in(rows).await.unwrap().known, 1, "once is enough");
    let waits = new.message(sent.id).await.unwrap().unwrap();
    assert_eq!((waits.payload, waits.target), (sent.payload, sent.target));
    assert_eq!(new.depth(), new.recount().await.unwrap());
    let mut emptied: Vec<_> = part.rows[0].values().collect();
    emptied[7] = RowValue::Null;
    let emptied = emptied.into_iter().collect();
    assert_eq!(as_waiting(&emptied), None, "it is known by its id alone");
}

#[tokio::test]
async fn a_newer_machine_takes_the_rows_of_an_older_one_whose_last_columns_are_missing() {
    let (_place, active) = an_active().await;
    let place = Place::new();
    let copy = place.open();
    copy.join_pair().await.unwrap();
    let call = a_message(Category::ExternalSystem, "erp");
    put(&active, call.clone()).await;
    attempt(&active, Step::Delivered).await;
    let node = active.node().await.unwrap();
    copy.copy_begins(node.position, node.history, false, None)
        .await
        .unwrap();
    let part = active.copy_part(Table::Tracking, None, ALL).await.unwrap();
    let without_the_last = |row: &Row| {
        let mut values: Vec<_> = row.values().collect();
        assert_eq!(values.pop(), Some(RowValue::Null), "who acted last");
        values.into_iter().collect()
    };
    let older: Vec<Row> = part.rows.iter().map(without_the_last).collect();
    copy.put_part(Table::Tracking, older.clone()).await.unwrap();
    assert_eq!(status(&copy, call.id).await, OperationStatus::Delivered);
    let whole = active.copy_part(Table::Tracking, None, ALL).await.unwrap();
    assert_eq!(copy.copy_part(Table::Tracking, None, ALL).await.unwrap(), whole);
    let one_more = |row: &Row| row.values().chain([RowValue::Null]).collect();
    let newer = copy.put_part(Table::Tracking, part.rows.iter().map(one_more).collect());
    let newer = newer.await;
    assert!(newer.is_err(), "never the other way round");
}

#[tokio::test]
async fn a_stale_machine_that_a_person_has_go_on_begins_a_turn() {
    let (_place, active) = an_active().await;
    let (_copy, standby) = an_attached(&active).await;
    follow_to_the_end(&active, &standby).await;
    let followed = standby.standing().unwrap();
    let stale = standby
        .take_turn(&followed, (9, Uuid::new_v4()), true)
        .await
        .unwrap();
    assert!(stale.stale);
    put(&standby, a_message(Category::Notification, "ops")).await;
    let unforced = standby.promote(0, false).await.unwrap();
    assert_eq!(unforced.history, stale.history, "nothing has changed");
    let head = standby.head().await.unwrap();
    let forced = standby.promote(0, true).await.unwrap();
    assert_eq!((forced.stale, forced.sole), (false, true));
    assert!(forced.history.rank() > stale.history.rank());
    let begun = forced.history.last().unwrap();
    assert_eq!(begun.first, head + 1);
    let again = standby.promote(0, true).await.unwrap();
    assert_eq!(again.history, forced.history, "once is enough");
}

#[tokio::test]
async fn an_active_machine_that_a_person_has_go_on_without_a_lease_begins_a_turn() {
    let (_place, active) = an_active().await;
    let (_copy, standby) = an_attached(&active).await;
    active.other_is_there(None).await.unwrap();
    follow_to_the_end(&active, &standby).await;
    let seen = standby.standing().unwrap().history.rank();
    let forced = active.promote(0, true).await.unwrap();
    assert!(forced.sole && forced.history.rank() > seen);
    let again = active.promote(0, true).await.unwrap();
    assert_eq!(again.history, forced.history, "once is enough");
    active.other_is_there(None).await.unwrap();
    let led = active.promote(0, false).await.unwrap();
    assert_eq!(led.history, forced.history, "nobody said anything");
}

#[tokio::test]
async fn the_longest_lease_of_a_machine_stands_in_its_file() {
    let place = Place::new();
    let buffer = place.open();
    assert_eq!(buffer.longest_lease().await.unwrap(), Duration::ZERO);
    let lease = Duration::from_secs(60);
    buffer.set_longest_lease(lease).await.unwrap();
    buffer.close().await;
    drop(buffer);
    assert_eq!(place.open().longest_lease().await.unwrap(), lease);
}
