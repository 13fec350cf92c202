//! The demo's tour, as a stranger runs it.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
fn the_tour_ends_well_and_says_what_went_where() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["demo", "--once", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}");
    for said in [
        "Delivered",
        "Parked",
        "requeued",
        "crew",
        "The event machine.hot became 2 messages by templates, all delivered: Email, Slack.",
        "Every message ended as it should",
    ] {
        assert!(out.contains(said), "{said:?} is not in:\n{out}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "the demo leaves nothing behind"
    );
}

#[test]
fn a_demo_that_is_told_to_stop_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["demo", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(
        lines.any(|line| line.contains("Ctrl-C ends it")),
        "it introduces itself"
    );
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files(), 1, "its folder");
    let told = Command::new("kill").arg(demo.id().to_string()).status().unwrap();
    assert!(told.success());
    let rest: Vec<_> = lines.collect();
    assert!(demo.wait().unwrap().success(), "{rest:?}");
    assert_eq!(files(), 0, "its folder is gone");
}
