//! A database that an older version wrote is read right, and delivered from, after the upgrade.

use super::Schema;
use crate::harness::{TENANT, TestStore, delivered};
use domain::{AuditStatus, LaneId, ManualClock, NotificationId, Status, Target};
use std::sync::Arc;
use store::outbox::Recorded;
use uuid::Uuid;

const STEPS: [&str; 4] = ["V1__outbox", "V2__sites", "V3__users", "V4__leases"];

const DELIVERED: Uuid = Uuid::from_u128(1);
const WAITING: Uuid = Uuid::from_u128(2);

/// As version 4 wrote them: one delivered, one waiting.
const ROWS: &str = r#"
  insert into lanes (tenant, provider, channel) values (1, 'mail', 'Email');
  insert into notifications (tenant, id, content_hash, channel, lane, recipients, subject, body, submitted_by, extra, created_at)
  values
    (1, '00000000-0000-0000-0000-000000000001', 1, 'Email', 1, '["a@example.org", "b@example.org"]', 's', 'b', 'key:x', '{}', 'epoch'),
    (1, '00000000-0000-0000-0000-000000000002', 2, 'Email', 1, '["c@example.org"]', 's', 'b', 'key:x', null, 'epoch');
  insert into outcome (seq, tenant, lane, status, at, waiting_since, generation, attempts, last_attempt_at, resolved_targets)
  values (1, 1, 1, 'Delivered', 'epoch', 'epoch', 0, 1, 'epoch', '["a@example.org", "b@example.org"]');
  insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms, detail)
  values ('epoch', 1, 1, 7, 'NotifyDeliver', 'Attempted', 'Delivered', 'system', 'mail', 12, '250 ok');
  insert into due (seq, tenant, lane, waiting_since, due_at) values (2, 1, 1, 'epoch', 'epoch');"#;

async fn written_by_version_4() -> Schema {
    let (newest, schema) = (Schema::fresh(), Schema::fresh());
    let _store = newest.open(&Arc::new(ManualClock::default()), "one").await;
    let admin = newest.admin().await;
    let name = schema.name();
    let mut script = format!("create schema {name}; set search_path to {name};");
    for step in STEPS {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres");
        script += &std::fs::read_to_string(format!("{folder}/{step}.sql")).unwrap();
    }
    script += ROWS;
    // What the migrations leave behind about themselves.
    let history = "refinery_schema_history";
    script += &format!(
        "create table {history} (like {0}.{history} including all);
         insert into {history} select * from {0}.{history} where version <= {1}",
        newest.name(),
        STEPS.len()
    );
    admin.batch_execute(&script).await.unwrap();
    schema
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_version_4_wrote_is_read_and_delivered_after_the_upgrade() {
    use AuditStatus::{Attempted, Delivered, Submitted};
    let schema = written_by_version_4().await;
    let clock = Arc::new(ManualClock::default());
    let t = TestStore::new(Arc::new(schema.open(&clock, "one").await), clock, ());

    let old = t.get(NotificationId(DELIVERED)).await;
    let both = ["a@example.org".to_owned(), "b@example.org".to_owned()];
    assert_eq!(old.status, Status::Delivered);
    assert_eq!(old.submission.content.target, Target::Recipients(both.to_vec()));
    assert_eq!(old.resolved_targets, both);
    let log = t
        .store
        .attempts(TENANT, NotificationId(DELIVERED))
        .await
        .unwrap()
        .unwrap();
    let told: Vec<_> = log.iter().map(|row| row.status).collect();
    assert_eq!(told, [Submitted, Attempted, Delivered]);
    assert_eq!(
        (log[1].target.as_deref(), log[1].detail.as_deref()),
        (Some("mail"), Some("250 ok"))
    );

    let claimed = t.claim_one(LaneId(1)).await;
    assert_eq!(claimed.id, NotificationId(WAITING));
    assert_eq!(
        claimed.content.target,
        Target::Recipients(vec!["c@example.org".into()])
    );
    assert_eq!(t.record(delivered(&claimed)).await, Recorded::Done);
    assert_eq!(t.status(NotificationId(WAITING)).await, Status::Delivered);
    t.check().await;
}
