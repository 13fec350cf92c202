//! `waypost event emit`: what is handed in arrives as it was written.

use crate::harness::Server;
use testkit::until;

#[tokio::test]
async fn numbers_of_a_payload_arrive_as_they_were_written() {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    server.place.write("type.json", r#"{"dedupe": "entity"}"#);
    server
        .run(&["event", "types", "put", "order.paid", "type.json"])
        .done();
    std::fs::create_dir(server.place.path().join("folder")).unwrap();
    let body = "{{price}} for {{number}}";
    let text = format!("eventType = 'order.paid'\nchannel = 'Capture'\nbody = '{body}'\n");
    server.place.write("folder/Capture.toml", &text);
    server.run(&["template", "push", "folder"]).done();
    let payload = r#"{"price": 10.50, "number": 12345678901234567890123}"#;
    let of = ["--entity-type", "invoice", "--schema-version", "2"];
    let emit = ["event", "emit", "order.paid", "7", "--payload", payload];
    let emit = [emit.as_slice(), of.as_slice()].concat();
    server.run(&emit).done();
    let schedules = || server.run(&["event", "schedules"]).done().out();
    until("it to be delivered", async || schedules().contains("Delivered")).await;
    assert!(schedules().contains("invoice 7"), "{}", schedules());
    // The same once more, whose id the command says.
    let resend = ["event", "resend", "invoice", "7", "--type", "Capture"];
    let id = server.run(&resend).done().out();
    let shown = server.run(&["show", id.trim(), "--json"]).done().json();
    assert_eq!(shown["body"], "10.50 for 12345678901234567890123");
}

#[tokio::test]
async fn a_payload_that_is_no_object_is_refused_before_it_is_sent() {
    let server = Server::start();
    for payload in ["[1]", "{", "7"] {
        let refused = server.run(&["event", "emit", "order.paid", "7", "--payload", payload]);
        let said = refused.ended(2).err();
        assert!(
            said.contains("--payload takes a JSON object"),
            "{payload}: {said}"
        );
    }
}
