//! What `scripts/test` promises, with a stand-in for cargo: after a failure the rest is still run, and all that failed is
//! named.

use crate::tidy::root;
use std::{path::Path, process::Command};

/// Writes down what it is asked and answers as a cargo does whose formatter and two of whose suites fail.
const CARGO_THAT_FAILS: &str = r#"#!/bin/sh
echo "$*" >> "$ASKED"
case "$1" in
  fmt) exit 1 ;;
esac
case "$*" in
  test*--no-run) ;;
  test*--test\ processes*)
    echo 'test one::holds ... ok'
    echo 'test one::breaks ... FAILED'
    echo 'error: test failed, to rerun pass `-p first --test processes`'
    exit 101
    ;;
  test*--lib*)
    echo 'test two::breaks ... FAILED'
    echo 'test two::breaks_too ... FAILED'
    echo 'error: test failed, to rerun pass `-p second --lib`'
    exit 101
    ;;
esac
"#;

const CARGO_THAT_SUCCEEDS: &str = "#!/bin/sh\necho \"$*\" >> \"$ASKED\"\n";

/// Runs the script with this as its cargo. Answers how it ended, what it said and what cargo was asked for.
fn run(cargo: &str) -> (Option<i32>, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    write_program(&folder.path().join("cargo"), cargo);
    let asked = folder.path().join("asked");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let output = Command::new(root().join("scripts/test"))
        .arg("--quick")
        .env("PATH", path)
        .env("ASKED", &asked)
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let asked = std::fs::read_to_string(asked).unwrap();
    let asked = asked.lines().map(str::to_owned).collect();
    (output.status.code(), said, asked)
}

/// By a process of its own: a file that another test's child still has open for writing could not be run.
fn write_program(path: &Path, text: &str) {
    let written = Command::new("sh")
        .args(["-c", r#"printf '%s' "$1" > "$0" && chmod 755 "$0""#])
        .arg(path)
        .arg(text)
        .status();
    assert!(written.unwrap().success());
}

#[test]
fn after_a_failure_the_rest_is_run_and_all_that_failed_is_named() {
    let (code, said, asked) = run(CARGO_THAT_FAILS);
    let steps: Vec<_> = asked.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(steps, ["fmt", "clippy", "doc", "test", "test", "test", "test"]);
    assert!(
        asked[4..].iter().all(|line| line.contains("--no-fail-fast")),
        "{asked:?}"
    );
    assert_eq!(code, Some(1), "{said}");
    for line in [
        "== failed: formatting; tests",
        "  cargo test -p first --test processes one::breaks",
        "  cargo test -p second --lib two::breaks",
        "  cargo test -p second --lib two::breaks_too",
        "did not run: PostgreSQL",
    ] {
        assert!(said.contains(line), "no {line:?} in:\n{said}");
    }
    assert!(
        !said.contains("cargo test -p first --test processes one::holds"),
        "{said}"
    );
}

#[test]
fn every_suite_is_run_once() {
    let (_, _, asked) = run(CARGO_THAT_SUCCEEDS);
    let runs: Vec<_> = asked
        .iter()
        .filter(|line| line.starts_with("test ") && !line.contains("--no-run"))
        .collect();
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let Ok(suites) = std::fs::read_dir(folder.unwrap().path().join("tests")) else {
            continue;
        };
        for suite in suites {
            let path = suite.unwrap().path();
            if !path.join("main.rs").is_file() {
                assert_ne!(path.extension(), Some("rs".as_ref()), "{path:?} is not run");
                continue;
            }
            let asks = format!("--test {} ", path.file_name().unwrap().display());
            let times = runs
                .iter()
                .filter(|line| format!("{line} ").contains(&asks))
                .count();
            assert_eq!(times, 1, "{path:?} in {runs:#?}");
        }
    }
}

#[test]
fn where_nothing_failed_the_run_says_so() {
    let (code, said, asked) = run(CARGO_THAT_SUCCEEDS);
    assert_eq!((code, asked.len()), (Some(0), 7), "{said}");
    assert!(said.contains("== done: everything passed"), "{said}");
}
