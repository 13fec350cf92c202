//! What somebody is told who waits at a terminal: where a notification hangs, why it ended, what goes by.

use crate::harness::Server;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::Stdio,
};

/// A server with a provider that keeps what it is sent.
fn server() -> Server {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    server
}

/// A far end that is not well, for as long as the test runs.
fn unwell() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("url=http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 13\r\nConnection: close\r\n\r\njust a moment",
            );
        }
    });
    url
}

fn wait_for(server: &Server, provider: &str) -> String {
    let asked = [
        "notify",
        "--provider",
        provider,
        "--body",
        "x",
        "--wait",
        "--timeout",
        "2s",
    ];
    server.run(&asked).ended(1).err()
}

#[test]
fn who_waits_for_a_held_lane_is_told_so_and_why() {
    let server = server();
    server
        .run(&["provider", "hold", "cap", "--reason", "till Monday"])
        .done();
    let said = wait_for(&server, "cap");
    assert!(
        said.contains("Pending: held") && said.contains("till Monday"),
        "{said}"
    );
}

#[test]
fn who_waits_for_another_attempt_is_told_when_it_is_and_what_the_last_one_met() {
    let server = server();
    let url = unwell();
    let add = [
        "provider", "add", "--kind", "webhook", "--id", "hook", "--set", &url,
    ];
    server.run(&add).done();
    let key = [
        "notify",
        "--provider",
        "hook",
        "--body",
        "x",
        "--key",
        "k",
        "--wait",
        "--timeout",
        "2s",
    ];
    // Asked again under its key it is the same one: a first attempt may take its time.
    let mut asked = (0..20).map(|_| server.run(&key).ended(1).err());
    let said = asked.find(|said| !said.contains("Pending: queued")).unwrap();
    assert!(said.contains("Retrying: retry, next "), "{said}");
    assert!(
        said.contains("PROVIDER_ERROR 503 Service Unavailable: just a moment"),
        "{said}"
    );
}

#[test]
fn who_waited_for_what_was_parked_is_told_why() {
    let server = server();
    let asked = ["notify", "--recipient", "a@example.com", "--body", "x", "--wait"];
    let ran = server.run(&asked).ended(1);
    let id = ran.out().split(' ').next().unwrap().to_owned();
    let shown = server.run(&["show", &id, "--json"]).done().json();
    let (code, error) = (
        shown["errorCode"].as_str().unwrap(),
        shown["lastError"].as_str().unwrap(),
    );
    let said = ran.err();
    assert!(said.contains(&format!("{id} is Parked")), "{said}");
    assert!(said.contains(code) && said.contains(error), "{said}");
}

#[test]
fn tail_shows_what_its_filters_ask_for_with_subject_and_reason_and_nothing_else() {
    let server = server();
    let mut tail = server
        .place
        .command(&["tail", "--kpis", "--status", "parked", "-q", "wanted"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    // The figures come first: from then on it listens.
    assert!(lines.next().unwrap().contains("waiting 0"));
    let send = |how: &[&str], subject: &str| {
        let asked = [how, &["--subject", subject, "--body", "x", "--wait"]].concat();
        server.run(&[&["notify"], asked.as_slice()].concat());
    };
    send(&["--provider", "cap"], "wanted but delivered");
    send(&["--recipient", "a@example.com"], "parked but of another subject");
    send(&["--recipient", "a@example.com"], "this one is wanted");
    let mut seen = vec![];
    for line in lines.by_ref() {
        if line.contains("waiting ") {
            continue;
        }
        let last = line.contains("  Parked  ");
        seen.push(line);
        if last {
            break;
        }
    }
    assert!(
        seen.iter().all(|line| line.contains("this one is wanted")),
        "{seen:#?}"
    );
    let parked = seen.last().unwrap();
    assert!(
        parked.contains("NO_PROVIDER no provider for type Email"),
        "{parked}"
    );
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn tail_takes_a_status_for_what_a_notification_changed_to_whatever_it_is_by_now() {
    let server = server();
    let mut tail = server
        .place
        .command(&["tail", "--kpis", "--status", "pending", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["event"], "kpis");
    let mut ids = vec![];
    for subject in ["one", "two"] {
        // By the time it is asked about it is Delivered.
        let asked = [
            "notify",
            "--provider",
            "cap",
            "--subject",
            subject,
            "--body",
            "x",
            "--wait",
        ];
        let said = server.run(&asked).done().out();
        ids.push(said.split(' ').next().unwrap().to_owned());
    }
    let mut changes = lines.by_ref().filter(|line| line["event"] == "change");
    for (id, subject) in ids.iter().zip(["one", "two"]) {
        let change = changes.next().unwrap();
        assert_eq!(change["notificationId"], *id);
        assert_eq!(
            (&change["status"], &change["subject"]),
            (&"Pending".into(), &subject.into())
        );
    }
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn tail_finds_by_an_address_what_the_list_would() {
    let server = server();
    let mut tail = server
        .place
        .command(&["tail", "--kpis", "-q", "Bob@example.com"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(lines.next().unwrap().contains("waiting 0"));
    for (to, subject) in [("ann@example.com", "to ann"), ("bob@example.com", "to bob")] {
        server.run(&[
            "notify",
            "--recipient",
            to,
            "--subject",
            subject,
            "--body",
            "x",
            "--wait",
        ]);
    }
    let first = lines.find(|line| !line.contains("waiting ")).unwrap();
    assert!(first.contains("to bob"), "{first}");
    tail.kill().unwrap();
    tail.wait().unwrap();
}
