//! Reading: pages and figures.

use crate::{harness::*, suite::figures::kpis};
use domain::{
    Channel, Clock, HoldReason, NotificationId, Status, Target, TextFilter, TextFilters, kpi::Kpis,
};
use store::query::{Cursor, Filter, Listed, Page};

pub(super) async fn list(t: &TestStore, filter: &Filter, limit: u32, after: Option<Cursor>) -> Listed {
    t.store.list(TENANT, filter, Page { limit, after }).await.unwrap()
}

pub(super) async fn ids(t: &TestStore, filter: Filter) -> Vec<NotificationId> {
    let page = list(t, &filter, 100, None).await;
    assert_eq!(page.next, None);
    page.rows.iter().map(|row| row.submission.id).collect()
}

/// All pages of a filter, one after the other.
pub(super) async fn walk(t: &TestStore, filter: &Filter, limit: u32) -> Vec<NotificationId> {
    let (mut found, mut after) = (vec![], None);
    loop {
        let page = list(t, filter, limit, after).await;
        assert!(page.rows.len() <= limit as usize);
        assert!(found.len() < 1_000, "the pages go round in circles");
        found.extend(page.rows.iter().map(|row| row.submission.id));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

pub async fn nobody_sees_another_tenants_rows(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(t.store.get(elsewhere, id).await.unwrap(), None);
    let page = Page {
        limit: 10,
        after: None,
    };
    for status in [
        vec![],
        vec![Status::Pending],
        vec![Status::Parked, Status::Retrying],
    ] {
        let filter = Filter {
            status,
            ..Filter::default()
        };
        assert_eq!(
            t.store.list(elsewhere, &filter, page.clone()).await.unwrap(),
            Listed::default()
        );
    }
    assert_eq!(t.store.lanes(elsewhere).await.unwrap(), []);
    assert_eq!(kpis(t, Some(elsewhere)).await, Kpis::default());
}

pub async fn pages_have_neither_gaps_nor_repeats(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut sent = vec![];
    for n in [1, 5, 2, 9, 1] {
        sent.extend(t.send_many(lane, n).await);
        t.clock.advance(SECOND);
    }
    sent.reverse();
    for limit in [1, 3, 7, 18, 100] {
        assert_eq!(walk(t, &Filter::default(), limit).await, sent, "pages of {limit}");
    }
    let full = list(t, &Filter::default(), 18, None).await;
    assert_eq!(
        (full.rows.len(), full.next),
        (18, None),
        "no page after the last row"
    );
}

pub async fn pages_of_what_waits_have_neither_gaps_nor_repeats(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut waiting = vec![];
    for i in 0..20 {
        match i % 3 {
            0 => waiting.push(t.parked(lane).await),
            1 => drop(t.delivered(lane).await),
            _ => {
                waiting.push(t.send(lane).await);
                t.record(retry(&t.claim_one(lane).await, DAY)).await;
            }
        }
        t.clock.advance(SECOND);
    }
    waiting.reverse();
    let filter = Filter {
        status: vec![Status::Parked, Status::Retrying],
        ..Filter::default()
    };
    for limit in [1, 4, 100] {
        assert_eq!(walk(t, &filter, limit).await, waiting, "pages of {limit}");
    }
}

pub async fn newest_first(t: &TestStore) {
    let lane = t.lane("mail").await;
    let old = t.send(lane).await;
    t.clock.advance(SECOND);
    let new = t.send(lane).await;
    assert_eq!(ids(t, Filter::default()).await, [new, old]);
    let page = list(t, &Filter::default(), 1, None).await;
    assert_eq!(page.rows[0].submission.id, new);
    assert!(page.rows[0].recipients.is_empty());
}

/// What asks for these texts alone.
fn by(set: impl FnOnce(&mut TextFilters)) -> Filter {
    let mut filter = Filter::default();
    set(&mut filter.by);
    filter
}

pub async fn each_filter_finds_its_own(t: &TestStore) {
    let (lane, other) = (t.lane("mail").await, t.lane("other").await);
    let parked = t.parked(lane).await;
    let delivered = t.delivered(lane).await;
    let retrying = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, HOUR)).await;
    t.clock.advance(SECOND);
    let from = t.clock.now();
    let odd = saying(from_site("plant-2"), |c| {
        c.channel = Some(Channel::Sms);
        c.target = Target::List("night shift".into());
        c.subject = "Pump".into();
        c.entity_type = Some("order".into());
        c.entity_id = Some("7".into());
    });
    let odd = t.accept(other, odd).await;
    let discarded = t.send(lane).await;
    t.store.cancel(TENANT, discarded, &admin()).await.unwrap();

    let status = |status| Filter {
        status: vec![status],
        ..Filter::default()
    };
    assert_eq!(ids(t, status(Status::Pending)).await, [odd]);
    assert_eq!(ids(t, status(Status::Retrying)).await, [retrying]);
    assert_eq!(ids(t, status(Status::Parked)).await, [parked]);
    assert_eq!(ids(t, status(Status::Delivered)).await, [delivered]);
    assert_eq!(ids(t, status(Status::Discarded)).await, [discarded]);
    let one_of = [
        Filter {
            channel: Some(Channel::Sms),
            ..Filter::default()
        },
        by(|by| by.site = Some("plant-2".into())),
        by(|by| by.list = Some("night shift".into())),
        by(|by| by.provider = Some("other".into())),
        Filter {
            keyword: Some("pump".into()),
            ..Filter::default()
        },
        by(|by| by.entity_type = Some("order".into())),
        by(|by| by.entity_id = Some("7".into())),
        by(|by| {
            by.entity_type = Some("order".into());
            by.entity_id = Some("7".into());
        }),
    ];
    for filter in one_of {
        assert_eq!(ids(t, filter.clone()).await, [odd], "{filter:?}");
    }
    // Ours or the far end's own.
    for code in ["SMTP_451", "4.7.1"] {
        let code = by(|by| by.error_code = Some(code.into()));
        assert_eq!(ids(t, code).await, [retrying]);
    }
    let since = Filter {
        from: Some(from),
        ..Filter::default()
    };
    assert_eq!(ids(t, since).await, [discarded, odd]);
    let before = Filter {
        to: Some(from),
        ..Filter::default()
    };
    assert_eq!(ids(t, before).await, [retrying, delivered, parked]);
    let receipt = by(|by| by.receipt = Some("read".into()));
    assert_eq!(ids(t, receipt).await, []);
    let some = Filter {
        status: vec![Status::Delivered, Status::Parked],
        ..Filter::default()
    };
    assert_eq!(ids(t, some).await, [delivered, parked]);
}

pub async fn every_declared_filter_is_asked_of_the_rows(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    assert_eq!(ids(t, Filter::default()).await, [id]);
    for one in TextFilter::ALL {
        let mut filter = Filter::default();
        filter.by.set(one, Some("nobody has this".into()));
        assert_eq!(ids(t, filter).await, [], "{}", one.name);
    }
}

pub async fn filters_together_must_all_hold(t: &TestStore) {
    let lane = t.lane("mail").await;
    let a = t.accept(lane, from_site("a")).await;
    t.accept(lane, from_site("b")).await;
    let both = |site: &str, status| Filter {
        by: TextFilters {
            site: Some(site.into()),
            ..TextFilters::default()
        },
        status: vec![status],
        ..Filter::default()
    };
    assert_eq!(ids(t, both("a", Status::Pending)).await, [a]);
    assert_eq!(ids(t, both("a", Status::Delivered)).await, []);
}

pub async fn a_row_waiting_in_a_held_lane_says_so(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (ended, waiting) = (t.delivered(lane).await, t.send(lane).await);
    t.store.hold_lane(hold(lane, HoldReason::Billing)).await.unwrap();
    let held = t.get(waiting).await.held.unwrap();
    assert_eq!(held.reason, HoldReason::Billing);
    assert_eq!(held.since, t.clock.now());
    assert_eq!(t.get(ended).await.held, None);
}

pub async fn what_waits_is_found_by_time_too(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut sent = vec![];
    for _ in 0..4 {
        sent.push((t.clock.now(), t.send(lane).await));
        t.clock.advance(SECOND);
    }
    let middle = Filter {
        status: vec![Status::Pending],
        from: Some(sent[1].0),
        to: Some(sent[3].0),
        ..Filter::default()
    };
    assert_eq!(ids(t, middle).await, [sent[2].1, sent[1].1]);
}

pub async fn a_row_says_what_its_lane_and_its_claim_keep_it_waiting_for(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (first, second) = (t.send(lane).await, t.send(lane).await);
    let claimed = t.claim_one(lane).await;
    assert_eq!(claimed.id, first);
    t.store.pause_lane(lane, MINUTE).await.unwrap();
    let now = t.clock.now();
    let rows = list(t, &Filter::default(), 10, None).await.rows;
    for row in [t.get(second).await, rows[0].clone()] {
        assert_eq!((row.lane, row.lane_not_before), (Some(lane), Some(now + MINUTE)));
        assert_eq!(row.leased_until, None);
    }
    assert_eq!(t.get(first).await.leased_until, Some(now + LEASE));
    t.record(delivered(&claimed)).await;
    let ended = t.get(first).await;
    assert_eq!((ended.lane_not_before, ended.leased_until), (None, None));
}

pub async fn what_was_parked_later_is_not_among_what_had_ended_by_then(t: &TestStore) {
    let lane = t.lane("mail").await;
    let early = t.parked(lane).await;
    let again = t.parked(lane).await;
    let counted_at = t.clock.now();
    let filter = || Filter {
        status: vec![Status::Parked],
        ended_by: Some(counted_at),
        ..Filter::default()
    };
    assert_eq!(ids(t, filter()).await, [again, early]);
    t.clock.advance(SECOND);
    t.parked(lane).await;
    t.store.requeue(TENANT, &[(again, lane)], &admin()).await.unwrap();
    t.record(park(&t.claim_one(lane).await)).await;
    assert_eq!(ids(t, filter()).await, [early]);
}

pub async fn what_was_sent_round_again_later_is_not_among_what_waited_by_then(t: &TestStore) {
    let lane = t.lane("mail").await;
    let parked = t.parked(lane).await;
    let earlier = t.parked(lane).await;
    t.store
        .requeue(TENANT, &[(earlier, lane)], &admin())
        .await
        .unwrap();
    let scheduled = t
        .accept(lane, saying(mail(), |c| c.send_at = Some(t.clock.now() + MINUTE)))
        .await;
    let counted_at = t.clock.now();
    let filter = || Filter {
        status: vec![Status::Pending, Status::Retrying],
        ended_by: Some(counted_at),
        ..Filter::default()
    };
    assert_eq!(ids(t, filter()).await, [scheduled, earlier]);
    t.clock.advance(SECOND);
    t.store
        .requeue(TENANT, &[(parked, lane)], &admin())
        .await
        .unwrap();
    assert_eq!(ids(t, filter()).await, [scheduled, earlier]);
}
