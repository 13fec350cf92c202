//! "Five minutes for real" of the README, word by word, with the simulator as the mail server.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// The commands of a chapter, in their order.
fn commands(chapter: &str) -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let text = readme.split_once(&format!("## {chapter}\n")).unwrap().1;
    let text = text.split("\n## ").next().unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    lines.map(str::to_owned).collect()
}

#[test]
fn five_minutes_for_real_work_word_by_word() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands("Five minutes for real");
    // The program is built already; that line is the only one that is not run.
    assert!(commands[0].starts_with("cargo install"), "{commands:?}");
    let [api, link, mail, hooks] = [(); 4].map(|()| testkit::ports::an_address().port());
    let moved = commands[1..]
        .join("\n")
        .replace(
            "waypost simulate",
            &format!("waypost simulate --smtp 127.0.0.1:{mail} --http 127.0.0.1:{hooks}"),
        )
        .replace("port=2525", &format!("port={mail}"))
        .replace("127.0.0.1:8080", &format!("127.0.0.1:{api}"))
        .replace("127.0.0.1:8025", &format!("127.0.0.1:{hooks}"));
    // The mail server is there, and its certificate on disk, before somebody reads that: a reader is slower than a script.
    let there = format!(
        "for _ in $(seq 900); do\n  curl -fsS http://127.0.0.1:{hooks}/simulator/received >there && test -s simulator.pem && break\n  \
         sleep 0.2\ndone\nwaypost provider add"
    );
    let moved = moved.replacen("waypost provider add", &there, 1);
    let caught = format!("curl -fsS http://127.0.0.1:{hooks}/simulator/received > caught.json");
    let script = format!("set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n{moved}\n{caught}\n");
    let binary = Path::new(env!("CARGO_BIN_EXE_waypost")).parent().unwrap();
    let mut path = binary.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("WAYPOST_URL", format!("http://127.0.0.1:{api}"))
        .env("WAYPOST_SERVER__LISTEN", format!("127.0.0.1:{api}"))
        .env("WAYPOST_SERVER__LINK_LISTEN", format!("127.0.0.1:{link}"))
        .env_remove("WAYPOST_API_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}\n{script}");
    let caught = std::fs::read_to_string(folder.path().join("caught.json")).unwrap();
    for said in [
        "Waypost test",
        "me@example.com",
        "Tank 4 is full",
        "ann@example.com",
        "Level 98 %",
    ] {
        assert!(caught.contains(said), "{said:?} is not in {caught}\n{out}\n{err}");
    }
    assert!(out.contains("Delivered"), "{out}");
}
