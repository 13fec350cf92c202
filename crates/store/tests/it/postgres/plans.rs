//! No statement walks the history, whatever the statistics say: plans are looked at with a history of twenty thousand,
//! before and after the database has counted it, and once nothing waits any more.

use super::Schema;
use crate::prepared::statements;
use domain::ManualClock;
use serde_json::Value;
use std::sync::Arc;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Tables that grow with what was sent.
const BIG: [&str; 12] = [
    "notifications",
    "outcome",
    "audit_log",
    "due",
    "recipient_results",
    "spent_keys",
    "stats",
    "stats_rollup",
    "site_calls",
    "transcripts",
    "outbox_messages",
    "schedules",
];

/// Statements that walk a big table on purpose.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("misplaced", "notifications", "for tests and doctor"),
    ("misplaced", "due", "for tests and doctor"),
    ("misplaced", "outcome", "for tests and doctor"),
    ("kpi_waiting_all", "due", "what waits, not what was sent"),
    (
        "kpi_parked_all",
        "outcome",
        "only the parked ones: the index is partial",
    ),
    (
        "kpi_parked",
        "outcome",
        "only the parked ones: the index is partial",
    ),
    ("rollup_waiting", "due", "what waits, once a minute"),
    (
        "rollup_parked",
        "outcome",
        "only the parked ones, once a minute: the index is partial",
    ),
    (
        "failures_waiting",
        "due",
        "by number from the newest, ends at its limit",
    ),
    ("rollup_oldest", "stats", "ends at the first row"),
    ("purge_oldest_left", "outcome", "ends at the first row"),
];

/// Statements whose session plans once and must be right at any size.
const HOT: [&str; 26] = [
    "ingest",
    "ingest_plain",
    "ingest_known",
    "ingest_supersede",
    "claim_due",
    "claim_probe",
    "claim_known",
    "claim_undo",
    "lanes_waiting",
    "park_expired",
    "release",
    "renew",
    "record_ended",
    "record_delivered",
    "record_postpone",
    "record_retry",
    "record_wait",
    "record_recipient",
    "record_known",
    "late_ended",
    "late_delivered",
    "publish_event",
    "touch_schedules",
    "publish_schedule",
    "insert_schedule",
    "settle_event",
];

const HISTORY: &str = "
  insert into lanes (tenant, provider, channel) select 1, 'p' || i, 'Email' from generate_series(1, 20) i;
  insert into notifications (tenant, id, content_hash, channel, lane, subject, body, submitted_by, created_at)
  select 1, gen_random_uuid(), i, 'Email', i % 20 + 1, 's', 'b', 'key:x', now() - i * interval '1 second'
  from generate_series(1, 22000) i;
  insert into outcome (seq, tenant, lane, status, at, waiting_since, generation, attempts, attempt_token)
  select seq, tenant, lane, case when seq % 100 = 0 then 'Parked' else 'Delivered' end, created_at, created_at, 0, 1,
    case when seq % 100 <> 0 then 1 end
  from notifications where seq <= 20000;
  insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor)
  select at, tenant, seq, 1, 'NotifyDeliver', 'Attempted', status, 'system' from outcome where status = 'Parked' or seq % 10 = 1;
  insert into due (seq, tenant, lane, waiting_since, due_at)
  select seq, tenant, lane, created_at, created_at from notifications where seq > 20000;
  insert into outbox_messages (tenant, event_type, entity_id, status, next_attempt_at)
  select 'default', 'a.b', i, case when i % 100 = 0 then 'Failed' when i > 20000 then 'Pending' else 'Published' end,
    case when i > 20000 then '-infinity' else now() end
  from generate_series(1, 22000) i;
  insert into schedules (tenant, event_id, event_seq, event_type, entity_type, entity_id, status, due_at, next_look_at, created_at)
  select 1, event_id, seq, event_type, 'a', entity_id, case when seq % 5 = 0 then 'Pending' else 'Published' end, now(),
    case when seq % 5 = 0 then now() + interval '1 hour' end, now()
  from outbox_messages where status = 'Published';";

async fn session(schema: &Schema, hot: bool) -> Client {
    let config = store::postgres::session_config(&schema.url(), hot).unwrap();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    // A plan that does not know its parameters is what a session ends up with.
    client
        .batch_execute("set plan_cache_mode = force_generic_plan")
        .await
        .unwrap();
    client
}

async fn plan(client: &Client, name: &str, sql: &str) -> Value {
    let parameters = (1..40).take_while(|n| sql.contains(&format!("${n}::"))).count();
    let nulls = vec!["null"; parameters].join(", ");
    let arguments = if parameters == 0 {
        String::new()
    } else {
        format!("({nulls})")
    };
    let script = format!(
        "deallocate all; prepare looked_at as {sql}; explain (format json) execute looked_at{arguments}"
    );
    let answer = client
        .simple_query(&script)
        .await
        .unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let rows = answer.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    serde_json::from_str(&rows.collect::<Vec<_>>().join("\n")).unwrap()
}

/// Every step that reads a big table without being told which part of it.
fn walks(plan: &Value, found: &mut Vec<String>) {
    match plan {
        Value::Object(step) => {
            let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
            let reads = text("Node Type").contains("Scan") && text("Node Type") != "Bitmap Heap Scan";
            let table = if text("Node Type") == "Bitmap Index Scan" {
                text("Index Name")
            } else {
                text("Relation Name")
            };
            let told = step.contains_key("Index Cond") || step.contains_key("TID Cond");
            if reads && !told && BIG.iter().any(|big| table.starts_with(big)) {
                found.push(table.to_owned());
            }
            step.values().for_each(|part| walks(part, found));
        }
        Value::Array(parts) => parts.iter().for_each(|part| walks(part, found)),
        _ => {}
    }
}

async fn check_all(schema: &Schema, when: &str) {
    let (hot, general) = (session(schema, true).await, session(schema, false).await);
    let mut walking = vec![];
    for (name, sql) in statements("src/postgres") {
        if !["select", "insert", "update", "delete", "with"]
            .iter()
            .any(|verb| {
                let code = sql
                    .lines()
                    .find(|line| !line.starts_with("--"))
                    .unwrap_or_default();
                code.starts_with(verb)
            })
        {
            continue;
        }
        let session = if HOT.contains(&&*name) { &hot } else { &general };
        let plan = plan(session, &name, &sql).await;
        let mut found = vec![];
        walks(&plan, &mut found);
        found.retain(|table| !ALLOWED.iter().any(|(n, t, _)| *n == name && table.starts_with(t)));
        if !found.is_empty() {
            walking.push(format!("{name} walks {found:?}: {plan}"));
        }
    }
    assert!(walking.is_empty(), "{when}:\n{}", walking.join("\n"));
}

#[tokio::test]
async fn no_statement_walks_the_history() {
    let schema = Schema::fresh();
    let _store = schema.open(&Arc::new(ManualClock::default()), "one").await;
    check_all(&schema, "empty").await;
    let admin = schema.admin().await;
    admin.batch_execute(HISTORY).await.unwrap();
    check_all(&schema, "not yet counted").await;
    admin.batch_execute("analyze").await.unwrap();
    check_all(&schema, "counted").await;
    // What a database counts in a quiet hour is what it plans the next storm by.
    admin.execute("delete from due", &[]).await.unwrap();
    admin.execute("vacuum analyze due", &[]).await.unwrap();
    check_all(&schema, "nothing waited when it was counted").await;
}

#[tokio::test]
async fn the_hot_statements_use_the_index_made_for_them_and_sort_nothing() {
    let schema = Schema::fresh();
    let _store = schema.open(&Arc::new(ManualClock::default()), "one").await;
    schema.admin().await.batch_execute(HISTORY).await.unwrap();
    let (hot, general) = (session(&schema, true).await, session(&schema, false).await);
    let all = statements("src/postgres");
    for (name, index) in [
        ("claim_due", "due_by_lane"),
        ("claim_probe", "due_by_lane"),
        ("lanes_waiting", "due_by_lane"),
        ("lanes_waiting", "due_expiring"),
        ("park_expired", "due_expiring"),
        ("list_by_time", "notifications_by_time"),
        ("list_by_entity", "notifications_by_entity"),
        ("list_by_execution", "notifications_by_execution"),
        ("list_waiting", "due_by_tenant"),
        ("list_stuck", "due_by_tenant"),
        ("list_stuck", "notifications_by_time"),
        ("list_parked", "outcome_parked"),
        ("audit_page", "audit_by_time"),
        ("audit_sends", "notifications_by_time"),
        ("audit_deliveries", "outcome_deliveries"),
        ("record_known", "audit_by_seq"),
        ("purge_candidates", "outcome_deliveries"),
        ("purge_candidates", "outcome_others"),
        ("purge_oldest_left", "outcome_deliveries"),
        ("purge_oldest_left", "outcome_others"),
        ("due_events", "outbox_messages_due"),
        ("publish_event", "outbox_messages_pkey"),
        ("settle_event", "outbox_messages_pkey"),
        ("publish_schedule", "schedules_pkey"),
        ("settle_schedule", "schedules_pkey"),
        ("touch_schedules", "schedules_waiting"),
        ("cancel_schedules", "schedules_waiting"),
        ("waiting_of_entity", "notifications_by_entity"),
        ("events_by_id", "outbox_messages_tenant_event_id_key"),
        ("overtaken", "schedules_by_entity"),
        ("stuck_events", "outbox_messages_stuck"),
        ("stuck_events_of_all", "outbox_messages_stuck_of_all"),
    ] {
        let sql = &all.iter().find(|(n, _)| n == name).unwrap().1;
        let session = if HOT.contains(&name) { &hot } else { &general };
        let plan = plan(session, name, sql).await.to_string();
        assert!(plan.contains(index), "{name}: {plan}");
        // These sort what their limits or their batch let through.
        let may_sort = name == "purge_candidates"
            || name == "overtaken"
            || name == "events_by_id"
            || name.starts_with("stuck_events");
        assert!(may_sort || !plan.contains("\"Sort\""), "{name} sorts: {plan}");
    }
}
