//! `waypost notify --supersedes`: a newer notification takes the place of an older one.

use crate::harness::Server;

#[test]
fn a_newer_notification_with_the_same_key_takes_the_place_of_one_that_waits() {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    let send = |body: &str| {
        let words = ["notify", "--provider", "cap", "--body", body, "--send-at", "2h"];
        let ran = server.run(&[&words[..], &["--supersedes", "tank-4:level"]].concat());
        ran.done().out()
    };
    let (older, newer) = (send("4 m"), send("5 m"));
    let older = server.run(&["status", &older, "--json"]).done().json();
    assert_eq!(
        (&older["status"], &older["errorCode"]),
        (&"Discarded".into(), &"SUPERSEDED".into())
    );
    let newer = server.run(&["status", &newer, "--json"]).done().json();
    assert_eq!(newer["status"], "Pending");
}
