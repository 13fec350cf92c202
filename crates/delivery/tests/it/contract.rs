//! What every kind of provider must keep to. A new kind adds a row to `KINDS`.

use crate::world::*;
use base64::{Engine, engine::general_purpose::STANDARD};
use delivery::{Adapter, Captured, Deadline, Registry};
use domain::Channel;
use serde_json::{Value, json};
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Mechanism, Phase, SmtpRule},
};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::time::Instant;

const PASSWORD: &str = "hunter2-hunter2";
const SIGNING: &str = "any-secret-of-24-characters";
const HEADER: &str = "Bearer abcdef123456";

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

    fn kinds(&self) -> [(&'static str, Channel, Value); 3] {
        let url = self.http.url("/services/T0P-SECRET-PATH?key=QUERYSECRET");
        [
            (
                "smtp",
                Channel::Email,
                smtp_settings(
                    &self.smtp,
                    json!({"auth": "plain", "username": "user", "password": PASSWORD}),
                ),
            ),
            (
                "webhook",
                Channel::Webhook,
                json!({"url": url, "secret": SIGNING, "headers": {"Authorization": HEADER}}),
            ),
            ("capture", Channel::Capture, json!({})),
        ]
    }

    fn fall_silent(&self) {
        self.smtp.on(SmtpRule::at(Phase::AfterDot).stall());
        self.http.on(HttpRule::stall());
    }

    /// Every answer repeats every secret, in several forms.
    fn give_secrets_away(&self, good: bool) {
        let told = |kind| secrets(kind).join(" ");
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

fn secrets(kind: &str) -> Vec<String> {
    let plain: &[&str] = match kind {
        "smtp" => &[PASSWORD],
        "webhook" => &[SIGNING, "abcdef123456", "T0P-SECRET-PATH", "QUERYSECRET"],
        _ => &[],
    };
    let mut all: Vec<String> = plain.iter().map(|s| (*s).to_owned()).collect();
    all.extend(plain.iter().map(|s| STANDARD.encode(s)));
    if kind == "smtp" {
        all.push(STANDARD.encode(format!("\0user\0{PASSWORD}")));
    }
    all
}

async fn for_each_kind<F: Future<Output = ()>>(
    far: &Far,
    check: impl Fn(&'static str, Channel, Arc<dyn Adapter>) -> F,
) {
    let known: Vec<_> = Registry::standard(Arc::new(outside()), Captured::default())
        .iter()
        .map(|k| k.info().kind)
        .collect();
    assert_eq!(
        known,
        far.kinds().map(|(kind, ..)| kind),
        "every kind has its row"
    );
    for (kind, channel, settings) in far.kinds() {
        check(kind, channel, adapter(kind, settings)).await;
    }
}

fn to_somebody(channel: Channel) -> delivery::Message {
    let targets: &[&str] = if channel.needs_recipients() {
        &["a@example.com"]
    } else {
        &[]
    };
    message(channel, targets)
}

#[tokio::test]
async fn every_kind_answers_before_its_deadline() {
    let far = Far::new().await;
    far.fall_silent();
    for_each_kind(&far, async |kind, channel, adapter| {
        for wait in [0, 1, 250] {
            let deadline = Deadline(Instant::now() + Duration::from_millis(wait));
            let outcome = adapter.deliver(&to_somebody(channel), deadline).await;
            let late = Instant::now().saturating_duration_since(deadline.0);
            assert!(
                late < Duration::from_millis(500),
                "{kind} was {late:?} late: {outcome:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn no_kind_lets_a_secret_into_an_outcome_or_into_its_debug_output() {
    let far = Far::new().await;
    for good in [true, false] {
        far.give_secrets_away(good);
        for_each_kind(&far, async |kind, channel, adapter| {
            let outcome = adapter.deliver(&to_somebody(channel), patiently()).await;
            let shown = format!("{outcome:?} {adapter:?} {adapter:#?}");
            for secret in secrets(kind) {
                assert!(!shown.contains(&secret), "{kind} shows {secret}: {shown}");
            }
        })
        .await;
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
    for (kind, channel, settings) in gone {
        let outcome = adapter(kind, settings)
            .deliver(&to_somebody(channel), patiently())
            .await;
        for secret in secrets(kind) {
            assert!(!format!("{outcome:?}").contains(&secret), "{kind}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn every_kind_gives_a_message_the_same_identity_each_time() {
    let far = Far::new().await;
    let captured = Captured::default();
    let registry = Registry::standard(Arc::new(outside()), captured.clone());
    for (kind, channel, settings) in far.kinds() {
        let adapter = registry
            .get(kind)
            .unwrap()
            .build(settings.as_object().unwrap())
            .unwrap();
        let message = to_somebody(channel);
        for _ in 0..2 {
            assert_delivered(&adapter.deliver(&message, patiently()).await);
        }
        let id = message.id.to_string();
        let seen: Vec<String> = match kind {
            "smtp" => far
                .smtp
                .mails()
                .into_iter()
                .map(|m| m.message_id.unwrap())
                .collect(),
            "webhook" => far.http.requests().into_iter().map(|r| r.id.unwrap()).collect(),
            _ => captured
                .messages()
                .into_iter()
                .map(|m| m.id.to_string())
                .collect(),
        };
        assert_eq!(seen.len(), 2, "{kind}");
        assert!(
            seen.iter().all(|s| s.starts_with(&id) && *s == seen[0]),
            "{kind}: {seen:?}"
        );
    }
}

#[tokio::test]
async fn an_abandoned_attempt_leaves_every_adapter_usable() {
    let far = Far::new().await;
    far.fall_silent();
    let adapters: Vec<_> = far
        .kinds()
        .map(|(kind, channel, settings)| (channel, adapter(kind, settings)))
        .into();
    for (channel, adapter) in &adapters {
        let message = to_somebody(*channel);
        let abandoned = adapter.deliver(&message, patiently());
        let reached = far.smtp.wait_until(|c| c.mails > 0);
        if *channel == Channel::Email {
            tokio::select! { _ = abandoned => panic!("the far end is silent"), () = reached => {} }
        } else {
            drop(abandoned);
        }
    }
    far.smtp.behave();
    far.http.behave();
    for (channel, adapter) in &adapters {
        assert_delivered(&adapter.deliver(&to_somebody(*channel), patiently()).await);
    }
}

#[test]
fn every_kind_names_unknown_settings_and_describes_the_ones_it_needs() {
    let registry = Registry::standard(Arc::new(outside()), Captured::default());
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

#[tokio::test]
async fn what_a_secret_is_bound_to_are_settings_of_its_kind() {
    let registry = Registry::standard(Arc::new(outside()), Captured::default());
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
