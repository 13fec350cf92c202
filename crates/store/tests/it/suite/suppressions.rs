//! Who must not be written to.

use crate::harness::*;
use domain::{
    AuditKind, Channel, Clock, TenantId,
    suppression::{NewSuppression, SuppressionSource, compared},
};
use store::{
    query::{AuditFilter, Page},
    suppressions::SuppressionFilter,
};

fn entry(address: &str, channel: Option<Channel>, topic: Option<&str>) -> NewSuppression {
    NewSuppression {
        address: address.into(),
        channel,
        topic: topic.map(str::to_owned),
        reason: "Größe".into(),
        source: SuppressionSource::Unsubscribe,
    }
}

fn page(limit: u32) -> Page {
    Page { limit, after: None }
}

async fn asked(t: &TestStore, tenant: TenantId, address: &str) -> usize {
    let pair = (tenant, compared(address));
    t.store.suppressed(&[pair]).await.unwrap().len()
}

pub async fn an_entry_is_read_back_to_the_last_field_and_made_only_once(t: &TestStore) {
    let new = entry("Ann@Example.com", Some(Channel::Email), Some("booking.confirmed"));
    let (made, is_new) = t.store.suppress(TENANT, &new, &admin()).await.unwrap();
    assert_eq!((&made.entry, &made.created_by, is_new), (&new, &admin(), true));
    let again = entry("ann@example.COM", Some(Channel::Email), Some("booking.confirmed"));
    let (found, is_new) = t.store.suppress(TENANT, &again, &admin()).await.unwrap();
    assert_eq!((&found, is_new), (&made, false));
    let all = t
        .store
        .suppressions(TENANT, &SuppressionFilter::default(), page(10))
        .await
        .unwrap();
    assert_eq!((all.rows, all.next), (vec![made.clone()], None));
    assert_eq!(
        t.store
            .suppressed(&[(TENANT, compared("ANN@example.com"))])
            .await
            .unwrap(),
        [(TENANT, made)]
    );
}

pub async fn everybody_of_a_claim_is_asked_about_at_once_and_within_the_tenant(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    for address in ["a@x", "b@x", "+49 151 1234567"] {
        t.store
            .suppress(TENANT, &entry(address, None, None), &admin())
            .await
            .unwrap();
    }
    t.store
        .suppress(elsewhere, &entry("c@x", None, None), &admin())
        .await
        .unwrap();
    let asked: Vec<_> = ["a@x", "c@x", "+491511234567", "nobody@x"]
        .into_iter()
        .map(|address| (TENANT, compared(address)))
        .chain([(elsewhere, "a@x".to_owned()), (elsewhere, "c@x".to_owned())])
        .collect();
    let mut found: Vec<_> = t.store.suppressed(&asked).await.unwrap();
    found.sort_by_key(|(tenant, s)| (*tenant, s.id));
    let found: Vec<_> = found
        .iter()
        .map(|(tenant, s)| (*tenant, s.entry.address.as_str()))
        .collect();
    assert_eq!(
        found,
        [(TENANT, "a@x"), (TENANT, "+49 151 1234567"), (elsewhere, "c@x")]
    );
    assert!(t.store.suppressed(&[]).await.unwrap().is_empty());
}

pub async fn only_a_tenants_first_entry_raises_the_directory_version(t: &TestStore) {
    let before = t.store.directory_version().await.unwrap();
    assert!(t.store.suppressing_tenants().await.unwrap().is_empty());
    let (first, _) = t
        .store
        .suppress(TENANT, &entry("a@x", None, None), &admin())
        .await
        .unwrap();
    t.store
        .suppress(TENANT, &entry("b@x", None, None), &admin())
        .await
        .unwrap();
    assert_eq!(t.store.directory_version().await.unwrap(), before + 1);
    assert_eq!(t.store.suppressing_tenants().await.unwrap(), [TENANT]);
    assert!(t.store.unsuppress(TENANT, first.id, &admin()).await.unwrap());
    assert!(!t.store.unsuppress(TENANT, first.id, &admin()).await.unwrap());
    assert_eq!(
        (asked(t, TENANT, "a@x").await, asked(t, TENANT, "b@x").await),
        (0, 1)
    );
}

pub async fn a_list_of_many_is_paged_newest_first_and_searched_by_address(t: &TestStore) {
    for n in 0..25 {
        t.store
            .suppress(TENANT, &entry(&format!("{n}@x"), None, None), &admin())
            .await
            .unwrap();
    }
    let (mut seen, mut next) = (vec![], page(10));
    loop {
        let found = t
            .store
            .suppressions(TENANT, &SuppressionFilter::default(), next)
            .await
            .unwrap();
        seen.extend(found.rows.into_iter().map(|row| row.entry.address));
        let Some(after) = found.next else { break };
        next = Page {
            limit: 10,
            after: Some(after),
        };
    }
    assert_eq!(seen, (0..25).rev().map(|n| format!("{n}@x")).collect::<Vec<_>>());
    let one = SuppressionFilter {
        address: Some("7@X".into()),
        channel: None,
    };
    assert_eq!(
        t.store
            .suppressions(TENANT, &one, page(10))
            .await
            .unwrap()
            .rows
            .len(),
        1
    );
    let other = t.tenant("elsewhere").await;
    assert!(
        t.store
            .suppressions(other, &one, page(10))
            .await
            .unwrap()
            .rows
            .is_empty()
    );
}

pub async fn who_is_put_on_and_taken_off_is_in_the_audit_log(t: &TestStore) {
    let (made, _) = t
        .store
        .suppress(TENANT, &entry("a@x", None, None), &admin())
        .await
        .unwrap();
    t.store
        .suppress(TENANT, &entry("a@x", None, None), &admin())
        .await
        .unwrap();
    t.store.unsuppress(TENANT, made.id, &admin()).await.unwrap();
    let filter = AuditFilter {
        kind: Some(AuditKind::SuppressionChanged),
        ..AuditFilter::default()
    };
    let rows = t.store.audit(TENANT, &filter, page(10)).await.unwrap().rows;
    let details: Vec<_> = rows
        .iter()
        .rev()
        .filter_map(|row| row.detail.as_deref())
        .collect();
    assert_eq!(
        details,
        [
            "put on: every channel, about everything",
            "taken off: every channel, about everything"
        ]
    );
    assert!(rows.iter().all(|row| row.target.as_deref() == Some("a@x")));
}

pub async fn what_was_told_before_an_address_was_taken_off_puts_it_on_no_more(t: &TestStore) {
    let entry = entry("Ann@X", Some(Channel::Sms), None);
    let sent_at = t.clock.now();
    let told = async |sent_at| t.store.suppress_as_told(TENANT, &entry, sent_at).await.unwrap();
    assert!(told(sent_at).await);
    assert!(!told(sent_at).await, "it is there");
    t.clock.advance(MINUTE);
    let all = SuppressionFilter::default();
    let there = t.store.suppressions(TENANT, &all, page(10)).await.unwrap().rows;
    assert!(t.store.unsuppress(TENANT, there[0].id, &admin()).await.unwrap());
    assert!(!told(sent_at).await, "somebody knew better since");
    assert!(!told(t.clock.now()).await, "also of the same moment");
    t.clock.advance(SECOND);
    assert!(told(t.clock.now()).await, "that is news");
}
