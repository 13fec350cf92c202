//! What is on record.

use crate::harness::*;
use domain::{Actor, AuditKind, AuditStatus, Clock, NotificationId};
use store::query::{AuditFilter, AuditPage, AuditRow, Cursor, Page};

async fn log_of(t: &TestStore, id: NotificationId) -> Vec<AuditRow> {
    t.store.attempts(TENANT, id).await.unwrap().unwrap()
}

async fn statuses(t: &TestStore, id: NotificationId) -> Vec<AuditStatus> {
    log_of(t, id).await.iter().map(|row| row.status).collect()
}

async fn page(t: &TestStore, filter: &AuditFilter, limit: u32, after: Option<Cursor>) -> AuditPage {
    t.store
        .audit(TENANT, filter, Page { limit, after })
        .await
        .unwrap()
}

use AuditStatus::{Attempted, Delivered, Parked, Submitted};

pub async fn an_attempt_that_ends_its_row_is_read_as_two(t: &TestStore) {
    let lane = t.lane("mail").await;
    let delivered = t.delivered(lane).await;
    let parked = t.parked(lane).await;
    assert_eq!(statuses(t, delivered).await, [Submitted, Attempted, Delivered]);
    assert_eq!(statuses(t, parked).await, [Submitted, Attempted, Parked]);
    let log = log_of(t, delivered).await;
    let attempt = &log[1];
    assert_eq!(
        (attempt.kind, attempt.actor.as_str()),
        (AuditKind::NotifyDeliver, "system")
    );
    assert_eq!(
        (attempt.target.as_deref(), attempt.duration_ms),
        (Some("mail"), Some(12))
    );
    assert_eq!(attempt.detail.as_deref(), Some("250 ok"));
    assert_eq!(attempt.notification, Some(delivered));
    assert_eq!(attempt.at, t.clock.now());
}

pub async fn what_failed_and_is_tried_again_is_found_alone(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.delivered(lane).await;
    t.send(lane).await;
    let mut last = park(&t.claim_one(lane).await);
    last.attempt.as_mut().unwrap().code = Some("SMTP_550".into());
    t.record(last).await;
    t.send(lane).await;
    t.claim_one(lane).await;
    t.clock.advance(LEASE);
    t.record(delivered(&t.claim_one(lane).await)).await;
    let mut tried_again = vec![];
    for _ in 0..3 {
        tried_again.push(t.send(lane).await);
        let mut record = retry(&t.claim_one(lane).await, DAY);
        record.attempt.as_mut().unwrap().code = Some("SMTP_451".into());
        t.record(record).await;
        t.delivered(lane).await;
    }
    tried_again.reverse();
    let filter = AuditFilter {
        retried: true,
        ..AuditFilter::default()
    };
    for limit in [1, 100] {
        let (mut found, mut after) = (vec![], None);
        loop {
            let page = page(t, &filter, limit, after).await;
            found.extend(page.rows.into_iter().map(|row| row.notification.unwrap()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, tried_again, "pages of {limit}");
    }
}

pub async fn an_attempt_that_does_not_is_one(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, SECOND)).await;
    t.clock.advance(SECOND);
    t.record(wait(&t.claim_one(lane).await)).await;
    assert_eq!(statuses(t, id).await, [Submitted, Attempted, Attempted]);
}

pub async fn an_end_without_an_attempt_is_one_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let mut record = park(&t.claim_one(lane).await);
    record.attempt = None;
    t.record(record).await;
    assert_eq!(statuses(t, id).await, [Submitted, Parked]);
    let log = log_of(t, id).await;
    assert_eq!(log[1].code.as_deref(), Some("SMTP_550"));
}

pub async fn an_interruption_is_on_record(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    t.claim_one(lane).await;
    t.clock.advance(LEASE);
    let second = t.claim_one(lane).await;
    t.record(delivered(&second)).await;
    assert_eq!(
        statuses(t, id).await,
        [Submitted, Attempted, Attempted, Delivered]
    );
    let log = log_of(t, id).await;
    assert_eq!(log[1].code.as_deref(), Some("INTERRUPTED"));
    assert_eq!(log[2].code, None);
}

pub async fn every_accepted_send_is_a_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut sent = from_site("plant-2");
    sent.provenance.execution = Some(domain::ExecutionId::new("run-9"));
    let id = t.accept(lane, sent.clone()).await;
    t.ingest_one(lane, sent).await;
    let log = log_of(t, id).await;
    assert_eq!(log.len(), 1, "the resend is none");
    let row = &log[0];
    assert_eq!((row.kind, row.status), (AuditKind::NotifySend, Submitted));
    assert_eq!((row.actor.as_str(), row.at), ("key:line-4", t.clock.now()));
    assert_eq!(row.site.as_deref(), Some("plant-2"));
    assert_eq!(row.execution.as_deref(), Some("run-9"));
    assert_eq!(row.notification, Some(id));
}

pub async fn pages_of_the_log_have_neither_gaps_nor_repeats(t: &TestStore) {
    let lane = t.lane("mail").await;
    for i in 0..12 {
        t.delivered(lane).await;
        t.parked(lane).await;
        if i % 3 == 0 {
            t.clock.advance(SECOND);
        }
    }
    let all = page(t, &AuditFilter::default(), 1_000, None).await;
    assert_eq!(all.next, None);
    // A provider made, and per row: the send, the attempt, the end.
    assert_eq!(all.rows.len(), 1 + 24 * 3);
    assert!(all.rows.is_sorted_by(|a, b| a.at >= b.at), "newest first");
    for limit in [1, 2, 5, 73] {
        let (mut found, mut after) = (vec![], None);
        loop {
            let next = page(t, &AuditFilter::default(), limit, after).await;
            found.extend(next.rows);
            after = next.next;
            assert!(found.len() <= all.rows.len(), "the pages go round in circles");
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, all.rows, "pages of {limit}");
    }
}

pub async fn each_filter_finds_its_own(t: &TestStore) {
    let lane = t.lane("mail").await;
    let parked = t.parked(lane).await;
    t.clock.advance(MINUTE);
    let later = t.clock.now();
    let ann = Actor::new("key:ann");
    t.store.requeue(TENANT, &[(parked, lane)], &ann).await.unwrap();
    let count = |filter: AuditFilter| async move { page(t, &filter, 100, None).await.rows.len() };
    let any = AuditFilter::default;
    assert_eq!(
        count(AuditFilter {
            kind: Some(AuditKind::NotifySend),
            ..any()
        })
        .await,
        1
    );
    assert_eq!(
        count(AuditFilter {
            kind: Some(AuditKind::NotifyDeliver),
            ..any()
        })
        .await,
        2
    );
    assert_eq!(
        count(AuditFilter {
            status: Some(Submitted),
            ..any()
        })
        .await,
        1
    );
    assert_eq!(
        count(AuditFilter {
            status: Some(Parked),
            ..any()
        })
        .await,
        1
    );
    assert_eq!(
        count(AuditFilter {
            actor: Some("key:ann".into()),
            ..any()
        })
        .await,
        1
    );
    assert_eq!(
        count(AuditFilter {
            from: Some(later),
            ..any()
        })
        .await,
        1
    );
    assert_eq!(
        count(AuditFilter {
            to: Some(later),
            ..any()
        })
        .await,
        4
    );
    let contradiction = AuditFilter {
        kind: Some(AuditKind::NotifySend),
        status: Some(Parked),
        ..any()
    };
    assert_eq!(count(contradiction).await, 0);
}

pub async fn the_rows_of_one_notification_are_found_by_its_id(t: &TestStore) {
    let lane = t.lane("mail").await;
    let (id, _) = (t.delivered(lane).await, t.delivered(lane).await);
    let filter = AuditFilter {
        correlation: Some(id),
        ..AuditFilter::default()
    };
    let found = page(t, &filter, 2, None).await;
    let status: Vec<_> = found.rows.iter().map(|row| row.status).collect();
    assert_eq!(status, [Delivered, Attempted]);
    let rest = page(t, &filter, 2, found.next).await;
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    assert_eq!(rest.rows[0].status, Submitted);
}

pub async fn an_unknown_notification_has_no_rows(t: &TestStore) {
    assert_eq!(
        t.store.attempts(TENANT, NotificationId::mint()).await.unwrap(),
        None
    );
    let filter = AuditFilter {
        correlation: Some(NotificationId::mint()),
        ..AuditFilter::default()
    };
    assert_eq!(page(t, &filter, 10, None).await, AuditPage::default());
}

pub async fn nobody_sees_another_tenants_log(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.delivered(lane).await;
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(t.store.attempts(elsewhere, id).await.unwrap(), None);
    let any = Page {
        limit: 100,
        after: None,
    };
    let theirs = t
        .store
        .audit(elsewhere, &AuditFilter::default(), any)
        .await
        .unwrap();
    let kinds: Vec<_> = theirs.rows.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [AuditKind::TenantChanged]);
}
