//! What holds for the plan, whatever the lanes do.

use super::{lane::LITTLE_ROOM_WAIT, plan::Plan, *};
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn lanes(permits: usize, ids: std::ops::Range<i64>) -> Lanes {
    let mut lanes = Lanes::new(permits);
    for id in ids {
        lanes.set_limits(
            LaneId(id),
            TenantId::DEFAULT,
            &Limits {
                concurrency: 100,
                per_second: None,
            },
            OnAmbiguous::Park,
            NOW,
        );
        lanes.enqueue(LaneId(id));
    }
    lanes
}

fn wanted(plan: &Plan) -> usize {
    plan.wants.iter().map(|w| w.n as usize).sum()
}

fn warm(lanes: &mut Lanes, id: i64) {
    for _ in 0..200 {
        begun(lanes, id);
        lanes.finished(LaneId(id), Behaviour::Answered);
    }
}

/// One attempt of the lane, as a claim would begin it.
fn begun(lanes: &mut Lanes, id: i64) {
    let lane = lanes.lanes.get_mut(&LaneId(id)).unwrap();
    lanes.under_way.enter(&mut lane.count, 1);
}

#[test]
fn new_lanes_get_one_attempt_each_and_together_half_of_the_permits() {
    let mut lanes = lanes(100, 0..200);
    let plan = lanes.plan(NOW, 100, 1000);
    assert_eq!((wanted(&plan), plan.wants.len()), (50, 50));
    assert_eq!(lanes.under_way.shared_counts(), (0, 50));
}

#[test]
fn failing_lanes_share_a_quarter_of_the_permits() {
    let mut lanes = lanes(100, 0..50);
    for id in 0..50 {
        warm(&mut lanes, id);
        begun(&mut lanes, id);
        lanes.finished(LaneId(id), Behaviour::Silent);
        lanes.enqueue(LaneId(id));
    }
    assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 25);
    assert_eq!(lanes.under_way.shared_counts(), (25, 0));
}

#[test]
fn a_healthy_lane_is_not_held_up_by_dead_ones() {
    let mut lanes = lanes(100, 0..51);
    warm(&mut lanes, 0);
    for id in 1..51 {
        lanes.enqueue(LaneId(id));
    }
    let mut healthy = 0;
    for _ in 0..10 {
        lanes.enqueue(LaneId(0));
        let plan = lanes.plan(NOW, 100, 1000);
        for want in plan.wants {
            if want.lane == LaneId(0) {
                healthy += want.n;
                lanes.claimed(want, want.n as usize);
            } else {
                lanes.claimed(want, want.n as usize);
            }
        }
    }
    assert!(lanes.under_way.shared_counts().1 <= 50);
    assert_eq!(
        healthy, 50,
        "everything but what the new ones share is the healthy lane's"
    );
}

#[test]
fn the_accounts_return_to_zero_when_everything_is_over() {
    let mut lanes = lanes(64, 0..10);
    let plan = lanes.plan(NOW, 100, 1000);
    for want in &plan.wants {
        lanes.claimed(*want, want.n as usize);
    }
    for (i, want) in plan.wants.iter().enumerate() {
        for k in 0..want.n {
            let behaviour = if (i + k as usize).is_multiple_of(2) {
                Behaviour::Silent
            } else {
                Behaviour::Answered
            };
            lanes.finished(want.lane, behaviour);
        }
    }
    assert_eq!((lanes.sending(), lanes.under_way.shared_counts()), (0, (0, 0)));
}

#[test]
fn lanes_take_turns() {
    let mut lanes = lanes(8, 0..4);
    for id in 0..4 {
        warm(&mut lanes, id);
        lanes.enqueue(LaneId(id));
    }
    let plan = lanes.plan(NOW, 100, 1000);
    let per_lane: Vec<_> = plan.wants.iter().map(|w| w.n).collect();
    assert_eq!(per_lane, [2, 2, 2, 2]);
}

#[test]
fn a_held_lane_gives_one_probe_when_it_is_due_and_nothing_else() {
    let mut lanes = lanes(8, 0..1);
    let waiting = LaneWaiting {
        lane: LaneId(0),
        next_due: NOW,
        next_probe: Some(NOW + Duration::from_secs(30)),
        held: true,
        not_before: None,
    };
    lanes.seen(&waiting, NOW);
    assert_eq!(lanes.plan(NOW, 100, 1000), Plan::default());
    let later = NOW + Duration::from_secs(30);
    lanes.fire_timers(later);
    assert_eq!(lanes.plan(later, 100, 1000).probes, [LaneId(0)]);
    lanes.enqueue(LaneId(0));
    assert_eq!(lanes.plan(later, 100, 1000), Plan::default());
}

/// Whether a row that was claimed before this and waits for a place gets one afterwards.
async fn still_goes_out_after(what_is_learned: impl FnOnce(&mut Lanes)) -> bool {
    let mut lanes = lanes(8, 0..1);
    let turn = lanes.gate(LaneId(0)).turn();
    let mut inside = vec![];
    for _ in 0..100 {
        inside.push(turn.enter().await);
    }
    let mut waits = std::pin::pin!(turn.enter());
    assert!(futures_util::poll!(&mut waits).is_pending());
    what_is_learned(&mut lanes);
    drop(inside);
    waits.await.is_some()
}

#[tokio::test]
async fn what_waits_for_a_place_goes_back_once_its_lane_is_paused_or_held() {
    let later = NOW + Duration::from_secs(30);
    assert!(still_goes_out_after(|_| ()).await);
    assert!(!still_goes_out_after(|lanes| lanes.paused(LaneId(0), later)).await);
    assert!(!still_goes_out_after(|lanes| lanes.held(LaneId(0), true, Some(later))).await);
    assert!(!still_goes_out_after(|lanes| lanes.probe_over(LaneId(0), true, None)).await);
    assert!(still_goes_out_after(|lanes| lanes.held(LaneId(0), false, None)).await);
}

#[test]
fn a_probe_whose_claim_failed_is_made_when_the_store_says_again_that_it_is_due() {
    let mut lanes = lanes(8, 0..1);
    let waiting = LaneWaiting {
        lane: LaneId(0),
        next_due: NOW,
        next_probe: Some(NOW),
        held: true,
        not_before: None,
    };
    for _ in 0..3 {
        lanes.seen(&waiting, NOW);
        assert_eq!(lanes.plan(NOW, 100, 1000).probes, [LaneId(0)]);
        lanes.probe_claimed(LaneId(0), false);
        assert!(!lanes.anything_ready(), "not asked for without a pause");
    }
}

#[test]
fn what_we_refuse_ourselves_opens_a_lane_nobody_has_asked_yet_and_no_other() {
    let mut lanes = lanes(100, 0..2);
    for id in 0..2 {
        begun(&mut lanes, id);
    }
    lanes.finished(LaneId(0), Behaviour::Refused);
    lanes.finished(LaneId(1), Behaviour::Silent);
    let failing = lanes.lane(LaneId(1)).window;
    begun(&mut lanes, 1);
    lanes.finished(LaneId(1), Behaviour::Refused);
    assert_eq!(lanes.lane(LaneId(1)).window, failing);
    let opened = lanes.lane(LaneId(0)).window;
    assert!(opened.size(100) > 1);
    begun(&mut lanes, 0);
    lanes.finished(LaneId(0), Behaviour::Refused);
    assert_eq!(lanes.lane(LaneId(0)).window, opened, "no wider than that");
}

#[test]
fn a_rate_limited_lane_comes_back_when_its_next_token_does() {
    let mut lanes = Lanes::new(100);
    lanes.set_limits(
        LaneId(1),
        TenantId::DEFAULT,
        &Limits {
            concurrency: 100,
            per_second: Some(2.0),
        },
        OnAmbiguous::Park,
        NOW,
    );
    warm(&mut lanes, 1);
    lanes.enqueue(LaneId(1));
    let plan = lanes.plan(NOW, 100, 1000);
    assert_eq!(wanted(&plan), 2);
    lanes.claimed(plan.wants[0], 2);
    assert_eq!(lanes.plan(NOW, 100, 1000), Plan::default());
    let next = lanes.next_timer().expect("a timer for the next token");
    assert!(next <= NOW + Duration::from_millis(502));
    lanes.fire_timers(next);
    assert_eq!(wanted(&lanes.plan(next, 100, 1000)), 1);
}

#[test]
fn a_busy_lane_is_asked_again_when_a_quarter_of_its_window_is_free() {
    let mut lanes = lanes(1_000, 0..1);
    warm(&mut lanes, 0);
    assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 100);
    let want = LaneWant {
        lane: LaneId(0),
        n: 100,
    };
    lanes.claimed(want, 100);
    for freed in 1..=25 {
        assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 0, "{freed}");
        lanes.finished(LaneId(0), Behaviour::Answered);
    }
    assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 25);
}

#[test]
fn a_slow_far_end_keeps_back_what_could_go_for_a_moment_only() {
    let mut lanes = lanes(1_000, 0..1);
    warm(&mut lanes, 0);
    let want = LaneWant {
        lane: LaneId(0),
        n: 100,
    };
    assert_eq!(lanes.plan(NOW, 100, 1000).wants, [want]);
    lanes.claimed(want, 100);
    assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 0);
    lanes.finished(LaneId(0), Behaviour::Answered);
    assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 0, "one place is little");
    let later = lanes.next_timer().expect("it is looked at again by itself");
    assert!(later.since(NOW) <= LITTLE_ROOM_WAIT, "{later}");
    lanes.fire_timers(later);
    assert_eq!(wanted(&lanes.plan(later, 100, 1000)), 1);
}

#[test]
fn a_lane_that_is_alone_takes_more_than_its_share_of_a_claim() {
    let mut alone = lanes(1_000, 0..1);
    warm(&mut alone, 0);
    assert_eq!(wanted(&alone.plan(NOW, 10, 1000)), 100);
    let mut two = lanes(1_000, 0..2);
    (0..2).for_each(|id| warm(&mut two, id));
    assert_eq!(wanted(&two.plan(NOW, 10, 1000)), 20);
}

#[test]
fn a_lane_of_one_goes_on_after_each_attempt() {
    let mut lanes = Lanes::new(100);
    let limits = Limits {
        concurrency: 1,
        per_second: None,
    };
    lanes.set_limits(LaneId(0), TenantId::DEFAULT, &limits, OnAmbiguous::Resend, NOW);
    lanes.enqueue(LaneId(0));
    for _ in 0..3 {
        assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 1);
        lanes.claimed(
            LaneWant {
                lane: LaneId(0),
                n: 1,
            },
            1,
        );
        assert_eq!(wanted(&lanes.plan(NOW, 100, 1000)), 0);
        lanes.finished(LaneId(0), Behaviour::Answered);
    }
}

#[test]
fn a_lane_that_is_wide_open_and_alone_is_claimed_from_ahead_of_its_places() {
    let mut lanes = lanes(1_000, 0..2);
    let limits = Limits {
        concurrency: 100,
        per_second: None,
    };
    lanes.set_limits(LaneId(0), TenantId::DEFAULT, &limits, OnAmbiguous::Resend, NOW);
    assert_eq!(
        lanes.plan(NOW, 1000, 1000).wants[0].n,
        1,
        "not before it has answered"
    );
    warm(&mut lanes, 0);
    (0..2).for_each(|id| lanes.enqueue(LaneId(id)));
    assert_eq!(
        lanes.plan(NOW, 1000, 1000).wants[0].n,
        99,
        "not while another waits"
    );
    lanes.unqueue(LaneId(1));
    lanes.enqueue(LaneId(0));
    assert_eq!(wanted(&lanes.plan(NOW, 1000, 1000)), 100);
    for freed in 1..=100 {
        lanes.enqueue(LaneId(0));
        assert_eq!(wanted(&lanes.plan(NOW, 1000, 1000)), 0, "{freed}");
        lanes.finished(LaneId(0), Behaviour::Answered);
    }
    assert_eq!(wanted(&lanes.plan(NOW, 1000, 1000)), 100, "half of it at once");
    lanes.finished(LaneId(0), Behaviour::Silent);
    lanes.enqueue(LaneId(0));
    assert_eq!(wanted(&lanes.plan(NOW, 1000, 1000)), 0, "not once it failed");
}

#[test]
fn heavy_rows_are_claimed_a_few_at_a_time() {
    let mut lanes = lanes(1_000, 0..1);
    warm(&mut lanes, 0);
    lanes.weighed(LaneId(0), 4, 4 << 20);
    let plan = lanes.plan(NOW, 1000, 1000);
    assert_eq!(wanted(&plan), 16, "sixteen megabytes");
    lanes.claimed(plan.wants[0], 16);
    lanes.weighed(LaneId(0), 16, 1_600);
    assert_eq!(
        wanted(&lanes.plan(NOW, 1000, 1000)),
        32,
        "trust comes back by and by"
    );
}

#[test]
fn far_ends_of_one_tenant_that_never_answer_leave_places_for_the_others() {
    let mut lanes = lanes(300, 0..20);
    (0..20).for_each(|id| warm(&mut lanes, id));
    let mut taken = 0;
    for _ in 0..20 {
        (0..20).for_each(|id| lanes.enqueue(LaneId(id)));
        let plan = lanes.plan(NOW, 100, 1000);
        taken += wanted(&plan);
        plan.wants
            .iter()
            .for_each(|want| lanes.claimed(*want, want.n as usize));
    }
    assert_eq!(taken, 300, "who is alone has every permit");
    let limits = Limits::default();
    lanes.set_limits(LaneId(99), TenantId(2), &limits, OnAmbiguous::Park, NOW);
    warm(&mut lanes, 99);
    lanes.enqueue(LaneId(99));
    let plan = lanes.plan(NOW, 100, 1000);
    let other: Vec<_> = plan.wants.iter().filter(|w| w.lane == LaneId(99)).collect();
    assert!(other.first().is_some_and(|want| want.n > 0), "{plan:?}");
    assert_eq!(wanted(&plan), other[0].n as usize, "the first one has no more");
}

#[test]
fn a_busy_lane_with_long_delays_has_one_timer() {
    let mut lanes = lanes(100, 0..1);
    let mut now = NOW;
    for _ in 0..1_000 {
        lanes.at(LaneId(0), now + Duration::from_secs(86_400));
        lanes.at(LaneId(0), now + Duration::from_millis(5));
        now = now + Duration::from_millis(5);
        lanes.fire_timers(now);
        lanes.plan(now, 100, 1000);
    }
    assert!(lanes.timers.len() <= 1, "{}", lanes.timers.len());
}
