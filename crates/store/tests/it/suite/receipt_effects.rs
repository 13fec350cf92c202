//! What a receipt means for its lane and for its recipient is there as soon as the receipt is used up: it comes back from nowhere.

use super::{
    figures::kpis,
    receipts::{ANN, about, keep, to_ann},
};
use crate::harness::*;
use domain::{HoldReason, LaneId, NotificationId, OptOut, Receipt, ReceiptState::Failed, Status};
use std::{collections::HashMap, sync::Arc, time::Duration};
use store::{
    query::Page,
    receipts::{ReceiptRules, ReceiptsWaiting, WorkedOn},
    suppressions::SuppressionFilter,
};

const FIRST: Page = Page {
    limit: 10,
    after: None,
};

/// The kind of the harness's providers has one such code, another kind another.
pub fn rules() -> ReceiptRules {
    const OF_SMTP: &[OptOut] = &[OptOut::everything("STOP")];
    const OF_OTHERS: &[OptOut] = &[OptOut::everything("131050")];
    ReceiptRules {
        opt_outs: Arc::new(HashMap::from([("smtp", OF_SMTP), ("meta", OF_OTHERS)])),
        ..ReceiptRules::default()
    }
}

pub fn opted_out(id: NotificationId, code: &str) -> Receipt {
    Receipt {
        provider_code: Some(code.into()),
        ..about(id, 0, ANN, Failed)
    }
}

async fn told(t: &TestStore, lane: LaneId, receipt: Receipt) -> WorkedOn {
    keep(t, lane, vec![receipt]).await;
    t.store.work_on_receipts(10, &rules()).await.unwrap()
}

pub async fn on_the_list(t: &TestStore) -> Vec<String> {
    let found = t
        .store
        .suppressions(TENANT, &SuppressionFilter::default(), FIRST)
        .await
        .unwrap();
    found.rows.into_iter().map(|row| row.entry.address).collect()
}

pub async fn a_receipt_that_is_used_up_has_held_its_lane_and_kept_its_recipient(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    let receipt = Receipt {
        hold: Some(HoldReason::Billing),
        ..opted_out(id, "STOP")
    };
    assert_eq!(told(t, lane, receipt).await.done.len(), 1);
    let waiting = t.store.receipts_waiting(10).await.unwrap();
    assert_eq!(waiting, ReceiptsWaiting::default(), "it is used up");
    assert_eq!(on_the_list(t).await, [ANN]);
    let lanes = t.store.lanes(TENANT).await.unwrap();
    let held = lanes.iter().find(|one| one.lane == lane).unwrap().hold.as_ref();
    let held = held.expect("the lane is held");
    assert_eq!(held.reason, HoldReason::Billing);
    assert!(held.next_probe.is_some(), "and will be tried again");
}

/// `spoil` makes the notification's row one that cannot be read.
pub async fn one_that_cannot_be_worked_on_waits_alone(t: &TestStore, spoil: impl AsyncFn(NotificationId)) {
    let lane = t.lane("sms").await;
    let (spoilt, next) = (to_ann(t, lane).await, to_ann(t, lane).await);
    keep(t, lane, vec![opted_out(spoilt, "STOP"), opted_out(next, "STOP")]).await;
    spoil(spoilt).await;
    let worked = t.store.work_on_receipts(10, &rules()).await.unwrap();
    assert!(worked.failed.is_none(), "{:?}", worked.failed);
    let done: Vec<_> = worked.done.iter().filter_map(|one| one.notification).collect();
    assert_eq!(done, [next]);
    assert_eq!(t.status(next).await, Status::Parked);
    let waiting = t.store.receipts_waiting(10).await.unwrap();
    assert_eq!(
        (waiting.fresh, waiting.later),
        (0, 1),
        "and nothing of it is done"
    );
    assert_eq!(kpis(t, Some(TENANT)).await.parked_count, 1);
    t.clock.advance(DAY);
    t.store.work_on_receipts(10, &rules()).await.unwrap();
    let waiting = t.store.receipts_waiting(10).await.unwrap();
    assert_eq!(waiting, ReceiptsWaiting::default(), "no longer than a day");
}

pub async fn an_opt_out_is_read_by_the_codes_of_the_provider_that_was_called(t: &TestStore) {
    let lane = t.lane("sms").await;
    let id = to_ann(t, lane).await;
    told(t, lane, opted_out(id, "131050")).await;
    assert_eq!(on_the_list(t).await, Vec::<String>::new());
}

pub async fn what_was_taken_off_the_list_after_the_sending_is_not_put_on_it(t: &TestStore) {
    let lane = t.lane("sms").await;
    let (first, second) = (to_ann(t, lane).await, to_ann(t, lane).await);
    told(t, lane, opted_out(first, "STOP")).await;
    let filter = SuppressionFilter::default();
    let found = t.store.suppressions(TENANT, &filter, FIRST).await;
    let entry = found.unwrap().rows.remove(0);
    t.clock.advance(Duration::from_secs(60));
    assert!(t.store.unsuppress(TENANT, entry.id, &admin()).await.unwrap());
    told(t, lane, opted_out(second, "STOP")).await;
    assert_eq!(on_the_list(t).await, Vec::<String>::new(), "it was sent before");
}
