//! The command lines in the code blocks of the docs, run as they stand beside a real server. That all the others can be
//! typed is tested with the commands themselves (`src/documented.rs`); README's are run from first to last in
//! `tests/processes/readme.rs`, the example's in `tests/processes/bookings_example.rs`.

use crate::{harness::Server, tidy::root};
use simulator::{
    SmtpOptions, SmtpServer,
    smtp::{Credential, Mechanism},
};
use std::collections::BTreeMap;
use testkit::docs::{Place, Shown, command_lines};

/// What runs until it is stopped, or for hours. They have tests of their own.
const NOT_RUN: [&str; 5] = ["serve", "simulate", "site", "demo", "bench"];

#[test]
fn the_command_lines_in_code_blocks_do_what_they_are_shown_for() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mail = runtime.block_on(mail_server());
    let mut by_page: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for shown in command_lines(&root()) {
        let run = !NOT_RUN.contains(&shown.words[0].as_str());
        if shown.place == Place::Block && run && !shown.file.ends_with("README.md") {
            by_page.entry(shown.file.clone()).or_default().push(shown);
        }
    }
    let mut wrong = vec![];
    let mut run = 0;
    for lines in by_page.values() {
        let server = Server::start();
        server.place.write("password", "hunter2hunter2\n");
        for shown in lines {
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
