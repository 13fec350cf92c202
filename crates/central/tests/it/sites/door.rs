//! Who is let in, and what the other side learns about the database.

use super::{Linked, north, options, refused, serve};
use crate::world::{TENANT, somebody};
use central::sites::Presence;
use domain::Clock;
use link::{Ack, LinkClient, LinkState, Uplink};
use std::sync::Arc;
use testkit::{TempStore, site::a_forward};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn only_the_sites_own_key_opens_the_door() {
    let linked = Linked::new().await;
    let keys = &linked.world.central.keys;
    let admin = keys
        .create(TENANT, "south", store::directory::Role::Admin, &somebody())
        .await
        .unwrap();
    let unknown = refused(&linked, "north", "wp_guess").await;
    assert!(
        unknown.contains("gave a key that central does not know or has revoked"),
        "{unknown}"
    );
    let anothers = refused(&linked, "south", &linked.key).await;
    assert!(
        anothers.contains("site south gave a key that does not belong to it"),
        "{anothers}"
    );
    let not_a_site = refused(&linked, "south", &admin.text).await;
    assert!(not_a_site.contains("does not belong to it"), "{not_a_site}");
}

#[tokio::test]
async fn a_revoked_key_ends_the_session_at_the_next_look() {
    let linked = Linked::new().await;
    let central = &linked.world.central;
    let key = central
        .store
        .keys(TENANT)
        .await
        .unwrap()
        .into_iter()
        .find(|k| k.name == "north")
        .unwrap();
    central.keys.revoke(TENANT, key.id, &somebody()).await.unwrap();
    central.sites.sweep().await.unwrap();
    let mut state = linked.link.state();
    let told = |s: &LinkState| matches!(s, LinkState::Down { why, .. } if why.contains("revoked"));
    state.wait_for(told).await.unwrap();
    let Presence::Offline { why, .. } = linked.presence().await else {
        panic!("it is gone")
    };
    assert_eq!(why, "the key of site north was revoked");
    // A new key opens it again.
    let again = central
        .sites
        .register(TENANT, &north(), &somebody())
        .await
        .unwrap();
    let link = LinkClient::new(options(&linked.world, &linked.network, "north", &again.key));
    tokio::spawn(link.clone().run(linked.site.clone(), CancellationToken::new()));
    link.state().wait_for(LinkState::is_up).await.unwrap();
}

#[tokio::test]
async fn a_site_sees_that_central_came_back_with_another_epoch() {
    let linked = Linked::new().await;
    let before = linked.link.state().borrow().clone();
    let LinkState::Up { central: before, .. } = before else {
        panic!()
    };
    assert_eq!(before, linked.world.central.store.database().await.unwrap());
    linked.stop_central.cancel();
    linked.down().await;
    serve(&linked.world, &linked.network, &CancellationToken::new()).await;
    linked.up().await;
    let after = linked.link.state().borrow().clone();
    let LinkState::Up { central: after, .. } = after else {
        panic!()
    };
    assert_eq!(after.id, before.id);
    assert_ne!(
        after.epoch, before.epoch,
        "the file may have been put back in between"
    );
}

#[tokio::test]
async fn a_change_of_the_database_is_told_while_the_link_is_up() {
    let linked = Linked::new().await;
    linked.world.central.store.begin_epoch().await.unwrap();
    let now = linked.world.central.store.database().await.unwrap();
    linked.world.central.sites.sweep().await.unwrap();
    let mut state = linked.link.state();
    let told = |s: &LinkState| matches!(s, LinkState::Up { central, .. } if *central == now);
    state.wait_for(told).await.unwrap();
}

#[tokio::test]
async fn another_tenants_site_of_the_same_name_is_another_site() {
    let linked = Linked::new().await;
    let central = &linked.world.central;
    let elsewhere = central
        .store
        .create_tenant("elsewhere", &somebody())
        .await
        .unwrap()
        .id;
    let twin = central
        .sites
        .register(elsewhere, &north(), &somebody())
        .await
        .unwrap();
    let link = LinkClient::new(options(&linked.world, &linked.network, "north", &twin.key));
    tokio::spawn(link.clone().run(linked.site.clone(), CancellationToken::new()));
    link.state().wait_for(LinkState::is_up).await.unwrap();
    let item = a_forward();
    assert_eq!(link.submit(vec![item.clone()]).await.unwrap(), [Ack::Accepted]);
    assert!(central.store.get(TENANT, item.id).await.unwrap().is_none());
    assert!(central.store.get(elsewhere, item.id).await.unwrap().is_some());
    assert_eq!(linked.link.status(item.id).await.unwrap(), None);
}

#[tokio::test]
async fn a_store_with_its_database_put_back_tells_its_sites() {
    // What a copy that is put back looks like: the same id, and an epoch of its own as soon as it is served.
    let temp = TempStore::open();
    let copy = temp.folder.path().join("copy.db");
    temp.store.begin_epoch().await.unwrap();
    let original = temp.store.database().await.unwrap();
    temp.store.backup(&copy).await.unwrap();
    let clock: Arc<dyn Clock> = temp.clock.clone();
    let restored = store::sqlite::SqliteStore::open(&copy, clock).unwrap();
    store::Sites::begin_epoch(&restored).await.unwrap();
    let restored = store::Sites::database(&restored).await.unwrap();
    assert_eq!(restored.id, original.id);
    assert_ne!(restored.epoch, original.epoch);
}
