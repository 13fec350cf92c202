//! Templates and their versions.

use crate::{harness::*, suite::directory::is_conflict};
use domain::{
    AuditKind, Channel, ProviderId, TemplateId, TenantId,
    template::{DateAs, ProviderTemplate, TemplateContent, TemplateIdentity, TemplateScope},
};
use store::{
    query::{AuditFilter, Page},
    templates::{NewTemplate, Template, TemplateFilter, TemplateSettings},
};

fn identity(channel: Channel, name: &str, language: Option<&str>) -> TemplateIdentity {
    TemplateIdentity {
        event_type: "booking.confirmed".into(),
        channel,
        name: name.into(),
        language: language.map(str::to_owned),
        scope: None,
    }
}

fn body(text: &str) -> TemplateContent {
    TemplateContent {
        body: text.into(),
        active: true,
        ..TemplateContent::default()
    }
}

async fn make(t: &TestStore, tenant: TenantId, identity: TemplateIdentity, text: &str) -> Template {
    let content = body(text);
    let new = NewTemplate {
        tenant,
        identity,
        content,
    };
    t.store.create_template(&new, &admin()).await.unwrap()
}

pub async fn a_template_is_read_back_to_the_last_field(t: &TestStore) {
    let new = NewTemplate {
        tenant: TENANT,
        identity: TemplateIdentity {
            scope: Some(TemplateScope {
                scope_type: "listing".into(),
                scope_id: "10".into(),
            }),
            ..identity(Channel::WhatsApp, "guest", Some("en-IN"))
        },
        content: TemplateContent {
            subject: Some("Größe".into()),
            body: "Dear {{guestName}}".into(),
            body_html: Some("<p>{{guestName}}</p>".into()),
            to: Some("guest.phone".into()),
            provider_id: Some(ProviderId::new("wa")),
            provider_template: Some(ProviderTemplate {
                name: "confirmed".into(),
                language: Some("en".into()),
                params: vec!["guestName".into(), "{{checkinDate}}".into()],
                dlt_id: Some("1107".into()),
            }),
            date_format: Some("%d %b".into()),
            date_as: Some(DateAs::Instant),
            zone: Some("Asia/Kolkata".into()),
            active: false,
        },
    };
    let made = t.store.create_template(&new, &admin()).await.unwrap();
    assert_eq!((&made.identity, &made.content), (&new.identity, &new.content));
    assert_eq!(
        (made.version, &made.saved_by, made.deleted_at),
        (1, &admin(), None)
    );
    let found = t.store.template(TENANT, made.id, None).await.unwrap();
    assert_eq!(found, Some(made.clone()));
    let listed = t
        .store
        .templates(TENANT, &TemplateFilter::default())
        .await
        .unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].identity, listed[0].active), (&new.identity, false));
    assert_eq!(
        t.store
            .template(TENANT, TemplateId(made.id.0 + 1), None)
            .await
            .unwrap(),
        None
    );
}

pub async fn a_template_is_one_of_its_event_channel_name_language_and_scope(t: &TestStore) {
    make(t, TENANT, identity(Channel::Email, "default", None), "a").await;
    let again = NewTemplate {
        tenant: TENANT,
        identity: identity(Channel::Email, "default", None),
        content: body("b"),
    };
    assert!(is_conflict(t.store.create_template(&again, &admin()).await));
    make(t, TENANT, identity(Channel::Email, "default", Some("en")), "c").await;
    make(t, TENANT, identity(Channel::Sms, "default", None), "d").await;
    make(t, TENANT, identity(Channel::Email, "reminder", None), "e").await;
    let elsewhere = t.tenant("elsewhere").await;
    make(t, elsewhere, identity(Channel::Email, "default", None), "f").await;
    let filter = TemplateFilter {
        channel: Some(Channel::Email),
        ..TemplateFilter::default()
    };
    let rows = t.store.templates(TENANT, &filter).await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|r| (r.identity.name.as_str(), r.identity.language.as_deref()))
        .collect();
    assert_eq!(
        found,
        [("default", None), ("default", Some("en")), ("reminder", None)]
    );
}

pub async fn every_save_is_a_version_and_each_can_be_read_for_ever(t: &TestStore) {
    let made = make(t, TENANT, identity(Channel::Email, "default", None), "one").await;
    let two = t
        .store
        .save_template(TENANT, made.id, 1, &body("two"), &admin())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((two.version, two.content.body.as_str()), (2, "two"));
    let inactive = TemplateContent {
        active: false,
        ..body("three")
    };
    t.store
        .save_template(TENANT, made.id, 2, &inactive, &admin())
        .await
        .unwrap()
        .unwrap();
    assert!(t.store.delete_template(TENANT, made.id, &admin()).await.unwrap());
    for (version, text) in [(1, "one"), (2, "two"), (3, "three")] {
        let found = t
            .store
            .template(TENANT, made.id, Some(version))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((found.version, found.content.body.as_str()), (version, text));
        assert!(found.deleted_at.is_some());
    }
    assert_eq!(t.store.template(TENANT, made.id, Some(4)).await.unwrap(), None);
    let versions = t.store.template_versions(TENANT, made.id).await.unwrap();
    assert_eq!(versions.iter().map(|v| v.version).collect::<Vec<_>>(), [3, 2, 1]);
}

pub async fn a_save_that_is_based_on_an_old_version_is_a_conflict(t: &TestStore) {
    let made = make(t, TENANT, identity(Channel::Email, "default", None), "one").await;
    t.store
        .save_template(TENANT, made.id, 1, &body("two"), &admin())
        .await
        .unwrap()
        .unwrap();
    let late = t
        .store
        .save_template(TENANT, made.id, 1, &body("late"), &admin())
        .await;
    assert!(is_conflict(late));
    let found = t.store.template(TENANT, made.id, None).await.unwrap().unwrap();
    assert_eq!((found.version, found.content.body.as_str()), (2, "two"));
    assert_eq!(t.store.template_versions(TENANT, made.id).await.unwrap().len(), 2);
}

pub async fn a_deleted_template_serves_nothing_and_leaves_its_name_free(t: &TestStore) {
    let made = make(t, TENANT, identity(Channel::Email, "default", None), "one").await;
    assert!(t.store.delete_template(TENANT, made.id, &admin()).await.unwrap());
    assert!(!t.store.delete_template(TENANT, made.id, &admin()).await.unwrap());
    assert_eq!(
        t.store
            .save_template(TENANT, made.id, 1, &body("x"), &admin())
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        t.store
            .event_templates(TENANT, "booking.confirmed")
            .await
            .unwrap(),
        []
    );
    let again = make(t, TENANT, identity(Channel::Email, "default", None), "again").await;
    assert_ne!(again.id, made.id);
    let deleted = TemplateFilter {
        deleted: true,
        ..TemplateFilter::default()
    };
    let rows = t.store.templates(TENANT, &deleted).await.unwrap();
    assert_eq!(rows.iter().map(|r| r.id).collect::<Vec<_>>(), [made.id]);
}

pub async fn an_event_gets_its_active_templates_and_no_other_tenants(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let mine = make(t, TENANT, identity(Channel::Email, "default", None), "mine").await;
    let theirs = make(t, elsewhere, identity(Channel::Email, "default", None), "theirs").await;
    let asleep = make(t, TENANT, identity(Channel::Sms, "default", None), "asleep").await;
    let inactive = TemplateContent {
        active: false,
        ..body("asleep")
    };
    t.store
        .save_template(TENANT, asleep.id, 1, &inactive, &admin())
        .await
        .unwrap()
        .unwrap();
    let other = TemplateIdentity {
        event_type: "booking.cancelled".into(),
        ..identity(Channel::Email, "default", None)
    };
    make(t, TENANT, other, "other").await;
    let found = t
        .store
        .event_templates(TENANT, "booking.confirmed")
        .await
        .unwrap();
    assert_eq!(found, [mine]);
    for tenant in [TENANT, elsewhere] {
        let not_theirs = if tenant == TENANT { theirs.id } else { asleep.id };
        assert_eq!(t.store.template(tenant, not_theirs, None).await.unwrap(), None);
        assert_eq!(t.store.template_versions(tenant, not_theirs).await.unwrap(), []);
        assert_eq!(
            t.store
                .save_template(tenant, not_theirs, 1, &body("x"), &admin())
                .await
                .unwrap(),
            None
        );
        assert!(
            !t.store
                .delete_template(tenant, not_theirs, &admin())
                .await
                .unwrap()
        );
    }
}

pub async fn a_change_of_templates_is_audited_and_raises_the_directory_version(t: &TestStore) {
    let before = t.store.directory_version().await.unwrap();
    let made = make(t, TENANT, identity(Channel::Email, "default", None), "one").await;
    t.store
        .save_template(TENANT, made.id, 1, &body("two"), &admin())
        .await
        .unwrap();
    t.store.delete_template(TENANT, made.id, &admin()).await.unwrap();
    assert_eq!(t.store.directory_version().await.unwrap(), before + 3);
    let filter = AuditFilter {
        kind: Some(AuditKind::TemplateChanged),
        ..AuditFilter::default()
    };
    let page = Page {
        limit: 10,
        after: None,
    };
    let rows = t.store.audit(TENANT, &filter, page).await.unwrap().rows;
    let details: Vec<_> = rows
        .iter()
        .rev()
        .filter_map(|row| row.detail.as_deref())
        .collect();
    assert_eq!(
        details,
        ["created", "saved as version 2: body: one → two", "deleted"]
    );
    let target = format!("{}, Email (template {})", made.identity.event_type, made.id);
    assert!(
        rows.iter().all(|row| row.target.as_deref() == Some(&target)),
        "{rows:?}"
    );
}

pub async fn a_tenants_settings_for_templates_are_its_own(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let settings = TemplateSettings {
        date_format: Some("%d.%m.%Y".into()),
        zone: Some("Europe/Berlin".into()),
    };
    assert_eq!(
        t.store.template_settings(TENANT).await.unwrap(),
        TemplateSettings::default()
    );
    for settings in [TemplateSettings::default(), settings.clone()] {
        t.store
            .put_template_settings(TENANT, &settings, &admin())
            .await
            .unwrap();
    }
    assert_eq!(t.store.template_settings(TENANT).await.unwrap(), settings);
    assert_eq!(
        t.store.template_settings(elsewhere).await.unwrap(),
        TemplateSettings::default()
    );
}
