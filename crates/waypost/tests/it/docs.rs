//! The command lines in the code blocks of the docs, run as they stand beside a real server. That all the others can be
//! typed is tested with the commands themselves (`src/documented.rs`); README's are run from first to last in
//! `tests/processes/readme.rs`, the example's in `tests/processes/bookings_example.rs`.

use crate::{
    harness::{Ran, Served, Server, serving},
    metrics::until_it_answers,
    tidy::root,
};
use simulator::{
    SmtpOptions, SmtpServer,
    smtp::{Credential, Mechanism},
};
use std::{collections::BTreeMap, process::Stdio};
use testkit::docs::{Place, Shown, command_lines};

/// What runs until it is stopped, or for hours. They have tests of their own.
const NOT_RUN: [&str; 4] = ["serve", "simulate", "demo", "bench"];
/// The agent itself, and what needs two of them: `tests/processes/site_pair.rs`.
const NOT_RUN_AT_A_SITE: [&[&str]; 3] = [&["site"], &["site", "promote"], &["site", "demote"]];

fn is_run(words: &[String]) -> bool {
    !NOT_RUN.contains(&words[0].as_str()) && !NOT_RUN_AT_A_SITE.iter().any(|not| *not == words)
}

/// An agent, and a file beside its buffer that was set aside.
struct Agent {
    place: crate::harness::Place,
    _served: Served,
}

impl Agent {
    fn start() -> Self {
        let place = crate::harness::Place::new();
        let config = "[site]\nid = \"north\"\nkey = \"wps_of_north\"\nlisten = \"127.0.0.1:0\"\ndatabase = \"sf.db\"\n\n\
             [site.replication]\nlisten = \"127.0.0.1:0\"\npeer = \"http://127.0.0.1:9\"\n";
        place.write("waypost.toml", config);
        let mut command = place.command(&["site"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let (served, url) = serving(command, "site north is listening on ");
        let place = place.with("WAYPOST_SITE_URL", &url);
        // Of two machines neither is active before somebody says so; then it starts anew.
        place.run(&["site", "promote", "--force"]).done();
        until_it_answers(&url, "/healthz", "\"name\":\"due\"");
        std::fs::copy(place.path().join("sf.db"), place.path().join("sf.db.damaged-1")).unwrap();
        Self {
            place,
            _served: served,
        }
    }

    fn run(&self, words: &[String]) -> Ran {
        let here = words.iter().map(|word| match word.as_str() {
            "FILE" => "sf.db.damaged-1",
            word => word,
        });
        self.place.run(&here.collect::<Vec<_>>())
    }
}

#[test]
fn the_command_lines_in_code_blocks_do_what_they_are_shown_for() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mail = runtime.block_on(mail_server());
    let mut by_page: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for shown in command_lines(&root()) {
        if shown.place == Place::Block && is_run(&shown.words) && !shown.file.ends_with("README.md") {
            by_page.entry(shown.file.clone()).or_default().push(shown);
        }
    }
    let mut wrong = vec![];
    let (mut run, mut at_sites) = (0, 0);
    for lines in by_page.values() {
        let server = Server::start();
        server.place.write("password", "hunter2hunter2\n");
        let at_a_site = |shown: &Shown| shown.words[0] == "site";
        let agent = lines.iter().any(at_a_site).then(Agent::start);
        for shown in lines {
            if let (true, Some(agent)) = (at_a_site(shown), &agent) {
                let ran = agent.run(&shown.words);
                at_sites += 1;
                if ran.code() != 0 {
                    wrong.push(format!("{shown}\n    ended with {}: {}", ran.code(), ran.err()));
                }
                continue;
            }
            let words = here(&shown.words, mail.address().port());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = server.place.run_with_input(&words, "a long enough password\n");
            run += 1;
            if ran.code() != 0 {
                wrong.push(format!("{shown}\n    ended with {}: {}", ran.code(), ran.err()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(run >= 10, "only {run} were found");
    assert!(at_sites >= 5, "only {at_sites} were found");
    let sent: Vec<_> = mail
        .mails()
        .into_iter()
        .filter_map(|m| m.header("Subject"))
        .collect();
    assert!(sent.iter().any(|subject| subject == "Hello"), "{sent:?}");
}

async fn mail_server() -> SmtpServer {
    let options = SmtpOptions {
        auth: vec![Mechanism::Plain],
        require_auth: true,
        ..SmtpOptions::default()
    };
    let server = SmtpServer::start(options).await.unwrap();
    let known = ["alerts", "me"].map(|user| Credential::new(user, "hunter2hunter2"));
    server.accept_credentials(known.into());
    server
}

/// The same with what is only an example in the docs: the mail server, its port and its password.
fn here(words: &[String], port: u16) -> Vec<String> {
    let mut here = vec![];
    for word in words {
        match word.split_once('=') {
            Some(("host", _)) => {
                let settings = [
                    "host=127.0.0.1".to_owned(),
                    "--set".into(),
                    format!("port={port}"),
                ];
                here.extend(settings);
                here.extend(["--set", "tls=none"].map(String::from));
            }
            Some(("password", _)) => here.push("password=@password".into()),
            // Said once already.
            Some(("port" | "tls", _)) => drop(here.pop()),
            _ => here.push(word.clone()),
        }
    }
    here
}
