//! What a log must never hold: planted everywhere it could come from, and looked for in the logs of a whole run.

use crate::{
    node::{Node, Setup},
    site_agent::{AgentProcess, SiteSetup},
};
use client::{Notification, ProviderDraft, site::Notify};
use serde_json::{Value, json};
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Phase, SmtpRule},
};
use std::path::Path;
use testkit::until;

const ADDRESS: &str = "planted-address@example.com";
const SUBJECT: &str = "planted-subject";
const BODY: &str = "planted-body";
const URL_TOKEN: &str = "planted-url-token";
const ANSWER: &str = "planted-answer";
const VALUE: &str = "planted-value";

const PLANTED: [&str; 6] = [ADDRESS, SUBJECT, BODY, URL_TOKEN, ANSWER, VALUE];

fn draft(id: &str, kind: &str, settings: Value) -> ProviderDraft {
    ProviderDraft {
        id: Some(id.into()),
        kind: kind.into(),
        settings: settings.as_object().cloned().unwrap(),
        ..ProviderDraft::default()
    }
}

/// Mail that is refused with the address in the answer, and a webhook whose answer repeats what it was sent.
async fn central_meets_trouble(node: &Node, smtp: &SmtpServer, http: &HttpReceiver) {
    smtp.on(SmtpRule::at(Phase::Rcpt).reply(&format!("550 5.1.1 <{ADDRESS}> {ANSWER} {BODY}")));
    http.on(HttpRule::status(401).body(&format!("{ANSWER} {BODY}")));
    let mail = json!({
        "host": "127.0.0.1", "port": smtp.address().port(), "tls": "none", "from": "waypost@plant.example",
    });
    let hook = json!({ "url": http.url(&format!("/{URL_TOKEN}")) });
    for (id, kind, settings) in [("mail", "smtp", mail), ("hook", "webhook", hook)] {
        let made = node.client.create_provider(&draft(id, kind, settings)).await;
        made.unwrap();
    }
    let mail = Notification::to([ADDRESS]).subject(SUBJECT).body(BODY);
    let mail = node.client.submit(&mail).await.unwrap();
    let hook = Notification::by_provider("hook").subject(SUBJECT).body(BODY);
    node.client.submit(&hook).await.unwrap();
    until("the mail to be parked", async || {
        node.client.status(mail.notification_id).await.unwrap().status == domain::Status::Parked
    })
    .await;
    until("the webhook to be held", async || {
        node.client.provider("hook").await.unwrap().hold.is_some()
    })
    .await;
}

/// A call whose answer repeats what it was sent, a write that the database refuses with the row in its words.
async fn site_meets_trouble(node: &Node, folder: &Path, http: &HttpReceiver, database: &str) -> AgentProcess {
    let setup = SiteSetup {
        id: "north".into(),
        folder: folder.into(),
        central: format!("http://{}", node.link),
        key: node.client.register_site("north").await.unwrap().key,
        more: format!(
            "[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n[[site.connection]]\nname = \"history\"\nurl = \
             {database:?}\n[log]\nfilter = \"trace\"\n",
            http.url("/")
        ),
    };
    let agent = AgentProcess::start(&setup).await;
    let call = agent.site.call("erp").post("/orders").text(BODY).max_retries(1);
    assert!(
        call.send().await.is_err(),
        "refused at once, in the far end's words"
    );
    let refused = agent.site.call("erp").post("/orders").text(BODY).already_tried();
    refused.max_retries(1).send().await.unwrap();
    let table = agent
        .site
        .write("history", "create table readings (name text unique)");
    table.send().await.unwrap();
    // In pieces: a script's statement, no statement of ours.
    let place = if database.starts_with("sqlite") {
        "(?1)"
    } else {
        "($1)"
    };
    let insert = ["insert", "into readings values", place].join(" ");
    for _ in 0..2 {
        // The second is refused.
        let _ = agent
            .site
            .write("history", insert.as_str())
            .param(VALUE)
            .send()
            .await;
    }
    let queued = agent
        .site
        .write("history", insert.as_str())
        .param(VALUE)
        .already_tried();
    queued.send().await.unwrap();
    let notify = Notify::to_recipients([ADDRESS]);
    notify.send(&agent.site, SUBJECT, BODY).await.unwrap();
    until("the site to have parked what it cannot deliver", async || {
        agent.site.health().await.unwrap().parked >= 2
    })
    .await;
    agent
}

async fn nothing_planted_is_logged(setup: Setup, database: &str) {
    let folder = setup.folder.clone();
    let node = Node::start(&setup).await;
    let smtp = SmtpServer::start(SmtpOptions::default()).await.unwrap();
    let http = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    central_meets_trouble(&node, &smtp, &http).await;
    let agent = site_meets_trouble(&node, &folder, &http, database).await;
    let logs = [(node.log.clone(), "AUTH_FAILED"), (agent.log.clone(), "HTTP_401")];
    assert_eq!(agent.stop().await, 0);
    assert_eq!(node.stop().await, 0);
    for (log, told) in logs {
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.contains(told), "it does tell of the trouble:\n{text}");
        for planted in PLANTED {
            let line = text.lines().find(|line| line.contains(planted));
            assert_eq!(line, None, "{}", log.display());
        }
    }
}

/// Everything there is to log.
fn talkative(mut setup: Setup) -> Setup {
    setup.env.push(("WAYPOST_LOG".into(), "trace".into()));
    setup
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_contents_nor_addresses_nor_answers_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.db");
    std::fs::write(&history, b"").unwrap();
    let database = format!("sqlite://{}", history.display());
    nothing_planted_is_logged(talkative(Setup::sqlite(folder.path())), &database).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_are_the_values_of_statements_and_the_rows_that_postgresql_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let history = crate::postgres::database().await;
    let setup = Setup::postgres("node-1", folder.path(), &crate::postgres::database().await);
    nothing_planted_is_logged(talkative(setup), &history).await;
}
