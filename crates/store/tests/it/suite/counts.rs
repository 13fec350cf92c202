//! How many notifications a filter leaves, and how far anybody counts.

use crate::harness::*;
use domain::{Clock, ExecutionId, Status, Submission, TextFilters};
use store::query::{COUNT_LIMIT, Counted, Filter, Page, SCAN_BOUND};

async fn count(t: &TestStore, filter: &Filter) -> Counted {
    t.store.count(TENANT, filter).await.unwrap()
}

fn by(by: TextFilters) -> Filter {
    Filter {
        by,
        ..Filter::default()
    }
}

fn of_run(run: &str) -> Filter {
    by(TextFilters {
        execution_id: Some(run.into()),
        ..TextFilters::default()
    })
}

fn of_order(order: &str) -> Filter {
    by(TextFilters {
        entity_type: Some("order".into()),
        entity_id: Some(order.into()),
        ..TextFilters::default()
    })
}

fn from_plant() -> Submission {
    let mut from_site = from_site("plant-2");
    from_site.provenance.execution = Some(ExecutionId::new("run-1"));
    saying(from_site, |c| {
        c.entity_type = Some("order".into());
        c.entity_id = Some("7".into());
    })
}

pub async fn a_count_tells_as_many_as_the_pages_have(t: &TestStore) {
    let (lane, other) = (t.lane("mail").await, t.lane("other").await);
    let elsewhere = t.tenant("elsewhere").await;
    for _ in 0..3 {
        t.accept(lane, from_plant()).await;
    }
    t.parked(other).await;
    t.clock.advance(SECOND);
    let from = t.clock.now();
    t.clock.advance(SECOND);
    t.delivered(other).await;
    t.send_many(lane, 4).await;
    let status = |status: &[Status]| Filter {
        status: status.to_vec(),
        ..Filter::default()
    };
    for (filter, all) in [
        (Filter::default(), 9),
        (
            Filter {
                from: Some(from),
                ..Filter::default()
            },
            5,
        ),
        (
            Filter {
                to: Some(from),
                ..Filter::default()
            },
            4,
        ),
        (of_run("run-1"), 3),
        (of_run("run-2"), 0),
        (of_order("7"), 3),
        (
            Filter {
                from: Some(from),
                ..of_order("7")
            },
            0,
        ),
        (status(&[Status::Parked]), 1),
        (status(&[Status::Pending]), 7),
        (status(&[Status::Parked, Status::Delivered]), 2),
        (
            by(TextFilters {
                site: Some("plant-2".into()),
                ..TextFilters::default()
            }),
            3,
        ),
    ] {
        let page = Page {
            limit: 100,
            after: None,
        };
        let listed = t.store.list(TENANT, &filter, page).await.unwrap();
        assert_eq!(listed.rows.len() as u64, all, "{filter:?}");
        assert_eq!(count(t, &filter).await, Counted::Exactly(all), "{filter:?}");
        assert_eq!(
            t.store.count(elsewhere, &filter).await.unwrap(),
            Counted::Exactly(0),
            "another tenant has none: {filter:?}"
        );
    }
}

pub async fn a_count_ends_at_its_bound_and_says_so(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (limit, bound) = (u64::from(COUNT_LIMIT), u64::from(SCAN_BOUND));
    t.parked(lane).await;
    for _ in 0..COUNT_LIMIT / 1_000 {
        let some: Vec<_> = (0..1_000).map(|_| from_plant()).collect();
        t.ingest(lane, some).await;
    }
    // One of an index alone is left out, so it is full and no more.
    assert_eq!(count(t, &of_run("run-1")).await, Counted::Exactly(limit));
    assert_eq!(count(t, &of_order("7")).await, Counted::Exactly(limit));
    assert_eq!(count(t, &Filter::default()).await, Counted::MoreThan(limit));
    t.accept(lane, from_plant()).await;
    assert_eq!(count(t, &of_run("run-1")).await, Counted::MoreThan(limit));
    assert_eq!(count(t, &of_order("7")).await, Counted::MoreThan(limit));

    // Rows that have to be looked at: those beyond the newest of them are not.
    let site = |site: &str| {
        by(TextFilters {
            site: Some(site.into()),
            ..TextFilters::default()
        })
    };
    assert_eq!(count(t, &site("plant-2")).await, Counted::AmongNewest(bound));
    assert_eq!(count(t, &site("nowhere")).await, Counted::AmongNewest(0));
    let ended = Filter {
        status: vec![Status::Parked, Status::Delivered],
        ..Filter::default()
    };
    assert_eq!(count(t, &ended).await, Counted::AmongNewest(0));
}
