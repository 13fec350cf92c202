//! `waypost template` against a real server: a folder of files and central, brought to agree.

use crate::harness::Server;
use serde_json::json;
use std::fs;

const FILE: &str = "folder/booking.confirmed/Email.default.en-IN.toml";

fn text(body: &str) -> String {
    format!(
        "eventType = 'booking.confirmed'\nchannel = 'Email'\nlanguage = 'en_in'\nsubject = 'Booking {{{{id}}}}'\nbody = '''\n{body}\n'''\n"
    )
}

fn read(server: &Server, file: &str) -> String {
    fs::read_to_string(server.place.path().join(file)).unwrap()
}

fn write(server: &Server, file: &str, text: &str) {
    let path = server.place.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_folder_of_templates_is_pushed_pulled_and_stays_the_same() {
    let server = Server::start();
    write(&server, FILE, &text("Dear {{guestName}}"));
    assert!(
        server
            .run(&["template", "push", "folder"])
            .done()
            .out()
            .contains("created")
    );
    assert!(read(&server, FILE).contains("version = 1"));
    assert_eq!(server.run(&["template", "push", "folder"]).done().out(), "");
    server.run(&["template", "pull", "other"]).done();
    assert_eq!(
        read(&server, "other/booking.confirmed/Email.default.en-IN.toml"),
        read(&server, FILE)
    );
    assert_eq!(server.run(&["template", "pull", "folder"]).done().out(), "");

    let changed = read(&server, FILE).replace("Dear", "Hello");
    write(&server, FILE, &changed);
    assert!(
        server
            .run(&["template", "push", "folder"])
            .done()
            .out()
            .contains("version 2")
    );
    let listed = server.run(&["template", "list", "--json"]).done().json();
    assert_eq!(
        (&listed[0]["version"], &listed[0]["language"]),
        (&json!(2), &json!("en-IN"))
    );
}

#[test]
fn what_somebody_else_has_changed_is_not_overwritten_unless_one_insists() {
    let server = Server::start();
    write(&server, FILE, &text("Dear {{guestName}}"));
    server.run(&["template", "push", "folder"]).done();
    server.run(&["template", "pull", "theirs"]).done();
    let theirs = FILE.replace("folder", "theirs");
    write(
        &server,
        &theirs,
        &read(&server, &theirs).replace("Dear", "Theirs:"),
    );
    server.run(&["template", "push", "theirs"]).done();
    write(&server, FILE, &read(&server, FILE).replace("Dear", "Mine:"));
    let refused = server.run(&["template", "push", "folder"]).ended(4);
    assert!(refused.err().contains("changed meanwhile"), "{}", refused.err());
    server.run(&["template", "push", "folder", "--force"]).done();
    assert!(read(&server, FILE).contains("version = 3"));
}

#[test]
fn a_file_is_previewed_before_it_is_saved_and_a_saved_one_is_tried_out() {
    let server = Server::start();
    write(&server, FILE, &text("Total {{total}}, {{missing}}"));
    write(&server, "event.json", r#"{"id": 7, "total": 10.50}"#);
    let seen = server
        .run(&["template", "preview", FILE, "--payload", "event.json"])
        .done();
    assert!(seen.out().contains("Total 10.50,"), "{}", seen.out());
    assert!(seen.err().contains("{{missing}} has no value"), "{}", seen.err());
    server.run(&["template", "push", "folder"]).done();
    let id = server.run(&["template", "list", "--json"]).done().json()[0]["id"].to_string();
    let seen = server
        .run(&["template", "preview", &id, "--payload", "event.json", "--json"])
        .done()
        .json();
    assert_eq!(seen["subject"], "Booking 7");
    let sent = server
        .run(&[
            "template",
            "test",
            &id,
            "--to",
            "me@example.com",
            "--payload",
            "event.json",
        ])
        .done();
    let shown = server.run(&["show", sent.out().trim(), "--json"]).done().json();
    assert_eq!(shown["subject"], "Booking 7");
    let asked = server.run(&["template", "rm", &id]).ended(2);
    assert!(asked.err().contains("Nothing hangs on it."), "{}", asked.err());
    server.run(&["template", "rm", &id, "--yes"]).done();
    server.run(&["template", "preview", &id]).ended(3);
    write(&server, FILE, &(text("x") + "colour = 'red'\n"));
    assert!(
        server
            .run(&["template", "push", "folder"])
            .ended(2)
            .err()
            .contains("colour")
    );
}
