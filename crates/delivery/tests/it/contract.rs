//! What every kind of provider must keep to. A service with a file in `tests/answers` has its row already.

use crate::{
    answers::{Service, services},
    world::*,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use delivery::{
    Adapter, Attempt, Captured, Deadline, Message, Outside, Recorder, Registry, SettingType,
    kind::Settings,
    receipt::{Callback, CallbackRefused},
};
use domain::{Channel, SystemClock};
use hyper::{HeaderMap, Method};
use serde_json::{Value, json};
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Mechanism, Phase, SmtpRule},
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const PASSWORD: &str = "hunter2-hunter2";
const SIGNING: &str = "any-secret-of-24-characters";
const HEADER: &str = "Bearer abcdef123456";

/// No kind's own timeout is as short, and no machine as busy.
const LATE: Duration = Duration::from_secs(8);

/// Far ends of all kinds, and settings full of secrets.
struct Far {
    smtp: SmtpServer,
    http: HttpReceiver,
}

impl Far {
    async fn new() -> Self {
        Self {
            smtp: smtp(SmtpOptions {
                auth: Mechanism::ALL.to_vec(),
                ..SmtpOptions::default()
            })
            .await,
            http: HttpReceiver::start(HttpOptions::default()).await.unwrap(),
        }
    }

    fn kinds(&self) -> Vec<Row> {
        let url = self.http.url("/services/T0P-SECRET-PATH?key=QUERYSECRET");
        let mut rows = vec![
            Row {
                kind: "smtp".into(),
                message: mail(&["a@example.com"]),
                settings: smtp_settings(
                    &self.smtp,
                    json!({"auth": "plain", "username": "user", "password": PASSWORD}),
                ),
                secrets: vec![PASSWORD.into()],
            },
            Row {
                kind: "webhook".into(),
                message: message(Channel::Webhook, &[]),
                settings: json!({"url": url, "secret": SIGNING, "headers": {"Authorization": HEADER}}),
                secrets: [SIGNING, "abcdef123456", "T0P-SECRET-PATH", "QUERYSECRET"]
                    .map(String::from)
                    .into(),
            },
            Row {
                kind: "capture".into(),
                message: message(Channel::Capture, &[]),
                settings: json!({}),
                secrets: vec![],
            },
        ];
        rows.extend(services().iter().map(|service| self.row(service)));
        rows
    }

    /// A service's row follows from its file of answers: its secrets are the settings that are described as such.
    fn row(&self, service: &Service) -> Row {
        let settings = service.settings_at(&self.http);
        let registry = registry();
        let info = registry.get(&service.kind).unwrap().info();
        let secrets = info
            .secrets()
            .filter_map(|s| Some((s.kind.clone(), settings.get(s.name)?.as_str()?)));
        // Of a secret URL the host may be shown.
        let hidden = |(kind, text): (SettingType, &str)| match kind {
            SettingType::Url => text.rsplit('/').next().unwrap_or(text).to_owned(),
            _ => text.to_owned(),
        };
        Row {
            kind: service.kind.clone(),
            message: service.message(&service.to.as_deref().into_iter().collect::<Vec<_>>()),
            secrets: secrets.map(hidden).collect(),
            settings,
        }
    }

    fn fall_silent(&self) {
        self.smtp.on(SmtpRule::at(Phase::AfterDot).stall());
        self.http.on(HttpRule::stall());
    }

    /// Every answer repeats every secret, in several forms.
    fn give_secrets_away(&self, good: bool) {
        let told = |wanted: &str| {
            let rows = self.kinds();
            let of = rows
                .iter()
                .filter(|row| (row.kind == "smtp") == (wanted == "smtp"));
            of.flat_map(Row::secret_forms).collect::<Vec<_>>().join(" ")
        };
        let (smtp, status) = if good {
            ("250 2.0.0", 200)
        } else {
            ("550 5.7.1", 400)
        };
        self.smtp
            .on(SmtpRule::at(Phase::AfterDot).reply(&format!("{smtp} queued as {}", told("smtp"))));
        self.http.on(HttpRule::status(status).body(&told("webhook")));
    }
}

/// One kind: what it is set up with, and what it may never show.
struct Row {
    kind: String,
    message: Message,
    settings: Value,
    secrets: Vec<String>,
}

impl Row {
    fn adapter(&self) -> Arc<dyn Adapter> {
        adapter(&self.kind, self.settings.clone())
    }

    fn secret_forms(&self) -> Vec<String> {
        let mut all = self.secrets.clone();
        all.extend(self.secrets.iter().map(|s| STANDARD.encode(s)));
        if self.kind == "smtp" {
            all.push(STANDARD.encode(format!("\0user\0{PASSWORD}")));
        }
        all
    }

    #[track_caller]
    fn assert_hidden(&self, shown: &str) {
        for secret in self.secret_forms() {
            assert!(!shown.contains(&secret), "{} shows {secret}: {shown}", self.kind);
        }
    }
}

fn registry() -> Registry {
    Registry::standard(Arc::new(outside()), Captured::default())
}

#[tokio::test]
async fn every_kind_has_its_row_here() {
    let far = Far::new().await;
    let mut rows: Vec<_> = far.kinds().into_iter().map(|row| row.kind).collect();
    let mut known: Vec<_> = registry().iter().map(|k| k.info().kind.to_owned()).collect();
    rows.sort();
    known.sort();
    assert_eq!(rows, known);
}

#[tokio::test]
async fn no_kind_connects_to_a_private_address_that_was_not_allowed() {
    let far = Far::new().await;
    for row in far.kinds().into_iter().filter(|row| row.kind != "capture") {
        let nobody = Outside::new(Arc::new(SystemClock));
        let adapter = adapter_in(nobody, &row.kind, row.settings.clone());
        let failed = failure(adapter.deliver(&row.message, long_attempt()).await);
        assert_eq!(
            (failed.code.as_ref(), failed.provider_code.as_deref()),
            ("INVALID_CONFIG", Some("ADDRESS_REFUSED")),
            "{}: {failed:?}",
            row.kind
        );
        assert!(
            failed.detail.contains("delivery.allow_addresses"),
            "{}: {failed:?}",
            row.kind
        );
    }
    assert_eq!(
        (far.http.counts().connections, far.smtp.counts().connections),
        (0, 0)
    );
}

#[tokio::test]
async fn no_kind_follows_a_redirect() {
    let far = Far::new().await;
    let elsewhere = far.http.url("/elsewhere");
    far.http.on(HttpRule::status(307).header("location", &elsewhere));
    for row in far
        .kinds()
        .into_iter()
        .filter(|row| !["smtp", "capture"].contains(&row.kind.as_str()))
    {
        let before = far.http.counts().requests;
        let failed = failure(row.adapter().deliver(&row.message, long_attempt()).await);
        assert_eq!(far.http.counts().requests, before + 1, "{}: {failed:?}", row.kind);
    }
    assert!(
        far.http
            .requests()
            .iter()
            .all(|request| request.path != "/elsewhere")
    );
}

#[tokio::test]
async fn every_kind_answers_before_its_deadline() {
    let far = Far::new().await;
    far.fall_silent();
    for row in far.kinds() {
        let adapter = row.adapter();
        for wait in [0, 1, 250] {
            // A machine that stands still makes one of them late; a kind that does not look at its deadline is late each time.
            let mut tries = vec![];
            while tries.len() < 3 && !tries.iter().any(|(late, _)| *late < LATE) {
                let deadline = Deadline(Instant::now() + Duration::from_millis(wait));
                let outcome = adapter.deliver(&row.message, deadline.into()).await;
                tries.push((Instant::now().saturating_duration_since(deadline.0), outcome));
            }
            let in_time = tries.iter().any(|(late, _)| *late < LATE);
            assert!(in_time, "{} was late: {tries:?}", row.kind);
        }
    }
}

#[tokio::test]
async fn no_kind_lets_a_secret_into_an_outcome_a_transcript_or_its_debug_output() {
    let far = Far::new().await;
    for good in [true, false] {
        far.give_secrets_away(good);
        for row in far.kinds() {
            let adapter = row.adapter();
            let recorder = Recorder::on();
            let attempt = Attempt {
                recorder: recorder.clone(),
                ..long_attempt()
            };
            let outcome = adapter.deliver(&row.message, attempt).await;
            let transcript = recorder.transcript().unwrap();
            row.assert_hidden(&format!("{outcome:?} {adapter:?} {adapter:#?} {transcript:?}"));
        }
        far.smtp.behave();
        far.http.behave();
    }
}

#[tokio::test]
async fn no_kind_shows_a_secret_when_its_far_end_is_gone() {
    let far = Far::new().await;
    let gone = far.kinds();
    far.smtp.stop().await;
    far.http.stop().await;
    for row in gone {
        let outcome = row.adapter().deliver(&row.message, long_attempt()).await;
        row.assert_hidden(&format!("{outcome:?}"));
    }
}

#[tokio::test]
async fn every_kind_gives_a_message_the_same_identity_each_time() {
    let far = Far::new().await;
    let captured = Captured::default();
    let registry = Registry::standard(Arc::new(outside()), captured.clone());
    for row in far.kinds() {
        far.http.forget();
        let kind = registry.get(&row.kind).unwrap();
        let adapter = kind.build(row.settings.as_object().unwrap()).unwrap();
        for _ in 0..2 {
            assert_delivered(&adapter.deliver(&row.message, long_attempt()).await);
        }
        let id = row.message.id.to_string();
        let seen: Vec<String> = match row.kind.as_str() {
            "smtp" => far
                .smtp
                .mails()
                .into_iter()
                .map(|m| m.message_id.unwrap())
                .collect(),
            "webhook" => far.http.requests().into_iter().map(|r| r.id.unwrap()).collect(),
            "capture" => captured
                .messages()
                .into_iter()
                .map(|m| m.id.to_string())
                .collect(),
            // Services that know no ids of ours get the same bytes again.
            _ => {
                let requests = far.http.requests();
                assert_eq!(requests.len(), 2, "{}", row.kind);
                assert_eq!(requests[0].body, requests[1].body, "{}", row.kind);
                continue;
            }
        };
        assert_eq!(seen.len(), 2, "{}", row.kind);
        assert!(
            seen.iter().all(|s| s.starts_with(&id) && *s == seen[0]),
            "{}: {seen:?}",
            row.kind
        );
    }
}

#[tokio::test]
async fn an_abandoned_attempt_leaves_every_adapter_usable() {
    let far = Far::new().await;
    far.fall_silent();
    let adapters: Vec<_> = far.kinds().into_iter().map(|row| (row.adapter(), row)).collect();
    for (adapter, row) in &adapters {
        let abandoned = adapter.deliver(&row.message, long_attempt());
        let reached = far.smtp.wait_until(|c| c.mails > 0);
        if row.kind == "smtp" {
            tokio::select! { _ = abandoned => panic!("the far end is silent"), () = reached => {} }
        } else {
            drop(abandoned);
        }
    }
    far.smtp.behave();
    far.http.behave();
    for (adapter, row) in &adapters {
        assert_delivered(&adapter.deliver(&row.message, long_attempt()).await);
    }
}

#[tokio::test]
async fn a_kind_that_tells_nothing_later_says_so() {
    let registry = registry();
    let callback = Callback {
        method: &Method::POST,
        url: "https://waypost.example/callbacks/x/y",
        headers: &HeaderMap::new(),
        body: b"",
    };
    for kind in ["smtp", "capture"] {
        let read = registry
            .get(kind)
            .unwrap()
            .read_callback(&Settings::new(), &callback);
        assert_eq!(read, Err(CallbackRefused::NoReceipts));
    }
}

#[test]
fn every_kind_names_unknown_settings_and_describes_the_ones_it_needs() {
    let registry = registry();
    for kind in registry.iter() {
        let info = kind.info();
        let bad = kind.check(json!({"no-such-setting": 1}).as_object().unwrap());
        let mut named: Vec<_> = bad.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(named.remove(0), "settings.no-such-setting", "{}", info.kind);
        let required: Vec<_> = info
            .settings
            .iter()
            .filter(|s| s.required)
            .map(|s| format!("settings.{}", s.name))
            .collect();
        assert_eq!(named, required, "{}", info.kind);
        assert!(info.settings.iter().all(|s| !s.help.is_empty()), "{}", info.kind);
        assert!(
            info.retry.problems(false).is_empty() && info.limits.problems().is_empty(),
            "{}",
            info.kind
        );
    }
}

#[test]
fn every_kind_says_what_to_create_and_calls_its_settings_by_words_of_their_own() {
    let registry = registry();
    for kind in registry.iter() {
        let info = kind.info();
        assert!(info.setup.ends_with('.'), "{}: {:?}", info.kind, info.setup);
        let labels: Vec<_> = info.settings.iter().map(|s| s.label()).collect();
        for (i, label) in labels.iter().enumerate() {
            let in_words = label.starts_with(char::is_uppercase) && !label.contains('.');
            assert!(
                in_words && !labels[..i].contains(label),
                "{}: {label:?}",
                info.kind
            );
        }
        for (setting, when) in info.settings.iter().filter_map(|s| Some((s, s.when?))) {
            let other = info.settings.iter().find(|s| s.name == when.setting);
            let Some(SettingType::Choice(words)) = other.map(|s| s.kind.clone()) else {
                panic!("{}: {} depends on no choice", info.kind, setting.name)
            };
            assert!(
                when.is.iter().all(|is| words.contains(is)),
                "{}: {}",
                info.kind,
                setting.name
            );
        }
    }
}

#[tokio::test]
async fn what_a_secret_is_bound_to_are_settings_of_its_kind() {
    let registry = registry();
    for kind in registry.iter() {
        let info = kind.info();
        let names: Vec<_> = info.settings.iter().map(|s| s.name).collect();
        for setting in &info.settings {
            for place in setting.sent_to {
                assert!(
                    setting.secret && names.contains(place),
                    "{}: {}",
                    info.kind,
                    setting.name
                );
            }
        }
    }
}
