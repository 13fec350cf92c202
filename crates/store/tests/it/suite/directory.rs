//! Tenants, keys, lists and providers.

use crate::harness::*;
use domain::{Actor, AuditKind, Channel, Clock, Recipient, TenantId};
use store::{
    Error,
    directory::{List, NewKey, Role, TenantDeletion, TenantUse},
    query::{AuditFilter, Page},
};

pub fn is_conflict<T: std::fmt::Debug>(answer: Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Conflict(_)))
}

pub async fn there_is_a_tenant_from_the_start(t: &TestStore) {
    let tenants = t.store.tenants().await.unwrap();
    assert_eq!(tenants.len(), 1);
    assert_eq!(
        (tenants[0].id, tenants[0].name.as_str()),
        (TenantId::DEFAULT, "default")
    );
}

pub async fn a_tenants_name_is_taken_once(t: &TestStore) {
    let made = t.store.create_tenant("plant", &admin()).await.unwrap();
    assert_eq!((made.name.as_str(), made.created_at), ("plant", t.clock.now()));
    assert!(is_conflict(t.store.create_tenant("plant", &admin()).await));
    assert_eq!(t.store.tenant_by_name("plant").await.unwrap(), Some(made));
    assert_eq!(t.store.tenant_by_name("nobody").await.unwrap(), None);
    let nameless = t.store.create_tenant("", &admin()).await;
    assert!(matches!(nameless, Err(Error::Refused(_))), "{nameless:?}");
    assert_eq!(t.store.tenants().await.unwrap().len(), 2);
}

/// The newest rows of the first tenant's log about tenants: what, whose, by whom.
async fn told_of_tenants(t: &TestStore) -> Vec<(String, String, String)> {
    let filter = AuditFilter {
        kind: Some(AuditKind::TenantChanged),
        ..AuditFilter::default()
    };
    let page = Page {
        limit: 10,
        after: None,
    };
    let log = t.store.audit(TENANT, &filter, page).await.unwrap().rows;
    log.into_iter()
        .map(|row| {
            let text = Option::unwrap_or_default;
            (text(row.detail), text(row.target), row.actor)
        })
        .collect()
}

pub async fn a_tenant_is_deleted_when_nothing_hangs_on_it(t: &TestStore) {
    let plant = t.tenant("plant").await;
    let ops = Actor::new("key:ops");
    let delete = || t.store.delete_tenant(plant, &ops);
    let provider = t.provider(plant, "mail").await;
    let submission = || domain::Submission {
        tenant: plant,
        ..mail()
    };
    t.accept(provider.lane, submission()).await;
    let claimed = t.claim_one(provider.lane).await;
    t.record(park(&claimed)).await;
    let waiting = t.accept(provider.lane, submission()).await;
    let hangs = TenantUse {
        providers: 1,
        waiting: 1,
        parked: 1,
    };
    assert_eq!(delete().await.unwrap(), TenantDeletion::InUse(hangs));
    assert_eq!(
        hangs.to_string(),
        "1 provider, 1 waiting notification, 1 parked notification"
    );

    t.store.discard(plant, &[claimed.id], &admin()).await.unwrap();
    t.store.cancel(plant, waiting, &admin()).await.unwrap();
    t.store
        .delete_provider(plant, &provider.provider.id, &admin())
        .await
        .unwrap();
    let made = t.store.create_key(key(plant, "ann", 1), &admin()).await.unwrap();
    let list = List {
        name: "ops".into(),
        recipients: vec![],
    };
    t.store.put_list(plant, &list, &admin()).await.unwrap();
    assert_eq!(delete().await.unwrap(), TenantDeletion::Deleted);

    assert_eq!(t.store.tenant_by_name("plant").await.unwrap(), None);
    assert_eq!(t.store.tenants().await.unwrap().len(), 1);
    assert_eq!(t.store.key_by_hash(&[1; 32]).await.unwrap(), None);
    let keys = t.store.keys(plant).await.unwrap();
    assert_eq!((keys[0].id, keys[0].revoked_at), (made.id, Some(t.clock.now())));
    assert_eq!(t.store.lists(plant).await.unwrap(), []);
    assert_eq!(
        told_of_tenants(t).await.first().unwrap(),
        &("deleted".to_owned(), "plant".to_owned(), "key:ops".to_owned())
    );
    // What it sent is history, and goes when its time has come.
    assert!(t.store.get(plant, claimed.id).await.unwrap().is_some());

    assert_eq!(delete().await.unwrap(), TenantDeletion::NotFound);
    assert_ne!(
        t.tenant("plant").await,
        plant,
        "the name is free, the number is not"
    );
    assert!(is_conflict(t.store.delete_tenant(TenantId::DEFAULT, &ops).await));
}

pub async fn nothing_is_set_up_or_taken_in_for_a_deleted_tenant(t: &TestStore) {
    let plant = t.tenant("plant").await;
    t.store.unrouted_lane(plant, Channel::Sms).await.unwrap();
    let deleted = t.store.delete_tenant(plant, &admin()).await.unwrap();
    assert_eq!(deleted, TenantDeletion::Deleted);
    for channel in [Channel::Sms, Channel::Email] {
        assert!(is_conflict(t.store.unrouted_lane(plant, channel).await));
    }
    let provider = new_provider(plant, "mail");
    assert!(is_conflict(t.store.put_provider(&provider, None, &admin()).await));
    // Made by a request that was already under way.
    t.store.create_key(key(plant, "late", 7), &admin()).await.unwrap();
    assert_eq!(t.store.key_by_hash(&[7; 32]).await.unwrap(), None);
}

fn key(tenant: TenantId, name: &str, secret: u8) -> NewKey {
    NewKey {
        tenant,
        name: name.into(),
        role: Role::Operator,
        hash: [secret; 32],
    }
}

pub async fn a_live_keys_name_is_taken_once(t: &TestStore) {
    let made = t.store.create_key(key(TENANT, "ann", 1), &admin()).await.unwrap();
    assert_eq!(
        (made.name.as_str(), made.role, made.revoked_at),
        ("ann", Role::Operator, None)
    );
    assert!(is_conflict(
        t.store.create_key(key(TENANT, "ann", 2), &admin()).await
    ));
    let elsewhere = t.tenant("elsewhere").await;
    t.store
        .create_key(key(elsewhere, "ann", 3), &admin())
        .await
        .unwrap();
    assert_eq!(t.store.keys(TENANT).await.unwrap(), std::slice::from_ref(&made));
    assert!(t.store.revoke_key(TENANT, made.id, &admin()).await.unwrap());
    let again = t.store.create_key(key(TENANT, "ann", 4), &admin()).await.unwrap();
    assert_ne!(again.id, made.id);
    assert_eq!(
        t.store.keys(TENANT).await.unwrap().len(),
        2,
        "a revoked key is still shown"
    );
}

pub async fn a_revoked_key_opens_nothing(t: &TestStore) {
    let made = t.store.create_key(key(TENANT, "ann", 1), &admin()).await.unwrap();
    assert_eq!(t.store.key_by_hash(&[1; 32]).await.unwrap(), Some(made.clone()));
    assert_eq!(t.store.key_by_hash(&[2; 32]).await.unwrap(), None);
    assert!(t.store.revoke_key(TENANT, made.id, &admin()).await.unwrap());
    assert_eq!(t.store.key_by_hash(&[1; 32]).await.unwrap(), None);
    assert!(!t.store.revoke_key(TENANT, made.id, &admin()).await.unwrap());
    assert_eq!(
        t.store.keys(TENANT).await.unwrap()[0].revoked_at,
        Some(t.clock.now())
    );
}

pub async fn a_key_is_revoked_only_by_its_tenant(t: &TestStore) {
    let made = t.store.create_key(key(TENANT, "ann", 1), &admin()).await.unwrap();
    let elsewhere = t.tenant("elsewhere").await;
    assert!(!t.store.revoke_key(elsewhere, made.id, &admin()).await.unwrap());
    assert!(t.store.key_by_hash(&[1; 32]).await.unwrap().is_some());
}

fn to(address: &str) -> Recipient {
    Recipient {
        name: None,
        address: address.into(),
        channel: None,
        enabled: true,
    }
}

pub async fn of_two_changes_of_one_list_the_slower_is_told(t: &TestStore) {
    let list = |addresses: &[&str]| List {
        name: "ops".into(),
        recipients: addresses.iter().map(|a| to(a)).collect(),
    };
    let before = list(&["a@x"]);
    assert!(t.store.create_list(TENANT, &before, &admin()).await.unwrap());
    assert!(!t.store.create_list(TENANT, &list(&[]), &admin()).await.unwrap());
    let (mine, theirs) = (list(&["a@x", "b@x"]), list(&["a@x", "c@x"]));
    assert!(
        t.store
            .change_list(TENANT, &before, &mine, &admin())
            .await
            .unwrap()
    );
    assert!(
        !t.store
            .change_list(TENANT, &before, &theirs, &admin())
            .await
            .unwrap()
    );
    assert_eq!(t.store.list_by_name(TENANT, "ops").await.unwrap(), Some(mine));
}

pub async fn a_list_is_replaced_whole(t: &TestStore) {
    let list = |recipients| List {
        name: "ops".into(),
        recipients,
    };
    let full = Recipient {
        name: Some("Ann \"Ä\"".into()),
        channel: Some(Channel::Sms),
        enabled: false,
        ..to("+49 30 1234")
    };
    let two = list(vec![to("a@example.com"), full]);
    t.store.put_list(TENANT, &two, &admin()).await.unwrap();
    assert_eq!(t.store.list_by_name(TENANT, "ops").await.unwrap(), Some(two));
    let one = list(vec![to("b@example.com")]);
    t.store.put_list(TENANT, &one, &admin()).await.unwrap();
    assert_eq!(t.store.lists(TENANT).await.unwrap(), [one]);
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(t.store.lists(elsewhere).await.unwrap(), []);
    assert!(!t.store.delete_list(elsewhere, "ops", &admin()).await.unwrap());
    assert!(t.store.delete_list(TENANT, "ops", &admin()).await.unwrap());
    assert!(!t.store.delete_list(TENANT, "ops", &admin()).await.unwrap());
    assert_eq!(t.store.list_by_name(TENANT, "ops").await.unwrap(), None);
}

pub async fn the_lane_of_a_channel_nobody_serves_is_made_once(t: &TestStore) {
    let sms = t.store.unrouted_lane(TENANT, Channel::Sms).await.unwrap();
    assert_eq!(t.store.unrouted_lane(TENANT, Channel::Sms).await.unwrap(), sms);
    let email = t.store.unrouted_lane(TENANT, Channel::Email).await.unwrap();
    let elsewhere = t.tenant("elsewhere").await;
    let theirs = t.store.unrouted_lane(elsewhere, Channel::Sms).await.unwrap();
    assert!(sms != email && sms != theirs);
    assert_eq!(
        t.store.unrouted_channel(sms).await.unwrap(),
        Some((TENANT, Channel::Sms))
    );
    let served = t.lane("mail").await;
    assert_eq!(t.store.unrouted_channel(served).await.unwrap(), None);
    let id = t.send(sms).await;
    assert_eq!(t.get(id).await.provider, None);
    let claimed = t.claim_one(sms).await;
    assert_eq!(claimed.config_version, 1);
    t.record(park(&claimed)).await;
    assert_eq!(t.store.provider_of_lane(sms).await.unwrap(), None);
}

pub async fn every_change_is_seen_by_the_next_claim(t: &TestStore) {
    let mut last = t.store.directory_version().await.unwrap();
    let mut went_up = async |what: &str| {
        let version = t.store.directory_version().await.unwrap();
        assert!(version > last, "{what}");
        last = version;
    };
    let provider = t.provider(TENANT, "mail").await;
    went_up("a provider made").await;
    let new = provider.provider.clone();
    t.store
        .put_provider(&new, Some(provider.version), &admin())
        .await
        .unwrap();
    went_up("a provider changed").await;
    t.store.delete_provider(TENANT, &new.id, &admin()).await.unwrap();
    went_up("a provider deleted").await;
    let list = List {
        name: "ops".into(),
        recipients: vec![],
    };
    t.store.put_list(TENANT, &list, &admin()).await.unwrap();
    went_up("a list put").await;
    t.store.delete_list(TENANT, "ops", &admin()).await.unwrap();
    went_up("a list deleted").await;
    let key = t.store.create_key(key(TENANT, "ann", 1), &admin()).await.unwrap();
    went_up("a key made").await;
    t.store.revoke_key(TENANT, key.id, &admin()).await.unwrap();
    went_up("a key revoked").await;
    t.tenant("elsewhere").await;
    went_up("a tenant made").await;
}

pub async fn when_a_key_was_used_is_remembered(t: &TestStore) {
    let new = NewKey {
        tenant: TENANT,
        name: "line 4".into(),
        role: Role::Producer,
        hash: [7; 32],
    };
    let made = t.store.create_key(new, &admin()).await.unwrap();
    assert_eq!(made.last_used_at, None);
    t.store.key_used(made.id).await.unwrap();
    let read = t.store.key_by_hash(&[7; 32]).await.unwrap().unwrap();
    assert_eq!(read.last_used_at, Some(t.clock.now()));
}
