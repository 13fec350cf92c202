//! `waypost try`, `waypost provider try`, and lists in which there is nothing.

use crate::harness::Server;

/// A server whose only provider is held: what is sent to it waits.
fn held() -> Server {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    server.run(&["provider", "hold", "cap"]).done();
    server
}

fn waiting(server: &Server) -> String {
    let sent = server.run(&[
        "notify",
        "--provider",
        "cap",
        "--subject",
        "s",
        "--body",
        "x",
        "--json",
    ]);
    sent.done().json()["notificationId"].as_str().unwrap().to_owned()
}

#[test]
fn several_are_tried_at_once_and_one_that_has_ended_keeps_no_other_from_it() {
    let server = held();
    let (one, two) = (waiting(&server), waiting(&server));
    let said = server.run(&["try", &one, &two]).done().out();
    for id in [&one, &two] {
        assert!(said.contains(&format!("{id} Pending, due now")), "{said}");
    }
    server.run(&["cancel", &one]).done();
    let mixed = server.run(&["try", &one, &two]).ended(4);
    assert!(
        mixed.out().contains(&format!("{two} Pending, due now")),
        "{}",
        mixed.out()
    );
    assert!(
        mixed.err().contains(&one) && mixed.err().contains("not all of them"),
        "{}",
        mixed.err()
    );
    server.run(&["try", &one]).ended(4);
    server.run(&["try"]).ended(2);
}

#[test]
fn a_provider_that_somebody_held_is_not_tried_and_one_that_goes_on_is() {
    let server = held();
    let id = waiting(&server);
    server.run(&["provider", "try", "cap"]).ended(4);
    server.run(&["provider", "resume", "cap"]).done();
    server.run(&["provider", "try", "cap"]).done();
    server.run(&["status", &id, "--watch"]).done();
    server.run(&["provider", "try", "nobody"]).ended(3);
}

#[test]
fn an_empty_list_says_what_to_do() {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    for (asked, helps) in [
        (vec!["template", "list"], "waypost template push"),
        (vec!["suppression", "list"], "waypost suppression add"),
        (vec!["event", "outbox"], "waypost event emit"),
        (vec!["event", "schedules"], "waypost event outbox"),
        (vec!["event", "types", "list"], "waypost event types put"),
        (vec!["provider", "captured", "cap"], "waypost notify"),
        (
            vec!["list"],
            "there are no notifications; send one: `waypost notify",
        ),
        (vec!["list", "--stuck"], "none match; take a filter away"),
        (vec!["audit", "--actor", "nobody"], "take a filter away"),
    ] {
        let ran = server.run(&asked).done();
        assert!(ran.err().contains(helps), "{asked:?}: {}", ran.err());
        assert_eq!(ran.out(), "", "{asked:?}");
    }
}
