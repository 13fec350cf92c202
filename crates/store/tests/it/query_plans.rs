//! No statement walks the history. What is allowed to walk a table says so here, and why.

use crate::prepared::{migrated, statements};

/// Tables that only grow with the configuration; walking them costs nothing.
const SMALL: [&str; 26] = [
    "channel_orders",
    "l",
    "lanes",
    "p",
    "providers",
    "tenants",
    "lists",
    "api_keys",
    "meta",
    "jobs",
    "stats",
    "sites",
    "site_relays",
    "refinery_schema_history",
    "sqlite_schema",
    "t",
    "u",
    "users",
    "of",
    "sessions",
    "sign_in_links",
    "saved_filters",
    "newest",
    "message_templates",
    "message_template_versions",
    "template_settings",
];

/// Statements that walk a big table on purpose.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("movable_rows", "one", "a single row, no table"),
    ("movable_rows", "examined", "ends at its limit"),
    ("movable_rows", "e", "ends at its limit"),
    ("movable_rows", "given", "ends at its limit"),
    ("lend_probe_row", "e", "ends at its limit"),
    ("lend_probe_row", "left_lane", "the lanes one row has left"),
    ("move_row", "left_lane", "the lanes one row has left"),
    ("misplaced", "n", "for tests and doctor"),
    ("misplaced", "d", "for tests and doctor"),
    ("misplaced", "o", "for tests and doctor"),
    ("void_stale_leases", "due", "once, when a process starts"),
    ("kpi_waiting_all", "due", "what waits, through the index by age"),
    (
        "kpi_parked_all",
        "outcome",
        "only the parked ones: the index is partial",
    ),
    ("rollup_waiting", "due", "what waits, once a minute"),
    (
        "rollup_parked",
        "outcome",
        "only the parked ones, once a minute: the index is partial",
    ),
    ("suppressed", "asked", "the addresses of one claim, no table"),
    ("purge_candidates", "o", "what its limits let through"),
    ("purge_oldest_left", "o", "ends at the first"),
    (
        "receipts_waiting",
        "receipt_inbox",
        "what has not been worked on, ends at its limit",
    ),
    (
        "receipts_orphaned",
        "receipt_inbox",
        "what fits nothing, in its own index; only where there is much of it",
    ),
    ("attempts_made", "made", "the attempts of one notification"),
    ("events_by_id", "names", "one for each name that events have"),
    ("purge_events", "m", "the messages of one schedule"),
    ("purgeable_events", "m", "the messages of one schedule"),
    ("purge_audit", "audit_log", "from the oldest, ends at its limit"),
    (
        "purgeable_audit",
        "audit_log",
        "from the oldest, ends at its limit",
    ),
];

/// Statements that sort what their limit lets through.
const SORTS_FEW: &[&str] = &["purge_candidates"];

#[test]
fn no_statement_walks_the_history() {
    let (conn, _folder) = migrated();
    for (name, sql) in statements("src/sqlite") {
        let mut explain = conn.prepare(&format!("explain query plan {sql}")).unwrap();
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            let Some(walked) = step.strip_prefix("SCAN ") else {
                continue;
            };
            let table = walked.split(' ').next().unwrap();
            let harmless = SMALL.contains(&table) || walked == "CONSTANT ROW" || table.starts_with('(');
            let allowed = ALLOWED.iter().any(|(n, t, _)| *n == name && *t == table);
            assert!(harmless || allowed, "{name}: {step}");
        }
    }
}

#[test]
fn the_hot_statements_use_the_index_made_for_them() {
    let (conn, _folder) = migrated();
    let expected = [
        ("claim_due", "due_by_lane"),
        ("lanes_waiting", "due_by_lane"),
        ("list_by_time", "notifications_by_time"),
        ("list_by_entity", "notifications_by_entity"),
        ("list_by_execution", "notifications_by_execution"),
        ("list_waiting", "due_by_tenant"),
        ("list_stuck", "due_by_tenant"),
        ("list_stuck", "notifications_by_time"),
        ("list_parked", "outcome_parked"),
        ("kpi_parked", "outcome_parked"),
        ("kpi_waiting", "due_by_tenant"),
        ("audit_page", "audit_by_time"),
        ("audit_sends", "notifications_by_time"),
        ("audit_deliveries", "outcome_deliveries"),
        ("record_known", "audit_by_seq"),
        ("audit_by_operation", "audit_by_operation"),
        ("site_calls_page", "site_calls_by_time"),
        ("purge_site_calls", "site_calls_ended"),
        ("ingest_supersede", "due_superseded"),
        ("park_expired", "due_expiring"),
        ("chores", "due_expiring"),
        ("receipts_due", "receipt_inbox_due"),
        ("record_awaited", "receipt_inbox_orphans"),
        ("receipts_orphaned", "receipt_inbox_orphans"),
        ("purge_jobs", "jobs_ended"),
        ("purge_transcripts", "transcripts_by_age"),
        ("purge_candidates", "outcome_deliveries"),
        ("purge_candidates", "outcome_others"),
        ("purge_oldest_left", "outcome_deliveries"),
        ("purge_oldest_left", "outcome_others"),
    ];
    let all = statements("src/sqlite");
    for (name, index) in expected {
        let sql = &all.iter().find(|(n, _)| n == name).unwrap().1;
        let mut explain = conn.prepare(&format!("explain query plan {sql}")).unwrap();
        let mut steps = explain.raw_query();
        let mut plan = vec![];
        while let Some(step) = steps.next().unwrap() {
            plan.push(step.get::<_, String>("detail").unwrap());
        }
        assert!(plan.iter().any(|step| step.contains(index)), "{name}: {plan:#?}");
        assert!(
            SORTS_FEW.contains(&name) || !plan.iter().any(|step| step.contains("TEMP B-TREE")),
            "{name} sorts: {plan:#?}"
        );
    }
}
