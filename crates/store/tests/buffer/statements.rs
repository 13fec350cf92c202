//! Every statement fits the schema, and none that runs often walks the buffer.

use crate::harness::Place;
use rusqlite::Connection;

fn statements() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/buffer/sql");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Statements that walk a table on purpose.
const WALKS: &[(&str, &str)] = &[
    ("counts", "once, when the file is opened"),
    ("categories_differ", "once, when the file is opened"),
    ("unknown_categories", "once, when the file is opened"),
    ("highest_op", "once, when the file is opened"),
    ("counts_remembered", "once, when the file is opened"),
    ("counts_news", "once, when the file is opened"),
    (
        "damage_open",
        "what nobody has acknowledged, through its own index",
    ),
    (
        "damage_count",
        "what nobody has acknowledged, through its own index",
    ),
    (
        "damage_acknowledge",
        "what nobody has acknowledged, through its own index",
    ),
    (
        "damage_more_rows",
        "what nobody has acknowledged, through its own index",
    ),
    ("salvage_by_seq_asc", "all of a damaged file"),
    ("salvage_by_seq_desc", "all of a damaged file"),
    ("salvage_by_status_asc", "all of a damaged file"),
    ("salvage_by_status_desc", "all of a damaged file"),
    ("salvage_by_category_asc", "all of a damaged file"),
    ("salvage_by_category_desc", "all of a damaged file"),
    ("events_page", "ends at its limit"),
    ("telemetry_page", "ends at its limit"),
    ("telemetry_drop", "ends at its limit"),
    ("telemetry_count", "once a day, and for whoever asks"),
    ("telemetry_again", "all that is remembered, through its own index"),
    ("told_of", "what was parked before, through its own index"),
    ("interrupted", "what is under way, through its own index"),
    ("targets_due", "a step of the index per target"),
    ("log_head", "the sequences, a row per table"),
    ("sequence_get", "the sequences, a row per table"),
    ("sequence_begin", "the sequences, a row per table"),
    ("sequence_raise", "the sequences, a row per table"),
    ("log_is_on", "the names of the schema"),
    (
        "pull_due_in",
        "what is tried by time, through its own index: at the start, and when the clock was set back",
    ),
];

#[test]
fn every_statement_is_one_and_none_walks_the_buffer_unannounced() {
    let place = Place::new();
    drop(place.open());
    let conn = Connection::open(place.file()).unwrap();
    for (name, sql) in statements() {
        assert!(!sql.trim_end().ends_with(';') && !sql.contains(";\n"), "{name}");
        let mut explain = conn
            .prepare(&format!("explain query plan {sql}"))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            // A list that came with the statement is not a table.
            let no_table = ["CONSTANT ROW", "SCAN (", "VIRTUAL TABLE"]
                .iter()
                .any(|what| step.contains(what));
            let walks = step.starts_with("SCAN ") && !no_table;
            let sorts = step.contains("TEMP B-TREE");
            let allowed = WALKS.iter().any(|(n, _)| *n == name);
            assert!(!(walks || sorts) || allowed, "{name}: {step}");
        }
    }
}

#[test]
fn the_hot_statements_use_the_index_made_for_them() {
    let place = Place::new();
    drop(place.open());
    let conn = Connection::open(place.file()).unwrap();
    let all = statements();
    for (name, index) in [
        ("claim_due", "idx_sf_messages_due"),
        ("targets_due", "idx_sf_messages_due"),
        ("count_of_target", "idx_sf_messages_due"),
        ("pull_due_in", "idx_sf_messages_due"),
        ("forwardable", "idx_sf_messages_category"),
        ("waiting_page", "idx_sf_messages_status"),
        ("known_by_id", "idx_tombstones_id"),
        ("selected", "idx_sf_messages_status"),
        ("selected_count", "idx_sf_messages_status"),
        ("told_of", "idx_sf_messages_told"),
        ("telemetry_page", "idx_telemetry_waiting"),
        ("telemetry_again", "idx_telemetry_heard"),
        ("telemetry_forget", "idx_telemetry_heard"),
        ("oldest_waiting", "idx_sf_messages_status"),
        ("interrupted", "idx_sf_messages_attempting"),
        ("remembered_oldest", "idx_tombstones_remembered"),
        ("events_of_message", "idx_site_events_message"),
        ("accepted_event", "idx_site_events_at"),
        ("notification_times", "idx_tombstones_id"),
        ("purge_tracking", "ix_operation_tracking_terminal"),
    ] {
        let sql = &all.iter().find(|(n, _)| n == name).unwrap().1;
        let mut explain = conn.prepare(&format!("explain query plan {sql}")).unwrap();
        let mut steps = explain.raw_query();
        let mut plan = vec![];
        while let Some(step) = steps.next().unwrap() {
            plan.push(step.get::<_, String>("detail").unwrap());
        }
        assert!(plan.iter().any(|step| step.contains(index)), "{name}: {plan:#?}");
    }
}
