//! Secrets of every kind of provider, looked for after a whole run in everything that a person or a program can read.

mod browse;
mod samples;

use crate::node::{Node, Setup};
use browse::{Browser, csrf};
use client::{NotificationId, ProviderDraft};
use samples::{Sample, samples};
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Mechanism, Phase, SmtpRule},
};
use testkit::until;

/// Kinds that tell later what became of a message: their callback address is a secret too.
const TELLING_LATER: [&str; 5] = ["interakt", "meta", "msg91", "pushover", "twilio"];

/// Those of them that learn the address from messages, and can repeat it in any answer from then on.
const TOLD_WITH_EACH_MESSAGE: [&str; 2] = ["pushover", "twilio"];

/// What was seen, and where.
type Seen = Vec<(String, String)>;

/// Sets all providers up; what may be seen nowhere is known afterwards.
async fn set_up(node: &Node, samples: &mut [Sample], seen: &mut Seen) {
    let kinds = node.client.provider_kinds().await.unwrap();
    for sample in samples {
        let draft = ProviderDraft {
            id: Some(sample.kind.clone()),
            kind: sample.kind.clone(),
            settings: sample.settings.clone(),
            ..ProviderDraft::default()
        };
        let made = node.client.create_provider(&draft).await.unwrap();
        seen.push((
            format!("created {}", sample.kind),
            serde_json::to_string(&made).unwrap(),
        ));
        let mut secrets = vec![];
        if TELLING_LATER.contains(&sample.kind.as_str()) {
            // Shown this once, and never again.
            let url = node.client.new_callback(&sample.kind).await.unwrap().url;
            let secret = url.rsplit('/').next().unwrap_or_default().to_owned();
            secrets.extend([url, secret]);
        }
        sample.hide(&kinds, secrets);
        assert!(
            !sample.hidden.is_empty(),
            "nothing is secret about {}",
            sample.kind
        );
    }
}

/// Tries each provider out and sends one message through it.
async fn round(node: &Node, samples: &[Sample], good: bool, seen: &mut Seen) -> Vec<NotificationId> {
    let mut sent = vec![];
    for sample in samples {
        let tested = node
            .client
            .test_provider_with(&sample.kind, sample.to.as_deref(), sample.data());
        let tested = tested.await.unwrap();
        assert_eq!(tested.ok, good, "{}: {tested:?}", sample.kind);
        let tested = serde_json::to_string(&tested).unwrap();
        seen.push((format!("test of {}", sample.kind), tested));
        let answer = node.client.submit(&sample.message()).await.unwrap();
        sent.push(answer.notification_id);
    }
    for id in &sent {
        until("each to have been tried", async || {
            let now = node.client.status(*id).await.unwrap();
            match good {
                true => now.status == domain::Status::Delivered,
                false => now.last_error.is_some(),
            }
        })
        .await;
    }
    sent
}

/// From now on every far end repeats whatever it knows of whom it talks to.
fn tell_tales(http: &HttpReceiver, smtp: &SmtpServer, samples: &[Sample]) {
    for sample in samples {
        let known = sample.told.join(" ");
        match sample.kind.as_str() {
            "smtp" => smtp.on(SmtpRule::at(Phase::Rcpt).reply(&format!("550 5.1.1 {known}"))),
            kind => {
                let below = match kind {
                    "webhook" => "/hooks/".to_owned(),
                    kind => format!("/{kind}/"),
                };
                let known = match TOLD_WITH_EACH_MESSAGE.contains(&kind) {
                    true => [known, sample.told_to_call_back.join(" ")].join(" "),
                    false => known,
                };
                let rule = HttpRule::status(401).body(&known);
                http.on(rule.when(move |at| at.path.starts_with(&below)));
            }
        }
    }
}

/// A test of such a provider says where to call back as a message does: what was tried out is what goes out.
fn tests_say_where_to_call_back(http: &HttpReceiver) {
    let texts = http
        .requests()
        .into_iter()
        .filter(|got| got.path.starts_with("/twilio/"));
    let texts: Vec<String> = texts
        .map(|got| String::from_utf8_lossy(&got.body).into_owned())
        .collect();
    assert_eq!(texts.len(), 2, "the test and the message");
    assert!(texts.iter().all(|body| body.contains("callbacks")), "{texts:?}");
}

async fn look_at_api(node: &Node, samples: &[Sample], sent: &[NotificationId], seen: &mut Seen) {
    let program = Browser::at(node.client.url());
    let mut paths: Vec<String> = [
        "/api/providers",
        "/api/provider-kinds",
        "/api/notifications",
        "/api/audit?limit=1000",
        "/api/lanes",
        "/api/loops",
        "/api/channels",
        "/metrics",
        "/readyz",
    ]
    .map(str::to_owned)
    .into();
    paths.extend(samples.iter().map(|s| format!("/api/providers/{}", s.kind)));
    for id in sent {
        for part in ["", "/status", "/attempts", "/attempts/1/transcript"] {
            paths.push(format!("/api/notifications/{id}{part}"));
        }
    }
    let mut transcripts = 0;
    for path in paths {
        let answer = program.get(&path).await;
        let ok = answer.starts_with("HTTP/1.1 200");
        // Nothing was said where a lane was held before the row's turn came.
        let transcript = path.ends_with("/transcript");
        assert!(
            ok || transcript && answer.starts_with("HTTP/1.1 404"),
            "{path}: {answer}"
        );
        transcripts += usize::from(ok && transcript);
        seen.push((path, answer));
    }
    assert!(
        transcripts >= samples.len(),
        "{transcripts} transcripts of {} kinds",
        samples.len()
    );
}

async fn look_at_pages(browser: &Browser, samples: &[Sample], sent: &[NotificationId], seen: &mut Seen) {
    for sample in samples {
        let kind = &sample.kind;
        let page = browser.get(&format!("/providers/{kind}")).await;
        let to = sample.to.as_deref().unwrap_or("");
        let test = format!("/providers/{kind}/test");
        let answer = browser.post(&test, &csrf(&page), &[("to", to)]).await;
        let result = browser.follow(&answer).await;
        assert!(result.contains("id=\"tested\""), "{kind}: {result}");
        seen.push((format!("page of a test of {kind}"), result));
        seen.push((format!("page of {kind}"), page));
        let form = browser.get(&format!("/providers/{kind}/edit")).await;
        assert!(form.contains("name=\"csrf\""), "{kind}: {form}");
        seen.push((format!("form of {kind}"), form));
    }
    for path in [
        "/",
        "/providers",
        "/notifications",
        "/audit",
        "/loops",
        "/providers.csv",
        "/notifications.csv",
        "/audit.csv",
        "/loops.csv",
    ] {
        let page = browser.get(path).await;
        assert!(page.starts_with("HTTP/1.1 200"), "{path}: {page}");
        seen.push((path.to_owned(), page));
    }
    for id in sent {
        let page = browser.get(&format!("/notifications/{id}")).await;
        assert!(page.starts_with("HTTP/1.1 200"), "{id}: {page}");
        seen.push((format!("page of {id}"), page));
    }
}

#[tokio::test]
async fn no_secret_of_any_kind_is_in_logs_answers_audit_transcripts_or_pages() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::sqlite(folder.path());
    setup.env = vec![
        (
            "WAYPOST_SERVER__PUBLIC_URL".into(),
            "https://waypost.example.com".into(),
        ),
        ("WAYPOST_LOG__FILTER".into(), "debug".into()),
    ];
    let node = Node::start(&setup).await;
    let http = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let smtp = SmtpServer::start(SmtpOptions {
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await
    .unwrap();
    let mut samples = samples(&http, &smtp);
    let mut seen = vec![];
    set_up(&node, &mut samples, &mut seen).await;
    let mut sent = round(&node, &samples, true, &mut seen).await;
    tests_say_where_to_call_back(&http);
    tell_tales(&http, &smtp, &samples);
    sent.extend(round(&node, &samples, false, &mut seen).await);
    look_at_api(&node, &samples, &sent, &mut seen).await;
    let browser = Browser::signed_in(node.client.url(), &setup).await;
    look_at_pages(&browser, &samples, &sent, &mut seen).await;
    seen.push(("the log".into(), std::fs::read_to_string(&node.log).unwrap()));
    for file in ["waypost.db", "waypost.db-wal"] {
        let bytes = std::fs::read(folder.path().join(file)).unwrap_or_default();
        seen.push((file.into(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let mut found = vec![];
    for (place, text) in &seen {
        for sample in &samples {
            let shown = sample
                .hidden
                .iter()
                .filter(|secret| text.contains(secret.as_str()));
            found.extend(shown.map(|secret| (place, &sample.kind, secret)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(seen.len() > 200, "a whole run shows more than {}", seen.len());
}
