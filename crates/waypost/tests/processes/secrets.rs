//! Secrets of every kind of provider, looked for after a whole run in everything that a person or a program can read.

use crate::node::{KEY, Node, Setup};
use base64::{Engine, engine::general_purpose::STANDARD};
use client::{Notification, ProviderDraft};
use serde_json::{Map, Value, json};
use simulator::{HttpOptions, HttpReceiver, SmtpOptions, SmtpServer, http::HttpRule, smtp::Mechanism};
use std::{path::Path, process::Command, time::Duration};

/// A provider to be set up, and how a message for it looks.
struct Sample {
    kind: String,
    settings: Map<String, Value>,
    to: Option<String>,
    data: Option<Value>,
}

/// The services as their files of answers have them, and the kinds that have none.
fn samples(http: &HttpReceiver, smtp: &SmtpServer) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../delivery/tests/answers");
    let files = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<Sample> = files
        .map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let known: Value = serde_json::from_str(&text).unwrap();
            let kind = known["kind"].as_str().unwrap().to_owned();
            let url = http.url(&format!("/{kind}"));
            let settings = known["settings"].to_string().replace("{url}", &url);
            Sample {
                settings: serde_json::from_str(&settings).unwrap(),
                to: known["to"].as_str().map(str::to_owned),
                data: known.get("data").cloned().filter(|data| !data.is_null()),
                kind,
            }
        })
        .collect();
    let mail = json!({
        "host": "127.0.0.1", "port": smtp.address().port(), "tls": "none", "from": "waypost@plant.example",
        "auth": "plain", "username": "alerts", "password": "correct-horse-battery",
    });
    let hook = json!({
        "url": http.url("/hooks/path-token-7731?key=query-token-8842"), "secret": "a-signing-secret-of-some-length",
        "headers": {"Authorization": "Bearer header-token-9953"},
    });
    for (kind, settings, to) in [("smtp", mail, Some("ops@plant.example")), ("webhook", hook, None)] {
        all.push(Sample {
            kind: kind.into(),
            settings: settings.as_object().unwrap().clone(),
            to: to.map(str::to_owned),
            data: None,
        });
    }
    all
}

/// What may be seen nowhere, in the forms in which it could be.
async fn hidden(node: &Node, samples: &[Sample]) -> Vec<String> {
    let kinds = node.client.provider_kinds().await.unwrap();
    let mut secrets = vec![];
    for sample in samples {
        let kind = kinds.iter().find(|kind| kind.kind == sample.kind).unwrap();
        for setting in kind.settings.iter().filter(|setting| setting.secret) {
            match sample.settings.get(&setting.name) {
                // Of an address the host may be seen, and of a played one the service's name.
                Some(Value::String(url)) if setting.kind == "url" => {
                    let parts = url.split(['/', '?', '=', '&', ':']);
                    secrets.extend(
                        parts
                            .filter(|part| part.len() >= 9 && !part.contains('.'))
                            .map(str::to_owned),
                    );
                }
                Some(Value::String(text)) => secrets.push(text.clone()),
                Some(Value::Object(map)) => {
                    secrets.push(map["Authorization"].as_str().unwrap()[7..].to_owned())
                }
                _ => {}
            }
        }
    }
    assert!(secrets.len() > 15, "{secrets:?}");
    let encoded = |text: &str| {
        let percent: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        [
            text.to_owned(),
            percent,
            STANDARD.encode(text),
            STANDARD.encode(format!("alerts:{text}")),
        ]
    };
    secrets.iter().flat_map(|secret| encoded(secret)).collect()
}

fn curl(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("curl")
        .arg("-sS")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The secret of a page's forms.
fn csrf(page: &str) -> String {
    let (_, rest) = page
        .split_once("name=\"csrf\" value=\"")
        .unwrap_or_else(|| panic!("{page}"));
    rest.split('"').next().unwrap().to_owned()
}

/// Signs somebody in; the session is in the cookie jar.
fn sign_in(folder: &Path, setup: &Setup, base: &str) {
    let added = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["user", "add", "ann", "--role", "admin"])
        .env("WAYPOST_DATABASE__URL", &setup.database)
        .env_remove("WAYPOST_CONFIG")
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&added.stdout).into_owned();
    let (_, token) = said
        .trim()
        .rsplit_once('/')
        .unwrap_or_else(|| panic!("{added:?}"));
    let link = format!("{base}/sign-in/link/{token}");
    let page = curl(folder, &["-c", "jar", "-b", "jar", &link]);
    let secret = format!("csrf={}", csrf(&page));
    curl(
        folder,
        &["-c", "jar", "-b", "jar", "--data-urlencode", &secret, &link],
    );
}

#[tokio::test]
async fn no_secret_of_any_kind_is_in_logs_answers_audit_transcripts_or_pages() {
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let node = Node::start(&setup).await;
    let http = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let smtp = SmtpServer::start(SmtpOptions {
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await
    .unwrap();
    let samples = samples(&http, &smtp);
    let hidden = hidden(&node, &samples).await;
    let mut seen: Vec<(String, String)> = vec![];
    let mut sent = vec![];
    for round in ["good", "bad"] {
        if round == "bad" {
            // A far end that repeats whatever it knows.
            http.on(HttpRule::status(401).body(&hidden.join(" ")));
        }
        for sample in &samples {
            if round == "good" {
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
            }
            let tested = node
                .client
                .test_provider_with(&sample.kind, sample.to.as_deref(), sample.data.as_ref())
                .await
                .unwrap();
            assert_eq!(
                tested.ok,
                round == "good" || sample.kind == "smtp",
                "{}: {tested:?}",
                sample.kind
            );
            seen.push((
                format!("{round} test of {}", sample.kind),
                serde_json::to_string(&tested).unwrap(),
            ));
            let message = match &sample.to {
                Some(to) => Notification::to([to.clone()]),
                None => Notification::default(),
            };
            let mut message = message.provider(&sample.kind).subject("Boiler").body("93 °C");
            if let Some(data) = &sample.data {
                message = message.type_data(data.clone());
            }
            sent.push(node.client.submit(&message).await.unwrap().notification_id);
        }
        let first = sent[..samples.len()].to_vec();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        for id in first {
            while !node.client.status(id).await.unwrap().status.is_terminal() {
                assert!(tokio::time::Instant::now() < deadline, "{id} waits");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    let base = node.client.url().trim_end_matches('/').to_owned();
    let key = format!("authorization: Bearer {KEY}");
    let mut paths: Vec<String> = [
        "providers",
        "provider-kinds",
        "notifications",
        "audit?limit=1000",
        "lanes",
        "loops",
    ]
    .map(|path| format!("/api/{path}"))
    .into();
    paths.extend(
        samples
            .iter()
            .map(|sample| format!("/api/providers/{}", sample.kind)),
    );
    for id in &sent {
        paths.extend(["", "/status", "/attempts"].map(|part| format!("/api/notifications/{id}{part}")));
    }
    for path in paths.iter().map(String::as_str).chain(["/metrics"]) {
        seen.push((
            path.to_owned(),
            curl(folder.path(), &["-H", &key, &format!("{base}{path}")]),
        ));
    }
    sign_in(folder.path(), &setup, &base);
    let look = |path: &str| {
        curl(
            folder.path(),
            &["-b", "jar", "-c", "jar", "-L", &format!("{base}{path}")],
        )
    };
    for sample in &samples {
        let page = look(&format!("/providers/{}", sample.kind));
        let (secret, to) = (
            format!("csrf={}", csrf(&page)),
            format!("to={}", sample.to.as_deref().unwrap_or("")),
        );
        seen.push((format!("page of {}", sample.kind), page));
        seen.push((
            format!("form of {}", sample.kind),
            look(&format!("/providers/{}/edit", sample.kind)),
        ));
        let test = format!("{base}/providers/{}/test", sample.kind);
        let arguments = [
            "-b",
            "jar",
            "-c",
            "jar",
            "-L",
            "--data-urlencode",
            &secret,
            "--data-urlencode",
            &to,
            &test,
        ];
        let result = curl(folder.path(), &arguments);
        assert!(result.contains("id=\"tested\""), "{}: {result}", sample.kind);
        seen.push((format!("page of a test of {}", sample.kind), result));
    }
    for path in ["/", "/providers", "/notifications", "/audit", "/loops"] {
        seen.push((path.to_owned(), look(path)));
    }
    for id in &sent {
        seen.push((format!("page of {id}"), look(&format!("/notifications/{id}"))));
    }
    seen.push(("the log".into(), std::fs::read_to_string(&node.log).unwrap()));
    for file in ["waypost.db", "waypost.db-wal"] {
        let bytes = std::fs::read(folder.path().join(file)).unwrap_or_default();
        seen.push((file.into(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let found: Vec<_> = seen
        .iter()
        .flat_map(|(place, text)| {
            hidden
                .iter()
                .filter(|secret| text.contains(secret.as_str()))
                .map(move |secret| (place, secret))
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}
