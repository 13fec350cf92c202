//! Every statement is prepared against a migrated database: instead of checking SQL when compiling, when testing.

use crate::harness::open_sqlite_at;
use rusqlite::Connection;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The `.sql` files in a folder and below it.
fn files(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![], vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "sql") {
                found.push(path);
            }
        }
    }
    found
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The statements below a folder by name.
pub fn statements(folder: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = files(folder)
        .iter()
        .map(|file| (name(file), std::fs::read_to_string(file).unwrap()))
        .collect();
    found.sort();
    assert!(
        found.windows(2).all(|two| two[0].0 != two[1].0),
        "a name stands for one statement"
    );
    found
}

/// A migrated database of its own, and what keeps it.
pub fn migrated() -> (Connection, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waypost.db");
    drop(open_sqlite_at(&path));
    (Connection::open(path).unwrap(), folder)
}

#[test]
fn every_sqlite_statement_is_one_and_fits_the_schema() {
    let (conn, _folder) = migrated();
    for (name, sql) in statements("src/sqlite") {
        let prepared = conn.prepare(&sql);
        assert!(prepared.is_ok(), "{name}: {}", prepared.unwrap_err());
        assert!(
            !sql.trim_end().ends_with(';') && !sql.contains(";\n"),
            "{name}: one statement, no semicolon"
        );
    }
}

#[test]
fn a_statement_of_both_databases_stands_in_the_same_job_of_both() {
    let by_name = |folder: &str| -> BTreeMap<String, PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        files(folder)
            .iter()
            .map(|file| (name(file), file.strip_prefix(&root).unwrap().to_owned()))
            .collect()
    };
    let (sqlite, postgres) = (by_name("src/sqlite"), by_name("src/postgres"));
    for (name, place) in &sqlite {
        let other = postgres.get(name).unwrap_or(place);
        assert_eq!(place, other, "{name} has two places");
    }
}
