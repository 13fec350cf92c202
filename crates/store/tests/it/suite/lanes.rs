//! Holds, probes, pauses and owners.

use crate::harness::*;
use domain::{Actor, AuditKind, Clock, HoldReason, LaneId};
use store::{
    directory::Provider,
    outbox::{AttemptAudit, AttemptRecord, HoldLane, LaneWaiting, Owned},
    query::{AuditFilter, Page},
};

pub async fn waiting(t: &TestStore, lane: LaneId) -> LaneWaiting {
    let lanes = t.store.lanes_waiting().await.unwrap().lanes;
    lanes
        .into_iter()
        .find(|l| l.lane == lane)
        .expect("something waits there")
}

pub async fn hold_of(t: &TestStore, lane: LaneId) -> Option<domain::Hold> {
    let lanes = t.store.lanes(TENANT).await.unwrap();
    lanes.into_iter().find(|l| l.lane == lane).unwrap().hold
}

pub async fn a_held_lane_gives_nothing_and_shows_why(t: &TestStore) {
    let (lane, other) = (t.lane("mail").await, t.lane("other").await);
    t.send(lane).await;
    t.send(other).await;
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    assert_eq!(t.claim(lane, 10).await, []);
    t.claim_one(other).await;
    let held = hold_of(t, lane).await.unwrap();
    let now = t.clock.now();
    assert_eq!((held.reason, held.since, held.probes), (HoldReason::Auth, now, 0));
    assert_eq!(held.detail.as_deref(), Some("535 5.7.8"));
    assert_eq!(held.next_probe, Some(now + MINUTE));
    let seen = waiting(t, lane).await;
    assert_eq!((seen.held, seen.next_probe), (true, Some(now + MINUTE)));
}

pub async fn a_paused_lane_gives_nothing_until_the_pause_is_over(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.pause_lane(lane, MINUTE).await.unwrap();
    assert_eq!(t.claim(lane, 1).await, []);
    assert_eq!(waiting(t, lane).await.not_before, Some(t.clock.now() + MINUTE));
    t.clock.advance(MINUTE);
    t.claim_one(lane).await;
}

pub async fn a_pause_ends_with_the_settings_that_it_was_asked_of(t: &TestStore) {
    let mut provider = t.provider(TENANT, "mail").await;
    let lane = provider.lane;
    t.send(lane).await;
    t.store.pause_lane(lane, HOUR).await.unwrap();
    let put = async |provider: &Provider| {
        let version = Some(provider.version);
        let put = t.store.put_provider(&provider.provider, version, &admin()).await;
        put.unwrap()
    };
    provider.provider.name = "Mail, once more".into();
    provider.provider.order += 1;
    let mut provider = put(&provider).await;
    assert_eq!(t.claim(lane, 1).await, [], "the far end is asked as before");
    provider
        .provider
        .secrets
        .insert("password".into(), "another".into());
    put(&provider).await;
    t.claim_one(lane).await;
}

pub async fn a_pause_is_never_shortened(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.pause_lane(lane, HOUR).await.unwrap();
    t.store.pause_lane(lane, SECOND).await.unwrap();
    t.clock.advance(HOUR - SECOND);
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(SECOND);
    t.claim_one(lane).await;
}

pub async fn a_hold_needs_the_settings_the_attempt_used(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    let lane = provider.lane;
    let new = t
        .store
        .put_provider(&provider.provider, Some(provider.version), &admin())
        .await
        .unwrap();
    let with = |version| HoldLane {
        config_version: Some(version),
        ..hold(lane, HoldReason::Auth)
    };
    assert!(!t.store.hold_lane(with(provider.version)).await.unwrap());
    assert_eq!(hold_of(t, lane).await, None);
    assert!(t.store.hold_lane(with(new.version)).await.unwrap());
    assert!(hold_of(t, lane).await.is_some());
}

pub async fn a_hold_says_by_whom_and_for_which_failure(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    let lane = provider.lane;
    let told = async || {
        hold_of(t, lane)
            .await
            .map(|hold| (hold.reason, hold.by, hold.code))
    };
    t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap();
    let code = Some("SMTP_535".to_owned());
    assert_eq!(told().await, Some((HoldReason::Auth, None, code.clone())));
    let by_hand = HoldLane {
        actor: admin(),
        code: None,
        ..hold(lane, HoldReason::Operator)
    };
    t.store.hold_lane(by_hand).await.unwrap();
    let admin_said = Some(admin().as_str().to_owned());
    let stopped = Some((HoldReason::Operator, admin_said.clone(), None));
    assert_eq!(told().await, stopped);
    let mut new = provider.provider.clone();
    let saved = t.store.put_provider(&new, Some(provider.version), &admin()).await;
    assert_eq!(told().await, stopped, "new settings do not end a person's hold");
    t.store.resume_lane(lane, None, &admin()).await.unwrap();
    assert_eq!(told().await, None);
    new.enabled = false;
    let version = Some(saved.unwrap().version);
    let saved = t.store.put_provider(&new, version, &admin()).await.unwrap();
    assert_eq!(told().await, Some((HoldReason::Disabled, admin_said, None)));
    new.enabled = true;
    t.store
        .put_provider(&new, Some(saved.version), &admin())
        .await
        .unwrap();
    assert_eq!(told().await, None);
}

pub async fn a_second_hold_for_the_same_reason_is_the_same_hold(t: &TestStore) {
    let lane = t.lane("mail").await;
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    let first = hold_of(t, lane).await;
    t.clock.advance(SECOND);
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    assert_eq!(hold_of(t, lane).await, first);
}

pub async fn a_hold_for_another_reason_does_not_replace_the_first(t: &TestStore) {
    let lane = t.lane("mail").await;
    assert!(t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap());
    assert!(!t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    assert_eq!(hold_of(t, lane).await.unwrap().reason, HoldReason::Operator);
}

pub async fn an_operators_hold_replaces_one_the_system_set(t: &TestStore) {
    let lane = t.lane("mail").await;
    assert!(t.store.hold_lane(hold(lane, HoldReason::Auth)).await.unwrap());
    t.clock.advance(SECOND);
    assert!(t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap());
    let held = hold_of(t, lane).await.unwrap();
    assert_eq!((held.reason, held.since), (HoldReason::Operator, t.clock.now()));
    assert_eq!((held.next_probe, held.probes), (None, 0));
}

pub async fn a_resume_can_insist_on_the_reason(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.store.hold_lane(hold(lane, HoldReason::Operator)).await.unwrap();
    let only_auth = t.store.resume_lane(lane, Some(HoldReason::Auth), &admin()).await;
    assert!(!only_auth.unwrap());
    assert!(hold_of(t, lane).await.is_some());
    assert!(
        t.store
            .resume_lane(lane, Some(HoldReason::Operator), &admin())
            .await
            .unwrap()
    );
    assert_eq!(hold_of(t, lane).await, None);
    assert!(
        !t.store.resume_lane(lane, None, &admin()).await.unwrap(),
        "there is no hold any more"
    );
}

pub async fn resuming_lets_rows_out_again(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.hold_lane(hold(lane, HoldReason::Billing)).await.unwrap();
    assert_eq!(t.claim(lane, 1).await, []);
    assert!(t.store.resume_lane(lane, None, &admin()).await.unwrap());
    let claimed = t.claim_one(lane).await;
    assert_eq!(claimed.attempts, 0, "waiting in a held lane costs nothing");
}

pub async fn a_lane_has_one_owner_until_its_time_is_up(t: &TestStore) {
    let lane = t.lane("mail").await;
    let own = |node| t.store.own_lane(lane, node, MINUTE);
    assert_eq!(own("n1").await.unwrap(), Owned::First);
    assert_eq!(own("n2").await.unwrap(), Owned::ByAnother);
    t.clock.advance(MINUTE - SECOND);
    assert_eq!(own("n1").await.unwrap(), Owned::Still);
    t.clock.advance(MINUTE - SECOND);
    assert_eq!(own("n2").await.unwrap(), Owned::ByAnother);
    t.clock.advance(SECOND);
    assert_eq!(own("n2").await.unwrap(), Owned::TakenOver);
    assert_eq!(own("n1").await.unwrap(), Owned::ByAnother);
}

pub async fn holds_are_audited(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.store.hold_lane(hold(lane, HoldReason::Quota)).await.unwrap();
    t.clock.advance(SECOND);
    t.store
        .resume_lane(lane, None, &Actor::new("key:ann"))
        .await
        .unwrap();
    let page = Page {
        limit: 2,
        after: None,
    };
    let log = t
        .store
        .audit(TENANT, &AuditFilter::default(), page)
        .await
        .unwrap()
        .rows;
    assert_eq!(
        (log[0].kind, log[0].actor.as_str()),
        (AuditKind::LaneResumed, "key:ann")
    );
    assert_eq!(
        (log[1].kind, log[1].actor.as_str()),
        (AuditKind::LaneHeld, "system")
    );
    for row in &log {
        assert_eq!(
            (row.target.as_deref(), row.code.as_deref()),
            (Some("mail"), Some("quota"))
        );
    }
}

pub async fn waiting_rows_are_counted_per_lane(t: &TestStore) {
    let (a, b) = (t.lane("a").await, t.lane("b").await);
    t.send_many(a, 3).await;
    t.store.pause_lane(b, HOUR).await.unwrap();
    let lanes = t.store.lanes(TENANT).await.unwrap();
    let mut seen: Vec<_> = lanes
        .iter()
        .map(|l| (l.provider.as_str(), l.waiting, l.not_before))
        .collect();
    seen.sort();
    assert_eq!(seen, [("a", 3, None), ("b", 0, Some(t.clock.now() + HOUR))]);
    assert!(lanes.iter().all(|l| l.tenant == TENANT && l.config_version == 1));
}

pub async fn a_lane_that_does_not_exist_cannot_be_held(t: &TestStore) {
    let nowhere = LaneId(987_654);
    assert!(!t.store.hold_lane(hold(nowhere, HoldReason::Auth)).await.unwrap());
    assert!(!t.store.resume_lane(nowhere, None, &admin()).await.unwrap());
}

pub async fn a_lane_is_tried_at_once_when_somebody_asks(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    t.record(retry(&claimed, HOUR)).await;
    t.store.pause_lane(lane, HOUR).await.unwrap();
    assert_eq!(t.store.try_lane(lane, &admin()).await.unwrap(), Some(1));
    assert_eq!(t.claim_one(lane).await.id, id);
    assert_eq!(t.store.try_lane(LaneId(i64::MAX), &admin()).await.unwrap(), None);
}

pub async fn trying_a_held_lane_makes_its_probe_due_and_ends_no_hold_of_a_person(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.store.hold_lane(hold(lane, HoldReason::Down)).await.unwrap();
    t.store.try_lane(lane, &admin()).await.unwrap().unwrap();
    let held = hold_of(t, lane).await.unwrap();
    assert_eq!(
        (held.reason, held.next_probe),
        (HoldReason::Down, Some(t.clock.now()))
    );
    let other = t.lane("other").await;
    t.store
        .hold_lane(hold(other, HoldReason::Operator))
        .await
        .unwrap();
    let refused = t.store.try_lane(other, &admin()).await.unwrap_err();
    assert!(matches!(refused, store::Error::Conflict(_)), "{refused}");
}

pub async fn a_busy_provider_hides_no_failing_one(t: &TestStore) {
    let (busy, failing) = (t.lane("mail").await, t.lane("hook").await);
    let since = t.clock.now();
    let of_hook = |record: AttemptRecord, code: Option<&str>| AttemptRecord {
        attempt: record.attempt.map(|attempt| AttemptAudit {
            target: "hook".into(),
            code: code.map(str::to_owned),
            ..attempt
        }),
        ..record
    };
    t.send(failing).await;
    let first = t.claim_one(failing).await;
    t.record(of_hook(delivered(&first), None)).await;
    t.clock.advance(SECOND);
    t.send_many(failing, 6).await;
    for claimed in t.claim(failing, 6).await {
        t.record(of_hook(retry(&claimed, HOUR), Some("HTTP_503"))).await;
        t.clock.advance(SECOND);
    }
    t.send_many(busy, 220).await;
    for claimed in t.claim(busy, 220).await {
        t.record(delivered(&claimed)).await;
    }
    let both = ["hook".to_owned(), "mail".to_owned()];
    let codes = async |since| {
        let made = t.store.last_attempts(TENANT, &both, since).await.unwrap();
        let of = |provider: &str| -> Vec<_> {
            let of_it = made.iter().filter(|one| one.provider == provider);
            of_it.map(|one| one.code.clone()).collect()
        };
        (of("hook"), of("mail"))
    };
    let failed = Some("HTTP_503".to_owned());
    assert_eq!(codes(since).await, (vec![failed.clone(); 5], vec![None; 5]));
    let none = t.store.last_attempts(TENANT, &both, t.clock.now() + SECOND).await;
    assert_eq!(none.unwrap(), [], "what was before says nothing");
    // Two that were delivered since come first.
    t.clock.advance(SECOND);
    t.send_many(failing, 2).await;
    for claimed in t.claim(failing, 2).await {
        t.record(of_hook(delivered(&claimed), None)).await;
    }
    let mixed = vec![None, None, failed.clone(), failed.clone(), failed];
    assert_eq!(codes(since).await.0, mixed);
}
