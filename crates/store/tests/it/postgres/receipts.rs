//! A database that fails while receipts are being worked on.

use super::Schema;
use crate::{
    harness::TestStore,
    suite::{
        receipt_effects::{on_the_list, one_that_cannot_be_worked_on_waits_alone, opted_out, rules},
        receipts::{ANN, about, keep, to_ann},
    },
};
use domain::{ManualClock, ReceiptState::Failed};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_whose_opt_out_cannot_be_written_stays_and_those_before_it_are_told() {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let t = TestStore::new(Arc::new(schema.open(&clock, "one").await), clock, ());
    let admin = schema.admin().await;
    let lane = t.lane("sms").await;
    let (first, second) = (to_ann(&t, lane).await, to_ann(&t, lane).await);
    let receipts = vec![about(first, 0, ANN, Failed), opted_out(second, "STOP")];
    keep(&t, lane, receipts).await;
    admin
        .batch_execute("alter table suppressions rename to elsewhere")
        .await
        .unwrap();
    let worked = t.store.work_on_receipts(10, &rules()).await.unwrap();
    let done: Vec<_> = worked.done.iter().filter_map(|one| one.notification).collect();
    assert_eq!(done, [first]);
    assert!(worked.failed.is_some());
    admin
        .batch_execute("alter table elsewhere rename to suppressions")
        .await
        .unwrap();
    let worked = t.store.work_on_receipts(10, &rules()).await.unwrap();
    assert_eq!(worked.done.len(), 1, "{:?}", worked.failed);
    assert_eq!(on_the_list(&t).await, [ANN]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_that_cannot_be_worked_on_keeps_no_other_waiting() {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let t = TestStore::new(Arc::new(schema.open(&clock, "one").await), clock, ());
    let admin = schema.admin().await;
    one_that_cannot_be_worked_on_waits_alone(&t, async |id| {
        let spoil = "update notifications set extra = '\"spoilt\"' where id = $1";
        assert_eq!(admin.execute(spoil, &[&id.0]).await.unwrap(), 1);
    })
    .await;
}
