//! A provider of every kind, and what of its settings may be seen nowhere.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use client::{Notification, ProviderKind};
use serde_json::{Map, Value, json};
use simulator::{HttpReceiver, SmtpServer};
use std::path::Path;

/// A provider to be set up, and how a message for it looks.
pub struct Sample {
    pub kind: String,
    pub settings: Map<String, Value>,
    pub to: Option<String>,
    data: Option<Value>,
    /// Its secrets in every form in which they could be seen.
    pub hidden: Vec<String>,
    /// What its far end knows, and could repeat.
    pub told: Vec<String>,
    /// What its far end knows as well once a message has said where to call back.
    pub told_to_call_back: Vec<String>,
}

/// The services as their files of answers have them, and the kinds that have none.
pub fn samples(http: &HttpReceiver, smtp: &SmtpServer) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../delivery/tests/answers");
    let files = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<Sample> = files
        .map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let known: Value = serde_json::from_str(&text).unwrap();
            let kind = known["kind"].as_str().unwrap().to_owned();
            let settings = known["settings"]
                .to_string()
                .replace("{url}", &http.url(&format!("/{kind}")))
                // Another service's number, which is no secret, has these characters in it.
                .replace("workflows/0123456789abcdef", "workflows/7c1e5d9b3a2f8e60")
                // The example that the description of the kind shows.
                .replace("azGDORePK8gMaC0QOYAMyEEuzJnyUi", "aQ7xRePK8gMaC0QOYAMyEEuzJnyUi9");
            let mut settings: Map<String, Value> = serde_json::from_str(&settings).unwrap();
            settings.extend(for_receipts(&kind));
            Sample {
                settings,
                to: known["to"].as_str().map(str::to_owned),
                data: known.get("data").cloned().filter(|data| !data.is_null()),
                kind,
                hidden: vec![],
                told: vec![],
                told_to_call_back: vec![],
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
            hidden: vec![],
            told: vec![],
            told_to_call_back: vec![],
        });
    }
    all
}

/// What a kind is given besides, so that its receipts are believed.
fn for_receipts(kind: &str) -> Map<String, Value> {
    let settings = match kind {
        "meta" => json!({"appSecret": "app-secret-of-meta-6642", "verifyToken": "verify-token-of-ours-7753"}),
        "interakt" => json!({"webhookSecret": "webhook-secret-of-interakt-8864"}),
        "twilio" => json!({"signingToken": "signing-token-of-twilio-9975"}),
        _ => json!({}),
    };
    settings.as_object().cloned().unwrap_or_default()
}

impl Sample {
    /// Finds out what is secret of it, where it calls back included.
    pub fn hide(&mut self, kinds: &[ProviderKind], callback: Vec<String>) {
        let kind = kinds.iter().find(|kind| kind.kind == self.kind).unwrap();
        let mut secrets = vec![];
        for setting in kind.settings.iter().filter(|setting| setting.secret) {
            match self.settings.get(&setting.name) {
                Some(Value::String(url)) if setting.kind == "url" => {
                    secrets.push(url.clone());
                    secrets.extend(telling_parts(url));
                }
                Some(Value::String(text)) => secrets.push(text.clone()),
                Some(Value::Object(map)) => secrets.extend(map.values().filter_map(|value| {
                    let text = value.as_str()?;
                    Some(text.strip_prefix("Bearer ").unwrap_or(text).to_owned())
                })),
                _ => {}
            }
        }
        let named = |name: &str| {
            self.settings
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        // What stands before a secret where both go together: in the dialogue of a mail, in a header.
        let login = match self.kind.as_str() {
            "smtp" => Some(format!("\0{}\0", named("username"))),
            "twilio" => Some(format!("{}:", named("accountSid"))),
            _ => None,
        };
        let login = login.as_deref();
        let all = secrets.iter().chain(&callback);
        self.hidden = all.flat_map(|secret| forms(secret, login)).collect();
        self.told = secrets.iter().flat_map(|secret| said(secret, login)).collect();
        self.told_to_call_back = callback.iter().flat_map(|secret| said(secret, None)).collect();
    }

    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    pub fn message(&self) -> Notification {
        let message = match &self.to {
            Some(to) => Notification::to([to.clone()]),
            None => Notification::default(),
        };
        let message = message.provider(&self.kind).subject("Boiler").body("93 °C");
        match &self.data {
            Some(data) => message.type_data(data.clone()),
            None => message,
        }
    }
}

/// Of an address the host may be seen, and words that stand in everybody's.
fn telling_parts(url: &str) -> impl Iterator<Item = String> {
    let parts = url.split(['/', '?', '=', '&', ':']);
    let telling = |part: &&str| {
        let plain_words = part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        part.len() >= 9 && !plain_words && !part.contains('.')
    };
    parts.filter(telling).map(str::to_owned)
}

/// A secret as a far end has it: in a query, in a body, in a header with the user's name.
fn said(secret: &str, login: Option<&str>) -> Vec<String> {
    let percent: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut said = vec![secret.to_owned(), with_small_hex(&percent), percent];
    said.extend(login.map(|login| STANDARD.encode(format!("{login}{secret}"))));
    said
}

/// A secret in every form in which it could be seen.
fn forms(secret: &str, login: Option<&str>) -> Vec<String> {
    let percent: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![
        secret.to_owned(),
        with_small_hex(&percent),
        percent,
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ];
    forms.extend(login.map(|login| STANDARD.encode(format!("{login}{secret}"))));
    forms
}

/// The same with `%3a` instead of `%3A`.
fn with_small_hex(percent: &str) -> String {
    let mut parts = percent.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hex, rest) = part.split_at(2);
        text.push('%');
        text.push_str(&hex.to_lowercase());
        text.push_str(rest);
    }
    text
}
