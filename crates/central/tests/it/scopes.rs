//! What a failure stops: a lane, a recipient, a template. Nothing else waits for it, and nothing is parked for it.

use crate::{
    size,
    world::{TENANT, World, secs, somebody},
};
use domain::{
    Accepted, Channel, Clock, Failure, Hold, HoldReason, Limits, NotificationId, OnAmbiguous, Outcome,
    ProviderId, RecipientReport, Scope, Status, WaitReason,
};
use testkit::{Reply, a_notification};

async fn send_many(world: &World, n: usize) -> Vec<NotificationId> {
    let all: Vec<_> = (0..n).map(|_| a_notification().by(Channel::Webhook).0).collect();
    for batch in all.chunks(500) {
        world.central.ingest.submit(batch.to_vec()).await.unwrap();
    }
    all.into_iter().map(|notification| notification.id).collect()
}

async fn hold_of(world: &World, provider: &str) -> Option<Hold> {
    let id = ProviderId::new(provider);
    let found = world.central.store.provider(TENANT, &id).await;
    found.unwrap().unwrap().hold
}

async fn costs_money(world: &World) {
    world
        .provider("hook", "test-hook", |draft| {
            draft.on_ambiguous = Some(OnAmbiguous::Park)
        })
        .await;
}

/// Thousands wait for a provider in this trouble: none is parked, the lane is held with the reason, one probe at a time
/// goes out, and everything else when somebody has put it right.
async fn thousands_wait_for(refusal: Failure, reason: HoldReason) {
    let mut world = World::new().await;
    world
        .hook
        .script(move |_, settings| match settings.get("password").is_some() {
            true => Reply::accepted(),
            false => Reply::Now(refusal.clone().into()),
        });
    let n = size::pick(2_000, 10_000);
    let ids = send_many(&world, n).await;
    let tally = world.sweep().await;
    assert_eq!((tally.parked, tally.delivered), (0, 0));
    let asked = world.hook.received().len();
    assert!(asked <= 10, "{asked} were asked for before the lane was held");
    for probes in 1..=3 {
        let hold = hold_of(&world, "hook").await.expect("held");
        assert_eq!((hold.reason, hold.probes), (reason, probes - 1));
        let wait = hold.next_probe.unwrap().since(world.temp.clock.now());
        world.advance(wait);
        let tally = world.sweep().await;
        assert_eq!((tally.rows(), tally.waiting), (1, 1), "one probe");
        assert_eq!(world.hook.received().len(), asked + probes as usize);
    }
    world
        .provider("hook", "test-hook", |draft| {
            draft.settings.insert("password".into(), "new".into());
        })
        .await;
    assert_eq!(world.sweep().await.delivered, n as u64);
    assert_eq!(
        world.get(ids[0]).await.retry_count,
        1,
        "the one that delivered it"
    );
}

#[tokio::test]
async fn an_expired_token_parks_none_of_thousands() {
    let expired = Failure::permanent(Scope::Lane, "AUTH_FAILED", "expired").holding(HoldReason::Auth);
    thousands_wait_for(expired, HoldReason::Auth).await;
}

#[tokio::test]
async fn a_webhook_that_is_gone_parks_none_of_thousands() {
    let gone = Failure::permanent(Scope::Lane, "INVALID_CONFIG", "no_service").holding(HoldReason::Config);
    thousands_wait_for(gone, HoldReason::Config).await;
}

#[tokio::test]
async fn a_used_up_quota_parks_none_of_thousands() {
    let used_up = Failure::permanent(Scope::Lane, "QUOTA", "come back tomorrow")
        .holding(HoldReason::Quota)
        .after(Some(secs(7200)));
    thousands_wait_for(used_up, HoldReason::Quota).await;
}

#[tokio::test]
async fn a_service_that_hangs_where_messages_cost_money_leaves_few_in_doubt() {
    let mut world = World::new().await;
    costs_money(&world).await;
    let silent = || Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer");
    world.hook.answers(silent().into());
    let n = size::pick(1_000, 10_000);
    let ids = send_many(&world, n).await;
    let in_doubt = world.sweep().await.parked;
    let in_flight = 1;
    assert!(
        in_doubt <= in_flight + 5,
        "{in_doubt} may or may not have gone out"
    );
    let hold = hold_of(&world, "hook")
        .await
        .expect("held although its rows parked");
    assert_eq!(hold.reason, HoldReason::Down);
    for probes in 1..=4 {
        world.advance(secs(3600));
        assert_eq!(world.sweep().await.rows(), 1, "one probe at a time");
        let hold = hold_of(&world, "hook").await.expect("still held");
        assert_eq!(hold.probes, probes, "the probe moved although its own row parked");
    }
    world.hook.accepts();
    world.advance(secs(3600));
    world.sweep().await;
    let mut parked = 0;
    for id in ids {
        let row = world.get(id).await;
        if row.status == Status::Parked {
            assert_eq!(row.last_code.as_deref(), Some("AMBIGUOUS"));
            parked += 1;
        } else {
            assert_eq!(row.status, Status::Delivered);
        }
    }
    assert_eq!(parked, in_doubt + 4);
}

#[tokio::test]
async fn a_lane_that_wants_less_is_never_down_and_costs_no_try() {
    let mut world = World::new().await;
    world
        .hook
        .answers(Failure::transient(Scope::Lane, "RATE_LIMITED", "slow down").into());
    let ids = send_many(&world, 20).await;
    let mut asked = vec![];
    for _ in 0..8 {
        world.sweep().await;
        asked.push(world.hook.received().len());
        world.advance(secs(3960));
    }
    assert!(asked.iter().all(|n| *n <= 8 * 4), "{asked:?}");
    let row = world.get(ids[0]).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    assert_eq!(row.last_code.as_deref(), Some("RATE_LIMITED"));
    assert_eq!(hold_of(&world, "hook").await, None);
    world.hook.accepts();
    assert_eq!(world.sweep().await.delivered, 20);
}

#[tokio::test]
async fn the_pause_of_one_recipient_concerns_nobody_else() {
    let mut world = World::new().await;
    let slow = Failure::transient(Scope::Recipient, "RATE_LIMITED", "pair rate limit").after(Some(secs(120)));
    world.mail.script(
        move |message, _| match message.targets.contains(&"ann@x".to_owned()) {
            true => Reply::Now(slow.clone().into()),
            false => Reply::accepted(),
        },
    );
    let first = world.send(a_notification().to(&["ann@x"])).await;
    world.sweep().await;
    world.mail.accepts();
    let second = world.send(a_notification().to(&["ann@x"])).await;
    let other = world.send(a_notification().to(&["bob@x"])).await;
    let both = world.send(a_notification().to(&["ann@x", "bob@x"])).await;
    let tally = world.sweep().await;
    assert_eq!((tally.delivered, tally.postponed), (1, 2));
    assert_eq!(world.status(other).await, Status::Delivered);
    let waits = world.get(second).await;
    assert_eq!((waits.status, waits.retry_count), (Status::Pending, 0));
    assert_eq!(waits.last_code.as_deref(), Some("RATE_LIMITED"));
    let why = central::waiting::of(&world.central.directory, &waits, world.temp.clock.now());
    assert_eq!(why.await.unwrap().unwrap().reason, WaitReason::Throttled);
    let partly = world.get(both).await;
    assert_eq!(partly.recipients.len(), 1, "bob has it, ann was not asked for");
    world.advance(secs(132));
    assert_eq!(world.sweep().await.delivered, 3);
    for id in [first, second, both] {
        assert_eq!(world.status(id).await, Status::Delivered);
    }
    let to_bob = world.mail.received();
    let to_bob = to_bob.iter().filter(|m| m.targets.contains(&"bob@x".to_owned()));
    assert_eq!(to_bob.count(), 2, "nobody gets it twice");
}

#[tokio::test]
async fn a_paused_template_keeps_only_its_own_messages() {
    let mut world = World::new().await;
    let paused = Failure::transient(Scope::Template, "TEMPLATE", "paused").after(Some(secs(3600)));
    world.hook.answers(paused.into());
    let of = |name: &str| {
        let mut notification = a_notification().by(Channel::Webhook);
        notification.0.content.type_data = Some(format!(r#"{{"template": {{"name": "{name}"}}}}"#));
        notification
    };
    world.send(of("offer")).await;
    world.sweep().await;
    world.hook.accepts();
    let waits = world.send(of("offer")).await;
    world.send(of("bill")).await;
    let tally = world.sweep().await;
    assert_eq!((tally.delivered, tally.postponed), (1, 1));
    let waits = world.get(waits).await;
    let why = central::waiting::of(&world.central.directory, &waits, world.temp.clock.now());
    assert_eq!(why.await.unwrap().unwrap().reason, WaitReason::Template);
    world.advance(secs(3960));
    assert_eq!(world.sweep().await.delivered, 2);
}

#[tokio::test]
async fn thousands_at_the_wrong_hour_are_not_sent_not_counted_and_come_back_at_the_lanes_rate() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.limits = Some(Limits {
                concurrency: 8,
                per_second: Some(50.0),
            });
        })
        .await;
    let opens = world.temp.clock.now() + secs(11 * 3600);
    world.hook.opens_at(opens);
    let n = size::pick(2_000, 10_000);
    let ids = send_many(&world, n).await;
    assert_eq!(world.sweep().await.postponed, n as u64);
    assert_eq!(world.hook.received().len(), 0);
    let row = world.get(ids[n - 1]).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    assert_eq!(row.last_code.as_deref(), Some("OUTSIDE_HOURS"));
    let mut due = vec![];
    for id in &ids {
        due.push(world.get(*id).await.next_attempt_at.unwrap());
    }
    due.sort();
    assert_eq!(due[0], opens);
    let spread = due[n - 1].since(opens);
    assert!(spread >= secs(n as u64 / 50 - 1), "{spread:?}");
    world.advance(secs(11 * 3600 + 1));
    let sent = world.sweep().await.delivered;
    assert!((1..=100).contains(&sent), "{sent} in the first second");
}

#[tokio::test]
async fn what_would_be_over_by_the_time_the_hours_begin_is_parked_now() {
    let mut world = World::new().await;
    let now = world.temp.clock.now();
    world.hook.opens_at(now + secs(3600));
    let soon = a_notification().by(Channel::Webhook).expires_at(now + secs(600));
    let id = world.send(soon).await;
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("EXPIRED"));
}

#[tokio::test]
async fn after_a_failure_of_the_service_the_other_recipients_stay_open_and_uncounted() {
    let mut world = World::new().await;
    let down = Failure::transient(Scope::Lane, "PROVIDER_ERROR", "503");
    world.mail.script(move |message, _| {
        let reports = [
            RecipientReport {
                address: message.targets[0].clone(),
                result: Ok(Accepted::default()),
            },
            RecipientReport {
                address: message.targets[1].clone(),
                result: Err(down.clone()),
            },
        ];
        Reply::Now(Outcome::Mixed(reports.into()))
    });
    let id = world.send(a_notification().to(&["a@x", "b@x", "c@x"])).await;
    world.sweep().await;
    let row = world.get(id).await;
    let tries: Vec<_> = row.recipients.iter().map(|r| (&*r.address, r.tries)).collect();
    assert_eq!(tries, [("a@x", 1), ("b@x", 1)]);
    world.mail.accepts();
    world.advance(secs(60));
    world.sweep().await;
    assert_eq!(world.mail.received()[1].targets, ["b@x", "c@x"]);
    assert_eq!(world.status(id).await, Status::Delivered);
}

#[tokio::test]
async fn trying_now_asks_for_whoever_waits_for_a_try_and_leaves_who_is_paused() {
    let mut world = World::new().await;
    world.mail.script(|message, _| {
        let busy = || Failure::transient(Scope::Recipient, "RATE_LIMITED", "less").after(Some(secs(3600)));
        let slow = || Failure::transient(Scope::Recipient, "RECIPIENT", "not now");
        let reports = message.targets.iter().map(|address| RecipientReport {
            address: address.clone(),
            result: Err(if address == "busy@x" { busy() } else { slow() }),
        });
        Reply::Now(Outcome::Mixed(reports.collect()))
    });
    let id = world.send(a_notification().to(&["busy@x", "slow@x"])).await;
    world.sweep().await;
    let before = world.mail.received().len();
    let acted = world.central.operator.try_now(TENANT, id, &somebody()).await;
    assert_eq!(acted.unwrap(), store::operator::Acted::Done);
    world.sweep().await;
    let asked = world.mail.received()[before..].to_vec();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].targets,
        ["slow@x"],
        "the service asked for less to the other"
    );
    let row = world.get(id).await;
    assert!(row.next_attempt_at.is_some_and(|at| at > world.temp.clock.now()));
}
