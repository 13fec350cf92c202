//! What is written down.

use crate::world::{TENANT, World, secs, somebody};
use domain::{AuditKind, AuditStatus, Failure, Scope};
use store::query::{AuditFilter, Page};
use testkit::a_notification;

#[tokio::test]
async fn a_delivery_leaves_one_row_for_the_send_one_for_the_attempt_and_one_for_the_end() {
    let mut world = World::new().await;
    let mut notification = a_notification().site("plant-3");
    notification.0.provenance.execution = Some(domain::ExecutionId::new("run-1"));
    notification.0.provenance.parent_execution = Some(domain::ExecutionId::new("run-0"));
    let id = world.send(notification).await;
    world.sweep().await;
    let rows = world.attempts(id).await;
    let what: Vec<_> = rows.iter().map(|r| (r.kind, r.status)).collect();
    assert_eq!(
        what,
        [
            (AuditKind::NotifySend, AuditStatus::Submitted),
            (AuditKind::NotifyDeliver, AuditStatus::Attempted),
            (AuditKind::NotifyDeliver, AuditStatus::Delivered),
        ]
    );
    for row in &rows {
        assert_eq!(row.notification, Some(id));
        assert_eq!(row.execution.as_deref(), Some("run-1"));
        assert_eq!(row.parent_execution.as_deref(), Some("run-0"));
        assert_eq!(row.site.as_deref(), Some("plant-3"));
    }
    assert_eq!(rows[0].actor, "key:test");
    assert_eq!(rows[1].actor, "system");
    assert!(rows[1].duration_ms.is_some());
}

#[tokio::test]
async fn a_transient_failure_leaves_only_an_attempted_row() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "later").into());
    let id = world.send(a_notification()).await;
    world.sweep().await;
    let rows = world.attempts(id).await;
    let deliver: Vec<_> = rows
        .iter()
        .filter(|r| r.kind == AuditKind::NotifyDeliver)
        .collect();
    assert_eq!(deliver.len(), 1);
    assert_eq!(
        (deliver[0].status, deliver[0].code.as_deref()),
        (AuditStatus::Attempted, Some("SMTP_451"))
    );
    assert_eq!(deliver[0].detail.as_deref(), Some("later"));
}

#[tokio::test]
async fn every_operator_action_names_who_did_it() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Message, "HTTP_400", "bad").into());
    let id = world.send(a_notification()).await;
    world.sweep().await;
    world.requeue(id).await;
    world.sweep().await;
    world.advance(secs(1));
    world
        .central
        .operator
        .discard(TENANT, &[id], &somebody())
        .await
        .unwrap();
    let rows = world.attempts(id).await;
    let by_people: Vec<_> = rows
        .iter()
        .filter(|r| r.actor == "key:operator")
        .map(|r| (r.kind, r.status))
        .collect();
    assert_eq!(
        by_people,
        [
            (AuditKind::NotifyRequeue, AuditStatus::Pending),
            (AuditKind::NotifyDeliver, AuditStatus::Discarded)
        ]
    );
    let discarded = rows.iter().find(|r| r.status == AuditStatus::Discarded).unwrap();
    assert_eq!(discarded.code, None, "a discard is a decision, not a failure");

    let filter = AuditFilter {
        actor: Some("key:operator".into()),
        kind: Some(AuditKind::NotifyRequeue),
        ..Default::default()
    };
    let page = world
        .central
        .store
        .audit(
            TENANT,
            &filter,
            Page {
                limit: 10,
                after: None,
            },
        )
        .await
        .unwrap();
    assert_eq!(page.rows.len(), 1);
    assert_eq!(page.rows[0].notification, Some(id));
}
