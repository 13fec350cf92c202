//! The figures.

use crate::harness::*;
use domain::{Clock, Submission, TenantId, kpi::Kpis};
use std::time::Duration;
use store::query::KpiAsk;

const ASK: KpiAsk = KpiAsk {
    stuck_after: Duration::from_secs(600),
    delivered_window: Duration::from_secs(60),
};

pub async fn kpis(t: &TestStore, tenant: Option<TenantId>) -> Kpis {
    t.store.kpis(tenant, ASK).await.unwrap()
}

pub async fn figures_are_exact(t: &TestStore) {
    let lane = t.lane("mail").await;
    assert_eq!(kpis(t, Some(TENANT)).await, Kpis::default());
    for _ in 0..3 {
        t.delivered(lane).await;
    }
    t.parked(lane).await;
    t.parked(lane).await;
    let cancelled = t.send(lane).await;
    t.store.cancel(TENANT, cancelled, &admin()).await.unwrap();
    t.send_many(lane, 4).await;
    t.record(retry(&t.claim_one(lane).await, DAY)).await;
    t.clock.advance(Duration::from_secs(30));
    let expected = Kpis {
        queue_depth: 4,
        stuck_count: 0,
        parked_count: 2,
        delivered_last_interval: 3,
        oldest_pending_age_seconds: Some(30),
    };
    assert_eq!(kpis(t, Some(TENANT)).await, expected);
    t.clock.advance(Duration::from_secs(600));
    t.send(lane).await;
    let expected = Kpis {
        queue_depth: 5,
        stuck_count: 4,
        parked_count: 2,
        delivered_last_interval: 0,
        oldest_pending_age_seconds: Some(630),
    };
    assert_eq!(kpis(t, Some(TENANT)).await, expected);
}

pub async fn figures_of_all_tenants_add_up(t: &TestStore) {
    let lane = t.lane("mail").await;
    let elsewhere = t.tenant("elsewhere").await;
    let their_lane = t.provider(elsewhere, "mail").await.lane;
    t.delivered(lane).await;
    t.parked(lane).await;
    t.send(lane).await;
    let theirs = Submission {
        tenant: elsewhere,
        ..mail()
    };
    t.accept(their_lane, theirs).await;
    let all = kpis(t, None).await;
    assert_eq!(
        (all.queue_depth, all.parked_count, all.delivered_last_interval),
        (2, 1, 1)
    );
    assert_eq!(kpis(t, Some(elsewhere)).await.queue_depth, 1);
}

pub async fn figures_by_site(t: &TestStore) {
    let lane = t.lane("mail").await;
    for _ in 0..2 {
        t.accept(lane, from_site("plant-1")).await;
        t.record(delivered(&t.claim_one(lane).await)).await;
    }
    t.accept(lane, from_site("plant-2")).await;
    t.record(park(&t.claim_one(lane).await)).await;
    t.accept(lane, from_site("plant-2")).await;
    t.send(lane).await;
    t.clock.advance(SECOND);
    let by_site = t.store.kpis_by_site(TENANT, ASK).await.unwrap();
    let seen: Vec<_> = by_site
        .iter()
        .map(|(site, k)| {
            (
                site.as_str(),
                k.queue_depth,
                k.parked_count,
                k.delivered_last_interval,
            )
        })
        .collect();
    assert_eq!(seen, [("", 1, 0, 0), ("plant-1", 0, 0, 2), ("plant-2", 1, 1, 0)]);
    assert_eq!(by_site[0].1.oldest_pending_age_seconds, Some(1));
    assert_eq!(by_site[1].1.oldest_pending_age_seconds, None);
}

pub async fn the_delivered_window_slides(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    t.clock.advance(Duration::from_secs(40));
    t.delivered(lane).await;
    let within = |t: &TestStore| {
        let store = t.store.clone();
        async move {
            store
                .kpis(Some(TENANT), ASK)
                .await
                .unwrap()
                .delivered_last_interval
        }
    };
    assert_eq!(within(t).await, 2);
    t.clock.advance(Duration::from_secs(30));
    assert_eq!(within(t).await, 1, "the first is 70 seconds old");
    t.clock.advance(Duration::from_secs(50));
    assert_eq!(within(t).await, 0);
}

pub async fn stuck_counts_from_the_latest_of_created_send_at_and_requeue(t: &TestStore) {
    let lane = t.lane("mail").await;
    let requeued = t.parked(lane).await;
    let scheduled = saying(mail(), |c| c.send_at = Some(t.clock.now() + 2 * HOUR));
    t.accept(lane, scheduled).await;
    assert_eq!(kpis(t, Some(TENANT)).await.oldest_pending_age_seconds, Some(0));
    t.clock.advance(HOUR);
    t.store
        .requeue(TENANT, &[(requeued, lane)], &admin())
        .await
        .unwrap();
    t.clock.advance(MINUTE);
    let now = kpis(t, Some(TENANT)).await;
    assert_eq!((now.queue_depth, now.stuck_count), (2, 0));
    t.clock.advance(10 * MINUTE);
    assert_eq!(kpis(t, Some(TENANT)).await.stuck_count, 1, "the requeued one");
    t.clock.advance(HOUR);
    assert_eq!(
        kpis(t, Some(TENANT)).await.stuck_count,
        2,
        "and the scheduled one"
    );
}

pub async fn a_late_success_moves_the_figures(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let first = t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.record(park(&t.claim_one(lane).await)).await;
    let before = kpis(t, Some(TENANT)).await;
    assert_eq!((before.parked_count, before.delivered_last_interval), (1, 0));
    t.record(delivered(&first)).await;
    let after = kpis(t, Some(TENANT)).await;
    assert_eq!((after.parked_count, after.delivered_last_interval), (0, 1));
}

pub async fn a_look_at_the_lanes_tells_of_counts_until_they_are_condensed(t: &TestStore) {
    let told = async || t.store.lanes_waiting().await.unwrap().chores.counts;
    assert!(!told().await);
    let lane = t.lane("mail").await;
    for _ in 0..2 {
        t.send(lane).await;
        assert!(!told().await, "more may be counted in this bucket");
        t.clock.advance(domain::kpi::BUCKET);
        assert!(told().await);
        assert!(!t.store.roll_up(ASK).await.unwrap().behind);
        assert!(!told().await);
    }
}
