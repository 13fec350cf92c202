//! The demo's tour, as a stranger runs it.

use std::process::Command;

#[test]
fn the_tour_ends_well_and_says_what_went_where() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["demo", "--once", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
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
