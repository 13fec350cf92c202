//! Who may be named for which type.

use crate::world::{TENANT, World};
use central::ingest::Submitted;
use domain::{Channel, Status, Target};
use testkit::{a_notification, fixtures::ANotification};

async fn submit(world: &World, notification: ANotification) -> Submitted {
    let incoming = notification.0;
    world
        .central
        .ingest
        .submit(vec![incoming])
        .await
        .unwrap()
        .remove(0)
}

fn refused_for(answer: &Submitted, field: &str) -> bool {
    matches!(answer, Submitted::Refused(bad) if bad.len() == 1 && bad[0].field == field)
}

#[tokio::test]
async fn recipients_are_refused_for_a_type_that_has_none() {
    let world = World::new().await;
    let mut named = a_notification().by(Channel::Webhook);
    named.0.content.target = Target::Recipients(vec!["a@example.com".into()]);
    let answer = submit(&world, named).await;
    assert!(refused_for(&answer, "to"), "{answer:?}");
    let answer = submit(&world, a_notification().by(Channel::Webhook).to_list("ops")).await;
    assert!(refused_for(&answer, "listName"), "{answer:?}");
    let answer = submit(&world, a_notification().by(Channel::Webhook)).await;
    assert!(matches!(answer, Submitted::Accepted { .. }), "{answer:?}");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_where_it_is_given() {
    let world = World::new().await;
    let to = ["ops@example.com", "rubbish", "a@x.example, b@x.example"];
    let answer = submit(&world, a_notification().to(&to)).await;
    let Submitted::Refused(bad) = answer else {
        panic!("{answer:?}")
    };
    let fields: Vec<_> = bad.iter().map(|p| p.field.as_str()).collect();
    assert_eq!(fields, ["to[1]", "to[2]"]);
}

#[tokio::test]
async fn what_was_taken_in_when_nobody_served_its_type_is_recorded_as_sent_to_nobody_by_name() {
    let mut world = World::new().await;
    let hook = domain::ProviderId::new("hook");
    let somebody = crate::world::somebody();
    world
        .central
        .providers
        .delete(TENANT, &hook, &somebody)
        .await
        .unwrap();
    let id = world
        .send(
            a_notification()
                .by(Channel::Webhook)
                .to(&["a@example.com", "b@example.com"]),
        )
        .await;
    world.sweep().await;
    let parked = world.get(id).await;
    assert_eq!(
        (parked.status, parked.last_code.as_deref()),
        (Status::Parked, Some("NO_PROVIDER"))
    );
    world.provider("hook", "test-hook", |_| {}).await;
    world.requeue(id).await;
    assert_eq!(world.sweep().await.delivered, 1);
    let delivered = world.get(id).await;
    assert!(delivered.resolved_targets.is_empty() && delivered.recipients.is_empty());
    assert!(world.hook.received()[0].targets.is_empty());
}
