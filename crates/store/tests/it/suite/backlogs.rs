//! Lists of what waits, beside long backlogs of one's own and of others.

use super::query::{ids, list, walk};
use crate::harness::*;
use domain::{LaneId, Status, Submission, TenantId, TextFilters};
use store::query::{Counted, Filter, SCAN_BOUND};

pub async fn stuck_rows_are_found(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    let old = t.send(lane).await;
    t.clock.advance(MINUTE);
    t.send(lane).await;
    t.clock.advance(SECOND);
    let stuck = |after| Filter {
        stuck_after: Some(after),
        ..Filter::default()
    };
    assert_eq!(ids(t, stuck(MINUTE)).await, [old]);
    assert_eq!(
        ids(t, stuck(MINUTE + SECOND)).await,
        [],
        "exactly at the threshold is not past it"
    );
}

pub async fn stuck_and_waiting_rows_are_found_whatever_came_later_and_for_whom(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut old = vec![];
    for _ in 0..3 {
        old.push(t.send(lane).await);
        t.clock.advance(SECOND);
    }
    t.clock.advance(MINUTE);
    let stuck = Filter {
        stuck_after: Some(MINUTE),
        ..Filter::default()
    };
    let waiting = Filter {
        status: vec![Status::Pending, Status::Retrying],
        ..Filter::default()
    };
    let elsewhere = t.tenant("elsewhere").await;
    let their_lane = t.provider(elsewhere, "mail").await.lane;
    fill(t, lane, TENANT).await;
    fill(t, their_lane, elsewhere).await;
    old.reverse();
    for limit in [1, 2, 100] {
        assert_eq!(walk(t, &stuck, limit).await, old, "pages of {limit}");
    }
    let counted = t.store.count(TENANT, &stuck).await.unwrap();
    assert_eq!(counted, Counted::Exactly(3));
    let newest = list(t, &waiting, 100, None).await.rows;
    assert_eq!(newest.len(), 100, "not looked for among the other tenant's");
}

pub async fn a_page_ends_at_the_bound_and_says_where_to_go_on(t: &TestStore) {
    let lane = t.lane("mail").await;
    let needle = t.accept(lane, from_site("needle")).await;
    fill(t, lane, TENANT).await;
    let by_time = Filter {
        by: TextFilters {
            site: Some("needle".into()),
            ..TextFilters::default()
        },
        ..Filter::default()
    };
    let waiting = Filter {
        status: vec![Status::Pending],
        ..by_time.clone()
    };
    for filter in [by_time, waiting] {
        let first = list(t, &filter, 10, None).await;
        assert_eq!(first.rows, []);
        assert!(first.next.is_some(), "there is more to look at");
        let second = list(t, &filter, 10, first.next).await;
        assert_eq!(second.rows.len(), 1);
        assert_eq!((second.rows[0].submission.id, second.next), (needle, None));
    }
}

pub async fn a_small_tenants_waiting_rows_are_found_beside_anothers_backlog(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mine = t.send(lane).await;
    let elsewhere = t.tenant("elsewhere").await;
    let their_lane = t.provider(elsewhere, "mail").await.lane;
    let theirs = (0..300).map(|_| Submission {
        tenant: elsewhere,
        ..mail()
    });
    t.ingest(their_lane, theirs.collect()).await;
    let waiting = Filter {
        status: vec![Status::Pending, Status::Retrying],
        ..Filter::default()
    };
    assert_eq!(ids(t, waiting).await, [mine]);
}

/// So many of one tenant that a page looks at nothing older.
async fn fill(t: &TestStore, lane: LaneId, tenant: TenantId) {
    let mut left = SCAN_BOUND as usize + 5;
    while left > 0 {
        let n = left.min(1_000);
        let rows = (0..n).map(|_| Submission { tenant, ..mail() });
        t.ingest(lane, rows.collect()).await;
        left -= n;
    }
}
