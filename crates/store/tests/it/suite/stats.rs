//! Figures over time and what fails.

use crate::harness::*;
use domain::Clock;
use store::{
    query::KpiAsk,
    stats::{Point, Series, Span},
};

const ASK: KpiAsk = KpiAsk {
    stuck_after: MINUTE,
    delivered_window: MINUTE,
};

async fn roll_up(t: &TestStore) {
    while t.store.roll_up(ASK).await.unwrap().behind {}
}

async fn series(t: &TestStore, span: Span) -> Series {
    t.store.series(TENANT, span).await.unwrap()
}

fn sum(series: &Series, what: impl Fn(&Point) -> u64) -> u64 {
    series.points.iter().map(what).sum()
}

pub async fn a_chart_counts_the_same_before_and_after_condensing(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    t.parked(lane).await;
    let before = series(t, Span::Hour).await;
    assert_eq!((before.points.len(), before.step), (60, MINUTE));
    let last = before.points[59];
    assert_eq!((last.accepted, last.delivered, last.parked), (2, 1, 1));
    t.clock.advance(20 * SECOND);
    roll_up(t).await;
    roll_up(t).await;
    let counts = |s: &Series| {
        [
            sum(s, |p| p.accepted),
            sum(s, |p| p.delivered),
            sum(s, |p| p.parked),
        ]
    };
    for span in Span::ALL {
        assert_eq!(counts(&series(t, span).await), [2, 1, 1], "{span:?}");
    }
    // What comes after is added to what is condensed.
    t.delivered(lane).await;
    for span in Span::ALL {
        assert_eq!(counts(&series(t, span).await), [3, 2, 1], "{span:?}");
    }
}

pub async fn a_chart_moves_on_and_lets_the_old_go(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    t.clock.advance(20 * SECOND);
    roll_up(t).await;
    t.clock.advance(2 * HOUR);
    t.delivered(lane).await;
    t.clock.advance(20 * SECOND);
    roll_up(t).await;
    assert_eq!(sum(&series(t, Span::Hour).await, |p| p.delivered), 1);
    let day = series(t, Span::Day).await;
    assert_eq!(sum(&day, |p| p.delivered), 2);
    let places: Vec<_> = (0..96).filter(|i| day.points[*i].delivered > 0).collect();
    assert_eq!(places[1] - places[0], 8, "two hours apart, in quarters");
    t.clock.advance(8 * DAY);
    roll_up(t).await;
    assert_eq!(sum(&series(t, Span::Week).await, |p| p.delivered), 0);
}

pub async fn a_long_pause_is_caught_up(t: &TestStore) {
    let lane = t.lane("mail").await;
    for _ in 0..30 {
        t.delivered(lane).await;
        t.clock.advance(4 * HOUR);
    }
    assert!(t.store.roll_up(ASK).await.unwrap().behind);
    roll_up(t).await;
    assert_eq!(sum(&series(t, Span::Week).await, |p| p.delivered), 30);
}

pub async fn the_figures_are_sampled_once_a_minute(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.parked(lane).await;
    t.send_many(lane, 3).await;
    t.clock.advance(2 * MINUTE);
    roll_up(t).await;
    for span in Span::ALL {
        let last = *series(t, span).await.points.last().unwrap();
        assert_eq!(
            (last.depth, last.stuck, last.parked_now, last.oldest_seconds),
            (3, 3, 1, 120),
            "{span:?}"
        );
    }
    t.send_many(lane, 2).await;
    t.clock.advance(10 * SECOND);
    roll_up(t).await;
    assert_eq!(
        series(t, Span::Hour).await.points[59].depth,
        3,
        "not before the next minute"
    );
    t.clock.advance(MINUTE);
    roll_up(t).await;
    assert_eq!(series(t, Span::Hour).await.points[59].depth, 5);
    assert_eq!(series(t, Span::Day).await.points[95].depth, 5);
}

pub async fn a_minute_in_which_nobody_looked_is_told_from_one_in_which_nothing_waited(t: &TestStore) {
    roll_up(t).await;
    t.clock.advance(3 * MINUTE);
    roll_up(t).await;
    let points = series(t, Span::Hour).await.points;
    let sampled: Vec<_> = points[56..].iter().map(|point| point.sampled).collect();
    assert_eq!(sampled, [true, false, false, true]);
    assert_eq!(points[59].depth, 0);
}

pub async fn charts_stay_within_the_tenant(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    let elsewhere = t.tenant("elsewhere").await;
    t.clock.advance(20 * SECOND);
    roll_up(t).await;
    let theirs = t.store.series(elsewhere, Span::Hour).await.unwrap();
    assert_eq!(sum(&theirs, |p| p.accepted + p.delivered), 0);
    assert!(t.store.failures(elsewhere).await.unwrap().is_empty());
}

pub async fn failures_are_grouped_by_what_went_wrong(t: &TestStore) {
    let (mail, other) = (t.lane("mail").await, t.lane("other").await);
    t.parked(mail).await;
    t.clock.advance(SECOND);
    t.parked(mail).await;
    t.clock.advance(SECOND);
    t.parked(other).await;
    t.clock.advance(SECOND);
    t.send(mail).await;
    let claimed = t.claim_one(mail).await;
    t.record(retry(&claimed, HOUR)).await;
    t.delivered(mail).await;
    t.send(other).await;
    let groups = t.store.failures(TENANT).await.unwrap();
    let shown: Vec<_> = groups
        .iter()
        .map(|g| (g.code.as_str(), g.provider.as_str(), g.parked, g.count))
        .collect();
    assert_eq!(
        shown,
        [
            ("SMTP_451", "mail", false, 1),
            ("SMTP_550", "other", true, 1),
            ("SMTP_550", "mail", true, 2),
        ]
    );
    assert_eq!(groups[0].last_at, t.clock.now());
    assert_eq!(groups[2].error.as_deref(), Some("no such user"));
}
