//! `waypost event` against a real server: from something that happened to what came of it, and once more.

use crate::harness::Server;

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

/// What is said of the one schedule there is, once its message is delivered.
fn told(server: &Server) -> String {
    for _ in 0..1_000 {
        let listed = server.run(&["event", "schedules"]).done().out();
        if listed.contains("Delivered") {
            return listed;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    panic!("nothing was delivered");
}

#[test]
fn what_each_template_of_an_event_came_to_is_listed_with_the_reason() {
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
    let listed = told(&server);
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
    let refused = resend("Sms").ended(1);
    assert!(
        refused.err().contains("not sent: default: No recipient")
            && refused.err().contains("nothing was sent"),
        "{}",
        refused.err()
    );
}
