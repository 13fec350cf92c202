//! A message for a provider that could not take it: refused while its sender listens, parked with the reason when nobody
//! does.

use crate::world::{TENANT, World};
use central::{Settings, ingest::Submitted, secrets::Sealer};
use delivery::{Captured, Outside, Registry};
use domain::{Channel, HoldReason, ProviderId, Status, SystemClock, Target};
use serde_json::json;
use std::sync::Arc;
use testkit::{FarEnd, TempStore, a_notification};

/// With a Home Assistant that nothing ever reaches.
async fn world() -> World {
    let standard = Registry::standard(Arc::new(Outside::new(Arc::new(SystemClock))), Captured::default());
    let kinds = standard.iter().cloned().collect();
    let (mail, hook) = (
        FarEnd::new("test-mail", Channel::Email),
        FarEnd::new("test-hook", Channel::Webhook),
    );
    let settings = Settings::named("node-1");
    let world = World::with_kinds(
        TempStore::open(),
        mail,
        hook,
        kinds,
        settings,
        Sealer::ephemeral(),
    );
    let settings = json!({"url": "http://homeassistant.example:8123", "token": "t"});
    world
        .provider("home", "homeassistant", |draft| {
            draft.settings = settings.as_object().unwrap().clone();
        })
        .await;
    world
}

fn unlocking() -> domain::Submission {
    let mut submission = a_notification().by(Channel::HomeAssistant).0;
    submission.content.target = Target::Provider;
    submission.content.type_data = Some(json!({"service": "lock.unlock"}).to_string());
    submission
}

#[tokio::test]
async fn what_a_kind_could_not_send_is_refused_by_field_and_nothing_is_stored() {
    let world = world().await;
    let submission = unlocking();
    let id = submission.id;
    let answers = world.central.ingest.submit(vec![submission]).await.unwrap();
    let Submitted::Refused(problems) = &answers[0] else {
        panic!("{answers:?}")
    };
    assert_eq!(problems[0].field, "typeData.service");
    assert!(world.central.store.get(TENANT, id).await.unwrap().is_none());
}

#[tokio::test]
async fn what_was_accepted_elsewhere_is_parked_as_validation_with_the_reason() {
    let mut world = world().await;
    let submission = unlocking();
    let id = submission.id;
    let answers = world
        .central
        .ingest
        .submit_accepted(vec![submission])
        .await
        .unwrap();
    assert_eq!(answers, [Submitted::Accepted { id }]);
    assert_eq!(world.sweep().await.parked, 1);
    let parked = world.get(id).await;
    assert_eq!(
        (parked.status, parked.last_code.as_deref()),
        (Status::Parked, Some("VALIDATION"))
    );
    assert!(parked.last_error.unwrap().starts_with("typeData.service: "));
}

#[tokio::test]
async fn a_named_provider_that_is_switched_off_is_refused_and_one_found_by_type_is_waited_for() {
    let mut world = World::new().await;
    let off = |draft: &mut central::providers::ProviderDraft| draft.enabled = Some(false);
    world.provider("mail", "test-mail", off).await;
    let named = a_notification().through("mail").0;
    let answers = world.central.ingest.submit(vec![named.clone()]).await.unwrap();
    let Submitted::Refused(problems) = &answers[0] else {
        panic!("{answers:?}")
    };
    assert_eq!(problems[0].field, "providerId");
    let by_type = world.send(a_notification()).await;
    // Whoever accepted it at a site cannot take that back.
    let from_site = world
        .central
        .ingest
        .submit_accepted(vec![named.clone()])
        .await
        .unwrap();
    assert_eq!(from_site, [Submitted::Accepted { id: named.id }]);
    world.sweep().await;
    for id in [by_type, named.id] {
        let waiting = world.get(id).await;
        assert_eq!(waiting.status, Status::Pending);
        assert_eq!(waiting.held.unwrap().reason, HoldReason::Disabled);
    }
    world.provider("mail", "test-mail", |_| {}).await;
    world.sweep().await;
    let sent = world.get(named.id).await;
    assert_eq!(sent.status, Status::Delivered);
    assert_eq!(sent.submission.content.provider, Some(ProviderId::new("mail")));
}
