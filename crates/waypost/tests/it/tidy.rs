//! Rules the whole workspace keeps, read from its manifests and sources: who may depend on whom, where SQL, delays
//! and the wall clock may be, and that nothing knows the machine it was written on.

pub mod scan;
mod twins;

use scan::Source;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every file below with this ending, as a path from the root.
pub fn files(below: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(
        below == "scripts" || !found.is_empty(),
        "nothing found in {below}"
    );
    found
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Whom each crate may use, besides crates that are not ours.
fn arrows() -> BTreeMap<&'static str, &'static [&'static str]> {
    BTreeMap::from([
        ("domain", &[][..]),
        ("emit", &[]),
        ("store", &["domain", "emit"]),
        ("delivery", &["domain"]),
        ("link", &["domain"]),
        ("client", &["domain"]),
        ("simulator", &[]),
        ("wiregen", &[]),
        ("central", &["store", "delivery", "link", "domain"]),
        ("site", &["store", "delivery", "link", "domain"]),
        ("web", &["central", "store", "delivery", "link", "domain"]),
        ("testkit", &["store", "delivery", "link", "domain", "simulator"]),
        (
            "bench",
            &[
                "web",
                "central",
                "site",
                "store",
                "delivery",
                "link",
                "domain",
                "simulator",
            ],
        ),
        (
            "waypost",
            &[
                "web",
                "central",
                "site",
                "client",
                "store",
                "delivery",
                "link",
                "domain",
                "simulator",
                "bench",
            ],
        ),
    ])
}

#[test]
fn crates_depend_on_each_other_only_along_the_arrows() {
    let arrows = arrows();
    for manifest in files("crates", "Cargo.toml") {
        let manifest: toml::Table = toml::from_str(&read(&manifest)).unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
        let allowed = arrows
            .get(name)
            .unwrap_or_else(|| panic!("say in arrows() whom {name} may use"));
        let uses = |section: &str| -> Vec<String> {
            let section = manifest
                .get(section)
                .and_then(toml::Value::as_table)
                .cloned()
                .unwrap_or_default();
            section
                .keys()
                .filter(|dependency| arrows.contains_key(dependency.as_str()))
                .cloned()
                .collect()
        };
        for dependency in [uses("dependencies"), uses("build-dependencies")].concat() {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} must not use {dependency}"
            );
        }
    }
}

/// A profile inherits what another says of single packages too.
#[test]
fn what_a_release_build_leaves_unoptimised_is_optimised_in_the_package() {
    let workspace: toml::Table = toml::from_str(&read(&root().join("Cargo.toml"))).unwrap();
    let levels = |profile: &str| -> BTreeMap<String, i64> {
        let packages = workspace["profile"][profile]["package"].as_table().unwrap();
        let level = |settings: &toml::Value| settings["opt-level"].as_integer().unwrap();
        packages
            .iter()
            .map(|(name, settings)| (name.clone(), level(settings)))
            .collect()
    };
    let mut lowered = levels("release");
    lowered.retain(|_, level| *level < 3);
    lowered.values_mut().for_each(|level| *level = 3);
    assert!(!lowered.is_empty());
    assert_eq!(levels("dist"), lowered);
}

/// Whether a text reads like a statement that touches rows.
fn is_sql(text: &str) -> bool {
    let words: Vec<_> = text.split_whitespace().collect();
    let pair = |a: &str, b: &str| words.windows(2).any(|w| w[0] == a && w[1] == b);
    let starts = |word: &str| {
        words
            .first()
            .is_some_and(|first| first.eq_ignore_ascii_case(word))
    };
    let has = |word: &str| words.iter().any(|w| w.eq_ignore_ascii_case(word));
    pair("INSERT", "INTO")
        || pair("DELETE", "FROM")
        || (words.contains(&"SELECT") && words.len() > 1)
        || (words.contains(&"UPDATE") && words.contains(&"SET"))
        || (starts("insert") && has("into") && has("values"))
        || (starts("select") && has("from"))
        || (starts("delete") && has("from") && has("where"))
        || (starts("update") && has("set"))
}

#[test]
fn statements_are_in_sql_files_of_the_store_and_nowhere_else() {
    assert!(
        is_sql("SELECT 1")
            && is_sql("delete from due where seq = ?1")
            && !is_sql("takes a list away from them")
    );
    let mut found = vec![];
    for path in files("crates", ".rs") {
        let text = path.to_string_lossy();
        // Tests of the store may look behind it; the ones here have examples.
        // `emit` is what applications run, in their own databases; `bench` has what the store is measured against.
        if text.starts_with("crates/store/tests")
            || text.starts_with("crates/emit")
            || text.starts_with("crates/bench/src/limits")
            // Applications and an administrator of the server, whom the tests play.
            || text.ends_with("tests/processes/application.rs")
            || text.ends_with("tests/processes/postgres.rs")
            || text.ends_with("central/src/events/pull_tests.rs")
            || text.contains("it/tidy")
        {
            continue;
        }
        let source = Source::read(&read(&path));
        found.extend(
            source
                .strings
                .iter()
                .filter(|s| is_sql(s))
                .map(|s| format!("{text}: {s:.80}")),
        );
    }
    assert!(
        found.is_empty(),
        "SQL outside crates/store/src/*/*/sql:\n{}",
        found.join("\n")
    );
    for path in files("crates", ".sql") {
        assert!(
            ["crates/store", "crates/emit", "crates/bench/src/limits"]
                .iter()
                .any(|folder| path.starts_with(folder)),
            "{} is neither in the store nor in emit nor among the limits that the store is measured against",
            path.display()
        );
    }
}

/// Every place in the code (not in comments or texts) where one of these words is, besides the file that may have them and
/// its tests.
fn uses_of(words: &[&str], allowed: &str) -> Vec<String> {
    let its_tests = allowed.replace(".rs", "_tests.rs");
    let mut found = vec![];
    for path in files("crates", ".rs") {
        if path.starts_with(allowed) || path == Path::new(&its_tests) {
            continue;
        }
        let source = Source::read(&read(&path));
        for (number, line) in source.code.lines().enumerate() {
            let squeezed: String = line.split_whitespace().collect();
            if let Some(word) = words.iter().find(|word| squeezed.contains(**word)) {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    found
}

#[test]
fn the_wall_clock_is_read_in_one_place() {
    let found = uses_of(
        &[
            "SystemTime::now",
            "Timestamp::now()",
            "Zoned::now",
            "Utc::now",
            "Local::now",
        ],
        "crates/domain/src/clock.rs",
    );
    assert!(
        found.is_empty(),
        "ask domain::Clock instead:\n{}",
        found.join("\n")
    );
}

#[test]
fn delays_are_computed_in_one_place() {
    let words = [
        "backoff",
        ".powi(",
        ".powf(",
        "saturating_pow(",
        ".factor*",
        "*self.factor",
        "factor*=",
    ];
    let found = uses_of(&words, "crates/domain/src/retry");
    assert!(
        found.is_empty(),
        "delays belong to domain::retry:\n{}",
        found.join("\n")
    );
}

#[test]
fn every_file_that_the_architecture_names_is_there() {
    let page = read(Path::new("ARCHITECTURE.md"));
    let named = page.split('`').skip(1).step_by(2);
    let mut seen = 0;
    for name in named.filter(|name| name.contains('/') && !name.contains([' ', '…', '\n'])) {
        let (first, rest) = name.split_once('/').unwrap();
        let folder = |path: PathBuf| match name.contains('*') {
            true => path.parent().unwrap().to_owned(),
            false => path,
        };
        let places = [
            root().join(name),
            root().join("crates").join(name),
            root().join("crates").join(first).join("src").join(rest),
        ];
        assert!(
            places.into_iter().any(|place| folder(place).exists()),
            "ARCHITECTURE.md names {name}, which is not there"
        );
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn nothing_knows_the_machine_it_was_written_on() {
    let homes = ["/home/", "/root/", "/Users/", "/work/", "C:\\"];
    let all = [files("crates", ""), files("docs", ""), files("scripts", "")].concat();
    let mut found = vec![];
    for path in all {
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else {
            continue;
        };
        if path.ends_with("it/tidy.rs") {
            continue;
        }
        found.extend(
            homes
                .iter()
                .filter(|home| text.contains(**home))
                .map(|home| format!("{}: {home}", path.display())),
        );
    }
    assert!(found.is_empty(), "paths of one machine:\n{}", found.join("\n"));
}
