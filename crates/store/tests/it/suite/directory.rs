//! Tenants, keys, lists and providers.

use crate::harness::*;
use domain::{Channel, Clock, HoldReason, Limits, OnAmbiguous, ProviderId, Recipient, RetryPolicy, TenantId};
use std::collections::BTreeMap;
use store::{
    Error,
    directory::{List, NewKey, NewProvider, Role},
};

fn is_conflict<T: std::fmt::Debug>(answer: Result<T, Error>) -> bool {
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

pub async fn a_provider_is_read_back_to_the_last_field(t: &TestStore) {
    let new = NewProvider {
        kind: "twilio".into(),
        channel: Channel::Sms,
        order: -3,
        settings: serde_json::Map::from_iter([
            ("from".into(), "+49".into()),
            ("nested".into(), serde_json::json!({"list": [1, null, "ü"]})),
        ]),
        secrets: BTreeMap::from([("token".into(), "sealed:1:abc".into())]),
        retry: RetryPolicy::exponential(),
        limits: Limits {
            concurrency: 3,
            per_second: Some(0.5),
        },
        on_ambiguous: OnAmbiguous::Park,
        ..new_provider(TENANT, "sms")
    };
    let made = t.store.put_provider(&new, None, &admin()).await.unwrap();
    assert_eq!(made.provider, new);
    assert_eq!((made.version, &made.hold), (1, &None));
    let id = ProviderId::new("sms");
    assert_eq!(t.store.provider(TENANT, &id).await.unwrap(), Some(made.clone()));
    assert_eq!(
        t.store.provider_of_lane(made.lane).await.unwrap(),
        Some(made.clone())
    );
    assert_eq!(
        t.store.providers(TENANT).await.unwrap(),
        std::slice::from_ref(&made)
    );
    assert_eq!(t.store.all_providers().await.unwrap(), [made]);
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(t.store.provider(elsewhere, &id).await.unwrap(), None);
    assert_eq!(t.store.providers(elsewhere).await.unwrap(), []);
}

pub async fn creating_a_provider_twice_is_a_conflict(t: &TestStore) {
    t.provider(TENANT, "mail").await;
    let again = t
        .store
        .put_provider(&new_provider(TENANT, "mail"), None, &admin())
        .await;
    assert!(is_conflict(again));
    let elsewhere = t.tenant("elsewhere").await;
    let theirs = t.provider(elsewhere, "mail").await;
    assert_ne!(theirs.lane, t.store.providers(TENANT).await.unwrap()[0].lane);
}

pub async fn replacing_a_provider_needs_its_version(t: &TestStore) {
    let first = t.provider(TENANT, "mail").await;
    let renamed = NewProvider {
        name: "Mail 2".into(),
        ..first.provider.clone()
    };
    let put = |version| t.store.put_provider(&renamed, Some(version), &TENANT_ADMIN);
    assert!(is_conflict(put(first.version + 1).await));
    let second = put(first.version).await.unwrap();
    assert_eq!((second.version, second.lane), (first.version + 1, first.lane));
    assert_eq!(second.provider.name, "Mail 2");
    assert!(is_conflict(put(first.version).await), "who was slower is told");
    let nobody = t
        .store
        .put_provider(&new_provider(TENANT, "none"), Some(1), &admin())
        .await;
    assert!(is_conflict(nobody));
}

static TENANT_ADMIN: std::sync::LazyLock<domain::Actor> = std::sync::LazyLock::new(admin);

pub async fn new_settings_end_a_hold_they_may_cure(t: &TestStore) {
    let reasons = [
        HoldReason::Auth,
        HoldReason::Quota,
        HoldReason::Billing,
        HoldReason::Down,
    ];
    let mut provider = t.provider(TENANT, "mail").await;
    for reason in reasons {
        assert!(t.store.hold_lane(hold(provider.lane, reason)).await.unwrap());
        let new = provider.provider.clone();
        provider = t
            .store
            .put_provider(&new, Some(provider.version), &admin())
            .await
            .unwrap();
        assert_eq!(provider.hold, None, "{reason}");
    }
    t.send(provider.lane).await;
    let claimed = t.claim_one(provider.lane).await;
    assert_eq!(claimed.config_version, provider.version);
}

pub async fn an_operators_hold_outlives_new_settings(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    t.store
        .hold_lane(hold(provider.lane, HoldReason::Operator))
        .await
        .unwrap();
    let new = provider.provider.clone();
    let provider = t
        .store
        .put_provider(&new, Some(provider.version), &admin())
        .await
        .unwrap();
    assert_eq!(provider.hold.map(|h| h.reason), Some(HoldReason::Operator));
}

pub async fn a_disabled_provider_is_held(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    t.send(provider.lane).await;
    let off = NewProvider {
        enabled: false,
        ..provider.provider.clone()
    };
    let off = t
        .store
        .put_provider(&off, Some(provider.version), &admin())
        .await
        .unwrap();
    assert_eq!(off.hold.as_ref().map(|h| h.reason), Some(HoldReason::Disabled));
    assert_eq!(t.claim(provider.lane, 1).await, []);
    let on = t
        .store
        .put_provider(&provider.provider, Some(off.version), &admin())
        .await
        .unwrap();
    assert_eq!(on.hold, None);
    t.claim_one(provider.lane).await;
}

pub async fn a_provider_with_waiting_rows_cannot_be_deleted(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    let id = ProviderId::new("mail");
    t.send(provider.lane).await;
    assert!(is_conflict(t.store.delete_provider(TENANT, &id, &admin()).await));
    t.record(delivered(&t.claim_one(provider.lane).await)).await;
    assert!(t.store.delete_provider(TENANT, &id, &admin()).await.unwrap());
    assert!(!t.store.delete_provider(TENANT, &id, &admin()).await.unwrap());
    assert_eq!(t.store.provider(TENANT, &id).await.unwrap(), None);
    assert_eq!(t.store.provider_of_lane(provider.lane).await.unwrap(), None);
}

pub async fn a_provider_with_waiting_rows_cannot_change_its_channel(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    t.send(provider.lane).await;
    let other = NewProvider {
        channel: Channel::Webhook,
        ..provider.provider.clone()
    };
    let put = || {
        t.store
            .put_provider(&other, Some(provider.version), &TENANT_ADMIN)
    };
    assert!(is_conflict(put().await));
    t.record(delivered(&t.claim_one(provider.lane).await)).await;
    let moved = put().await.unwrap();
    assert_ne!(moved.lane, provider.lane);
    assert!(moved.version > provider.version);
}

pub async fn a_provider_made_again_takes_its_lane_back_with_a_newer_version(t: &TestStore) {
    let first = t.provider(TENANT, "mail").await;
    let sent = t.delivered(first.lane).await;
    let id = ProviderId::new("mail");
    assert!(t.store.delete_provider(TENANT, &id, &admin()).await.unwrap());
    assert_eq!(
        t.get(sent).await.provider.as_deref(),
        Some("mail"),
        "history still names it"
    );
    let again = t.provider(TENANT, "mail").await;
    assert_eq!(again.lane, first.lane);
    assert!(
        again.version > first.version,
        "{} after {}",
        again.version,
        first.version
    );
    assert_eq!(again.hold, None);
}

pub async fn resealing_keeps_the_version_and_insists_on_it(t: &TestStore) {
    let provider = t.provider(TENANT, "mail").await;
    let id = ProviderId::new("mail");
    let sealed = BTreeMap::from([("password".to_string(), "sealed anew".to_string())]);
    let reseal = |version| t.store.reseal_provider(TENANT, &id, version, &sealed);
    assert!(!reseal(provider.version + 1).await.unwrap());
    assert!(reseal(provider.version).await.unwrap());
    let read = t.store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(read.version, provider.version);
    assert_eq!(read.provider.secrets, sealed);
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

pub async fn providers_come_in_their_order(t: &TestStore) {
    for (name, order) in [("c", 1), ("a", 2), ("b", 1)] {
        let new = NewProvider {
            order,
            ..new_provider(TENANT, name)
        };
        t.store.put_provider(&new, None, &admin()).await.unwrap();
    }
    let providers = t.store.providers(TENANT).await.unwrap();
    let names: Vec<_> = providers.iter().map(|p| p.provider.id.as_str()).collect();
    assert_eq!(names, ["b", "c", "a"]);
}
