//! `waypost event` against a real server: from something that happened to what came of it, and once more.

use crate::harness::{Place, Server};
use testkit::until;

const TYPE: &str = r#"{"dedupe": "entity", "addresses": {"Sms": "guest_phone"}}"#;
const PAYLOAD: &str = r#"{"guest": {"name": "Asha"}}"#;

/// A capture provider takes one message of a booking, and the other has nobody to go to.
fn server() -> Server {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    server.place.write("type.json", TYPE);
    server
        .run(&["event", "types", "put", "booking.confirmed", "type.json"])
        .done();
    std::fs::create_dir(server.place.path().join("folder")).unwrap();
    for (channel, body) in [("Capture", "Dear {{guest_name}}{{nobody}}"), ("Sms", "See you")] {
        let text = format!("eventType = 'booking.confirmed'\nchannel = '{channel}'\nbody = '{body}'\n");
        server.place.write(&format!("folder/{channel}.toml"), &text);
    }
    server.run(&["template", "push", "folder"]).done();
    server
}

#[tokio::test]
async fn what_each_template_of_an_event_came_to_is_listed_with_the_reason() {
    let server = server();
    let emit = [
        "event",
        "emit",
        "booking.confirmed",
        "12345",
        "--payload",
        PAYLOAD,
    ];
    let id = server.run(&emit).done().out();
    let schedules = || server.run(&["event", "schedules"]).done().out();
    until("it to be delivered", async || schedules().contains("Delivered")).await;
    let listed = schedules();
    for said in [
        id.trim(),
        "booking 12345",
        "Completed",
        "Capture Delivered: {{nobody}} has no value",
        "Sms skipped: No recipient",
    ] {
        assert!(listed.contains(said), "{said}: {listed}");
    }
    let resend = |channel| server.run(&["event", "resend", "booking", "12345", "--type", channel]);
    let sent = resend("Capture").done().out();
    let shown = server.run(&["show", sent.trim(), "--json"]).done().json();
    assert_eq!(shown["body"], "Dear Asha");
    let log = server.run(&["event", "log", "booking", "12345"]).done().out();
    let skipped = log.lines().find(|line| line.contains("Skipped")).unwrap();
    assert!(
        skipped.contains("Sms") && skipped.contains("No recipient"),
        "{log}"
    );
    assert_eq!(
        log.lines().count(),
        4,
        "a head, two that were sent, one that was not: {log}"
    );
    let refused = resend("Sms").ended(1);
    assert!(
        refused.err().contains("not sent: default: No recipient")
            && refused.err().contains("nothing was sent"),
        "{}",
        refused.err()
    );
}

#[tokio::test]
async fn a_resend_that_names_an_inactive_template_is_a_conflict_that_says_how_to_activate_it() {
    let server = server();
    let file = std::fs::read_to_string(server.place.path().join("folder/Capture.toml")).unwrap();
    assert!(file.contains("active = true"), "{file}");
    let file = file.replace("active = true", "active = false");
    server.place.write("folder/Capture.toml", &file);
    server.run(&["template", "push", "folder"]).done();
    let rows = server.run(&["template", "list", "--json"]).done().json();
    let mut rows = rows.as_array().unwrap().iter();
    let off = rows.find(|row| row["channel"] == "Capture").unwrap();
    let id = off["id"].to_string();
    let resend = ["event", "resend", "booking", "12345", "--type", "Capture"];
    let named = [resend.as_slice(), &["--template", id.as_str()]].concat();
    let refused = server.run(&named).ended(4).err();
    assert!(
        refused.contains("is inactive") && refused.contains("waypost template push"),
        "{refused}"
    );
}

#[tokio::test]
async fn who_says_what_follows_from_events_that_were_deferred_is_told_how_to_replay_them() {
    let server = Server::start();
    server.run(&["event", "emit", "booking.moved", "7"]).done();
    let stands = |status| {
        let listed = server.run(&["event", "outbox", "--status", status]).done();
        listed.out().contains("booking.moved")
    };
    until("it to be deferred", async || stands("Deferred")).await;
    server.place.write("type.json", TYPE);
    let put = ["event", "types", "put", "booking.moved", "type.json"];
    let said = server.run(&put).done().err();
    let offered = "event replay --outbox --filter status=Deferred eventType=booking.moved";
    assert!(
        said.contains("Deferred events of it: 1") && said.contains(offered),
        "{said}"
    );
    let mut words: Vec<_> = offered.split(' ').collect();
    words.push("--yes");
    server.run(&words).done();
    until("it to be published", async || stands("Published")).await;
    let again = server.run(&put).done().err();
    assert!(!again.contains("Deferred"), "{again}");
}

#[test]
fn what_is_typed_wrong_ends_with_2_and_a_source_that_is_not_there_with_3() {
    let place = Place::new();
    let said = place.run(&["event", "emit", "booking.moved", "7", "--payload", "nonsense"]);
    assert!(said.ended(2).err().contains("--payload takes a JSON object"));
    place.write("type.json", "{\"dedupe\":");
    let said = place.run(&["event", "types", "put", "booking.moved", "type.json"]);
    assert!(said.ended(2).err().contains("type.json is not JSON"));
    let said = place.run(&["event", "install", "nobody"]).ended(3).err();
    assert!(said.contains("no [[event_source]] named \"nobody\""), "{said}");
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_role_granted_a_tenant_on_the_command_line_emits_for_it_and_for_no_other() {
    use store::{
        Events,
        postgres::{PgStore, StoreTime},
    };
    let url = testkit::temp::fresh_schema();
    let store = PgStore::open(&url, StoreTime::Database, "one".into())
        .await
        .unwrap();
    let (server, schema) = url.rsplit_once("schema=").unwrap();
    let server = server.trim_end_matches(['?', '&']);
    let (application, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let role = format!("app_{schema}");
    application
        .batch_execute(&format!("create role {role}; set search_path to {schema}"))
        .await
        .unwrap();
    let place = crate::harness::Place::new();
    let grant = ["event", "grant", &role, "--for", "default", "--database", &url];
    let said = place.run(&grant).done().err();
    assert!(said.contains(&format!("{role} may emit for default")), "{said}");
    application
        .batch_execute(&format!("set session authorization {role}"))
        .await
        .unwrap();
    let emit =
        |tenant: &str| format!("select emit_event('{tenant}', null, 'booking.confirmed', '1', '{{}}')");
    application.batch_execute(&emit("default")).await.unwrap();
    application.batch_execute(&emit("other")).await.unwrap_err();
    assert_eq!(store.due_events(None, 10).await.unwrap().rows.len(), 1);
}
