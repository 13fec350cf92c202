//! Lanes do not get in each other's way.

use crate::{
    size,
    world::{TENANT, World, secs},
};
use central::{Central, Settings, secrets::Sealer};
use delivery::Registry;
use domain::{Channel, Failure, Limits, Scope};
use testkit::{Reply, a_notification};

#[tokio::test]
async fn a_dead_lane_does_not_slow_a_healthy_one() {
    let mut world = World::new().await;
    // Every connect to the mail server hangs; nothing opens the gate until the webhooks are through.
    world
        .mail
        .script(|_, _| Reply::AtGate(Failure::transient(Scope::Lane, "TIMEOUT", "no answer").into()));
    for _ in 0..400 {
        world.send(a_notification()).await;
    }
    for _ in 0..400 {
        world.send(a_notification().by(Channel::Webhook)).await;
    }
    let (mail, hook) = (world.mail.clone(), world.hook.clone());
    let watch = async {
        while hook.received().len() < 400 {
            tokio::task::yield_now().await;
        }
        let stuck_in_mail = mail.received().len();
        mail.open_gate();
        stuck_in_mail
    };
    let (_, stuck_in_mail) = tokio::join!(world.dispatcher.sweep(), watch);
    assert!(
        stuck_in_mail <= 1,
        "the dead lane had {stuck_in_mail} under way before it was heard of"
    );
    assert_eq!(world.hook.received().len(), 400);
}

/// A world whose webhooks go out at five a second; so many wait.
async fn at_five_a_second(waiting: usize) -> World {
    let world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.limits = Some(Limits {
                concurrency: 32,
                per_second: Some(5.0),
            });
        })
        .await;
    for _ in 0..waiting {
        world.send(a_notification().by(Channel::Webhook)).await;
    }
    world
}

/// Another node on the same store.
fn another_node(world: &World) -> Central {
    let kinds = vec![world.mail.kind(), world.hook.kind()];
    Central::new(
        world.temp.store.clone(),
        Registry::new(kinds).unwrap(),
        Sealer::ephemeral(),
        world.temp.clock.clone(),
        Settings::named("node-2"),
    )
}

#[tokio::test]
async fn a_rate_limit_is_kept() {
    let mut world = at_five_a_second(12).await;
    let mut per_second = vec![];
    for _ in 0..3 {
        per_second.push(world.sweep().await.delivered);
        world.advance(secs(1));
    }
    assert_eq!(per_second, [5, 5, 2]);
}

#[tokio::test]
async fn a_node_that_takes_over_a_lane_with_a_rate_begins_with_an_empty_bucket() {
    let mut world = at_five_a_second(12).await;
    assert_eq!(world.sweep().await.delivered, 5);
    let other = another_node(&world);
    let mut other = other.dispatcher();
    assert_eq!(other.sweep().await.unwrap().rows(), 0, "the first node's");
    // The first node is gone. What it let through last is not known to the second.
    world.advance(secs(31));
    let mut per_second = vec![];
    for _ in 0..3 {
        per_second.push(other.sweep().await.unwrap().delivered);
        world.advance(secs(1));
    }
    assert_eq!(per_second, [0, 5, 2]);
}

#[tokio::test]
async fn a_node_that_gets_a_lane_with_a_rate_back_begins_with_an_empty_bucket() {
    let mut world = at_five_a_second(17).await;
    let other = another_node(&world);
    let mut other = other.dispatcher();
    assert_eq!(world.sweep().await.delivered, 5);
    // The first node stands still, and the second takes the lane over.
    world.advance(secs(31));
    assert_eq!(other.sweep().await.unwrap().delivered, 0);
    world.advance(secs(1));
    assert_eq!(other.sweep().await.unwrap().delivered, 5);
    // Now the second one does.
    world.advance(secs(31));
    assert_eq!(world.sweep().await.delivered, 0);
    world.advance(secs(1));
    assert_eq!(world.sweep().await.delivered, 5);
}

#[tokio::test]
async fn a_node_that_is_started_again_begins_with_an_empty_bucket_in_a_lane_that_is_still_its_own() {
    let mut world = at_five_a_second(17).await;
    assert_eq!(world.sweep().await.delivered, 5);
    world.advance(secs(16));
    assert_eq!(world.sweep().await.delivered, 5, "it knows what is left");
    world.dispatcher = world.central.dispatcher();
    assert_eq!(world.sweep().await.delivered, 0);
    world.advance(secs(1));
    assert_eq!(world.sweep().await.delivered, 5);
}

#[tokio::test]
async fn no_more_than_the_lanes_concurrency_is_under_way_at_once() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.limits = Some(Limits {
                concurrency: 2,
                per_second: None,
            });
        })
        .await;
    // A lane that has not been heard of has one attempt under way at most.
    world.send(a_notification().by(Channel::Webhook)).await;
    world.sweep().await;
    world
        .hook
        .script(|_, _| Reply::AtGate(domain::Outcome::Delivered(Default::default())));
    for _ in 0..10 {
        world.send(a_notification().by(Channel::Webhook)).await;
    }
    let hook = world.hook.clone();
    let watch = async {
        hook.waiting(2).await;
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        let under_way = hook.received().len() - 1;
        hook.open_gate();
        under_way
    };
    let (tally, under_way) = tokio::join!(world.dispatcher.sweep(), watch);
    assert_eq!(under_way, 2);
    assert_eq!(tally.unwrap().delivered, 10);
}

#[tokio::test]
async fn what_was_claimed_ahead_goes_back_uncounted_when_the_far_end_fails() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.limits = Some(Limits {
                concurrency: 16,
                per_second: None,
            });
        })
        .await;
    for _ in 0..32 {
        world.send(a_notification().by(Channel::Webhook)).await;
    }
    assert_eq!(world.sweep().await.delivered, 32, "the window is wide open");
    let busy = || Failure::transient(Scope::Lane, "HTTP_503", "busy");
    world.hook.script(move |_, _| Reply::AtGate(busy().into()));
    let mut ids = vec![];
    for _ in 0..32 {
        ids.push(world.send(a_notification().by(Channel::Webhook)).await);
    }
    let hook = world.hook.clone();
    let watch = async {
        hook.waiting(16).await;
        hook.open_gate();
    };
    let (tally, ()) = tokio::join!(world.dispatcher.sweep(), watch);
    assert_eq!(tally.unwrap().released, 16, "those that waited for a place");
    assert_eq!(world.hook.received().len(), 32 + 16, "and were not sent");
    let mut attempts = vec![];
    for id in &ids {
        attempts.push(world.get(*id).await.retry_count);
    }
    attempts.sort_unstable();
    assert_eq!(attempts[..16], [0; 16]);
    world.hook.accepts();
    for _ in 0..40 {
        world.advance(secs(60));
        world.sweep().await;
    }
    for id in ids {
        assert_eq!(world.status(id).await, domain::Status::Delivered);
    }
}

#[tokio::test]
async fn the_oldest_goes_first_within_a_lane() {
    let mut world = World::new().await;
    world
        .provider("hook", "test-hook", |draft| {
            draft.limits = Some(Limits {
                concurrency: 1,
                per_second: None,
            });
        })
        .await;
    let mut sent = vec![];
    for _ in 0..20 {
        sent.push(world.send(a_notification().by(Channel::Webhook)).await);
        world.advance(secs(1));
    }
    world.sweep().await;
    let order: Vec<_> = world.hook.received().iter().map(|m| m.id).collect();
    assert_eq!(order, sent);
}

#[tokio::test]
async fn another_tenants_id_is_no_duplicate_and_its_rows_are_not_seen() {
    let mut world = World::new().await;
    let other = world
        .central
        .store
        .create_tenant("other", &crate::world::somebody())
        .await
        .unwrap()
        .id;
    let id = world.send(a_notification()).await;
    let mut twin = a_notification().tenant(other);
    twin.0.id = id;
    world.send(twin).await;
    world.sweep().await;
    assert_eq!(world.mail.received().len(), 1, "the other tenant has no provider");
    assert!(world.central.store.get(other, id).await.unwrap().is_some());
    let mine = world
        .central
        .store
        .kpis(Some(TENANT), world.central.settings.kpi)
        .await
        .unwrap();
    let theirs = world
        .central
        .store
        .kpis(Some(other), world.central.settings.kpi)
        .await
        .unwrap();
    assert_eq!((mine.parked_count, theirs.parked_count), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_with_a_hundred_times_the_messages_leaves_the_others_their_turns() {
    const CONCURRENCY: usize = 32;
    let few: usize = size::pick(5, 20);
    let mut world = World::new().await;
    let latency = std::time::Duration::from_millis(50);
    world
        .hook
        .script(move |_, _| Reply::After(latency, domain::Outcome::Delivered(Default::default())));
    let mut tenants = vec![TENANT];
    for i in 1..10 {
        let actor = crate::world::somebody();
        let store = &world.central.store;
        let tenant = store
            .create_tenant(&format!("small-{i}"), &actor)
            .await
            .unwrap()
            .id;
        let draft = central::providers::ProviderDraft {
            id: Some("hook".into()),
            kind: "test-hook".into(),
            ..Default::default()
        };
        world
            .central
            .providers
            .create(tenant, draft, &actor)
            .await
            .unwrap();
        tenants.push(tenant);
    }
    let mut owner = std::collections::HashMap::new();
    for (i, tenant) in tenants.iter().enumerate() {
        let n = if i == 0 { 100 * few } else { few };
        let all: Vec<_> = (0..n)
            .map(|_| a_notification().by(Channel::Webhook).tenant(*tenant).0)
            .collect();
        let ids: Vec<_> = all.iter().map(|n| n.id).collect();
        world.central.ingest.submit(all).await.unwrap();
        owner.extend(ids.into_iter().map(|id| (id, *tenant)));
    }
    world.sweep().await;
    let order: Vec<_> = world.hook.received().iter().map(|m| owner[&m.id]).collect();
    for tenant in &tenants[1..] {
        let places = order.iter().enumerate().filter(|(_, of)| *of == tenant);
        for (k, (place, _)) in places.enumerate() {
            let bound = 10 * (k + 1 + CONCURRENCY);
            assert!(
                place < bound,
                "delivery {} of {tenant:?} was the {place}th of all",
                k + 1
            );
        }
    }
}
