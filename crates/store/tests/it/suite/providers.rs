//! Providers and their lanes.

use crate::{harness::*, suite::directory::is_conflict};
use domain::{
    Actor, AuditKind, AuditStatus, Channel, HoldReason, Limits, OnAmbiguous, ProviderId, RetryPolicy,
};
use std::collections::BTreeMap;
use store::{
    directory::{NewProvider, ProviderTest},
    query::{AuditFilter, Page},
};

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
    let settings = serde_json::Map::from_iter([("host".to_string(), "shown".into())]);
    let reseal = |version| t.store.reseal_provider(TENANT, &id, version, &settings, &sealed);
    assert!(!reseal(provider.version + 1).await.unwrap());
    assert!(reseal(provider.version).await.unwrap());
    let read = t.store.provider(TENANT, &id).await.unwrap().unwrap();
    assert_eq!(read.version, provider.version);
    assert_eq!(read.provider.secrets, sealed);
    assert_eq!(read.provider.settings, settings);
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

pub async fn a_test_of_a_provider_is_on_record(t: &TestStore) {
    let test = |worked, code: Option<&str>| ProviderTest {
        tenant: TENANT,
        provider: ProviderId::new("mail"),
        worked,
        duration_ms: 7,
        code: code.map(str::to_owned),
        detail: "to a@example.com: no\0".into(),
        actor: Actor::new("user:anna"),
    };
    t.store.log_provider_test(test(true, None)).await.unwrap();
    t.store
        .log_provider_test(test(false, Some("SMTP_550")))
        .await
        .unwrap();
    let page = Page {
        limit: 10,
        after: None,
    };
    let log = t
        .store
        .audit(TENANT, &AuditFilter::default(), page)
        .await
        .unwrap();
    let told: Vec<_> = log
        .rows
        .iter()
        .map(|row| (row.kind, row.status, row.actor.as_str(), row.target.as_deref()))
        .collect();
    let one = |status| (AuditKind::ProviderTested, status, "user:anna", Some("mail"));
    assert_eq!(told, [one(AuditStatus::Failed), one(AuditStatus::Delivered)]);
    assert_eq!(
        (log.rows[0].code.as_deref(), log.rows[0].duration_ms),
        (Some("SMTP_550"), Some(7))
    );
}

pub async fn only_switching_a_provider_on_ends_the_hold_of_one_that_is_off(t: &TestStore) {
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
    let resumed = t.store.resume_lane(provider.lane, None, &admin()).await;
    assert!(matches!(resumed, Err(store::Error::Conflict(_))), "{resumed:?}");
    // An operator's hold in its place could be ended by an operator.
    let held = t.store.hold_lane(hold(provider.lane, HoldReason::Operator)).await;
    assert!(matches!(held, Err(store::Error::Conflict(_))), "{held:?}");
    let now = t
        .store
        .provider(TENANT, &provider.provider.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(now.hold.map(|h| h.reason), Some(HoldReason::Disabled));
    assert_eq!(t.claim(provider.lane, 1).await, []);
    t.store
        .put_provider(&provider.provider, Some(off.version), &admin())
        .await
        .unwrap();
    t.claim_one(provider.lane).await;
}

pub async fn a_change_is_told_before_and_after_and_of_a_secret_only_that_it_is_another(t: &TestStore) {
    let old = new_provider(TENANT, "mail");
    t.store.put_provider(&old, None, &admin()).await.unwrap();
    let new = NewProvider {
        settings: serde_json::Map::from_iter([("host".into(), "relay.example.com".into())]),
        secrets: BTreeMap::from([("password".into(), "sealed again".into())]),
        enabled: false,
        ..old
    };
    t.store.put_provider(&new, Some(1), &admin()).await.unwrap();
    let page = Page {
        limit: 10,
        after: None,
    };
    let asked = AuditFilter {
        kind: Some(AuditKind::ProviderChanged),
        ..AuditFilter::default()
    };
    let rows = t.store.audit(TENANT, &asked, page).await.unwrap().rows;
    assert_eq!(
        rows[0].detail.as_deref(),
        Some(
            "changed: enabled: true → false; host: mail.example.com → relay.example.com; password (secret) changed"
        )
    );
    assert_eq!(rows[1].detail.as_deref(), Some("created: smtp"));
}
