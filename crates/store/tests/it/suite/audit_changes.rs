//! What the log tells of a change: what was changed, before and after.

use crate::harness::*;
use domain::{
    AuditKind, Channel, EventType,
    event::Dedupe,
    suppression::{NewSuppression, SuppressionSource},
};
use store::{
    query::{AuditFilter, Page},
    templates::TemplateSettings,
};

/// What was told of one kind, the oldest first.
async fn told(t: &TestStore, kind: AuditKind) -> Vec<String> {
    let filter = AuditFilter {
        kind: Some(kind),
        ..AuditFilter::default()
    };
    let page = Page {
        limit: 10,
        after: None,
    };
    let rows = t.store.audit(TENANT, &filter, page).await.unwrap().rows;
    rows.into_iter().rev().filter_map(|row| row.detail).collect()
}

pub async fn a_change_of_an_event_type_is_told_before_and_after(t: &TestStore) {
    let mut definition = EventType::new(Dedupe::Entity);
    definition.required = vec!["guestEmail".into()];
    let put = async |definition: &EventType| {
        let put = t
            .store
            .put_event_type(TENANT, "booking.confirmed", definition, &admin())
            .await;
        put.unwrap();
    };
    put(&definition).await;
    definition.addresses.insert(Channel::Sms, "guestPhone".into());
    definition.required.clear();
    put(&definition).await;
    assert_eq!(
        told(t, AuditKind::EventTypeChanged).await,
        [
            "created",
            "changed: addresses.Sms: nothing → guestPhone; required: [\"guestEmail\"] → []"
        ]
    );
}

pub async fn a_change_of_the_settings_of_templates_is_told_before_and_after(t: &TestStore) {
    for zone in ["Europe/Berlin", "Europe/Rome"] {
        let settings = TemplateSettings {
            zone: Some(zone.into()),
            ..TemplateSettings::default()
        };
        t.store
            .put_template_settings(TENANT, &settings, &admin())
            .await
            .unwrap();
    }
    assert_eq!(
        told(t, AuditKind::TemplateChanged).await,
        [
            "changed: zone: nothing → Europe/Berlin",
            "changed: zone: Europe/Berlin → Europe/Rome"
        ]
    );
}

pub async fn a_change_of_who_must_not_be_written_to_tells_over_what_and_about_what(t: &TestStore) {
    let entry = NewSuppression {
        address: "ann@example.com".into(),
        channel: Some(Channel::Sms),
        topic: Some("booking.reminder".into()),
        reason: "asked".into(),
        source: SuppressionSource::Operator,
    };
    let (made, _) = t.store.suppress(TENANT, &entry, &admin()).await.unwrap();
    t.store.unsuppress(TENANT, made.id, &admin()).await.unwrap();
    assert_eq!(
        told(t, AuditKind::SuppressionChanged).await,
        [
            "put on: Sms, about booking.reminder",
            "taken off: Sms, about booking.reminder"
        ]
    );
}
