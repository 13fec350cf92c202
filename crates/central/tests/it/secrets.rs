//! Secrets stay secret, survive a change of key, and a node without the key parks nothing.

use crate::world::{TENANT, World, secs};
use central::{
    Settings,
    providers::{MASK, ProviderService},
    secrets::{Sealer, SealingKey},
};
use domain::{Channel, ProviderId, Status};
use testkit::{FarEnd, Reply, TempStore, a_notification};

fn key(n: u8) -> SealingKey {
    SealingKey::from_bytes([n; 32])
}

async fn world_with(temp: TempStore, sealer: Sealer) -> World {
    let (mail, hook) = (
        FarEnd::new("test-mail", Channel::Email),
        FarEnd::new("test-hook", Channel::Webhook),
    );
    World::over(temp, mail, hook, Settings::named("node-1"), sealer)
}

async fn set_up(world: &World) {
    world.list("ops", &["ops@example.com"]).await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("password".into(), "hunter2".into());
        })
        .await;
}

#[tokio::test]
async fn a_stored_secret_is_sealed_masked_and_kept_when_an_update_leaves_it_out() {
    let mut world = world_with(TempStore::open(), Sealer::new(key(1), vec![])).await;
    set_up(&world).await;
    world
        .provider("mail", "test-mail", |draft| {
            draft.settings.insert("tls".into(), "none".into());
            draft.settings.insert("password".into(), MASK.into());
        })
        .await;
    let stored = world
        .central
        .store
        .provider(TENANT, &ProviderId::new("mail"))
        .await
        .unwrap()
        .unwrap();
    assert!(!format!("{stored:?}").contains("hunter2"));
    assert_eq!(
        ProviderService::masked_settings(&stored.provider)["password"],
        MASK
    );
    world.mail.script(|_, settings| {
        assert_eq!(settings["password"], "hunter2");
        Reply::accepted()
    });
    world.send(a_notification()).await;
    assert_eq!(world.sweep().await.delivered, 1);
}

#[tokio::test]
async fn old_rows_open_after_a_change_of_key_and_resealing_makes_the_old_key_unnecessary() {
    let world = world_with(TempStore::open(), Sealer::new(key(1), vec![])).await;
    set_up(&world).await;
    let world = world_with(world.temp, Sealer::new(key(2), vec![key(1)])).await;
    assert_eq!(world.central.providers.reseal().await.unwrap(), (1, vec![]));
    assert_eq!(world.central.providers.reseal().await.unwrap(), (0, vec![]));
    let mut world = world_with(world.temp, Sealer::new(key(2), vec![])).await;
    world.mail.script(|_, settings| {
        assert_eq!(settings["password"], "hunter2");
        Reply::accepted()
    });
    world.send(a_notification()).await;
    assert_eq!(world.sweep().await.delivered, 1);
}

#[tokio::test]
async fn a_node_that_cannot_open_a_secret_leaves_the_lane_alone_and_parks_nothing() {
    let world = world_with(TempStore::open(), Sealer::new(key(1), vec![])).await;
    set_up(&world).await;
    let mut world = world_with(world.temp, Sealer::new(key(9), vec![])).await;
    let id = world.send(a_notification()).await;
    world.sweep().await;
    world.advance(secs(3600));
    world.sweep().await;
    let waiting = world.get(id).await;
    assert_eq!((waiting.status, waiting.retry_count), (Status::Pending, 0));
    let mut world = world_with(world.temp, Sealer::new(key(1), vec![])).await;
    assert_eq!(world.sweep().await.delivered, 1);
}

#[tokio::test]
async fn what_an_earlier_version_stored_in_clear_is_sealed_and_still_works() {
    let mut world = world_with(TempStore::open(), Sealer::new(key(1), vec![])).await;
    set_up(&world).await;
    let (store, id) = (world.central.store.clone(), ProviderId::new("mail"));
    let stored = store.provider(TENANT, &id).await.unwrap().unwrap();
    let clear = serde_json::json!({
        "host": "relay", "oauth.clientSecret": "hunter3", "oauth": {"tokenUrl": "https://id.example"},
        "hook": "https://hooks.example.com/T0KEN",
    });
    let clear = clear.as_object().unwrap();
    let put = store.reseal_provider(TENANT, &id, stored.version, clear, &stored.provider.secrets);
    assert!(put.await.unwrap());
    let sealed = world.central.providers.seal_stored().await.unwrap();
    assert_eq!(sealed, std::slice::from_ref(&id));
    assert_eq!(world.central.providers.seal_stored().await.unwrap(), []);
    let sealed = store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(sealed.version, stored.version, "nothing changed for the lane");
    let all = format!("{sealed:?}");
    assert!(!all.contains("hunter3") && !all.contains("T0KEN"), "{all}");
    assert_eq!(sealed.provider.settings["hook"], "https://hooks.example.com/•••");
    world.mail.script(|_, settings| {
        assert_eq!(settings["password"], "hunter2");
        assert_eq!(settings["oauth"]["clientSecret"], "hunter3");
        assert_eq!(settings["hook"], "https://hooks.example.com/T0KEN");
        Reply::accepted()
    });
    world.send(a_notification()).await;
    assert_eq!(world.sweep().await.delivered, 1);
}
