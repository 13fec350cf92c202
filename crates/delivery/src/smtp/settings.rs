//! What an SMTP provider is configured with.

use super::address::Mailbox;
use crate::{
    kind::{Setting, Settings},
    oauth::{OAuthSettings, Tokens},
    outside::Outside,
    redact::Redactor,
    settings::{LONGEST_TIMEOUT, Problems, SHORTEST_TIMEOUT, Values, http_url},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::FieldError;
use secrecy::SecretString;
use std::{sync::Arc, time::Duration};

/// What decides who hears a login.
const SERVER_SETTINGS: &[&str] = &["host", "port", "tls", "caPem"];
/// An access token is fetched with the secret and then shown to the mail server.
const TOKEN_AND_SERVER_SETTINGS: &[&str] = &["oauth.tokenUrl", "host", "port", "tls", "caPem"];

const XOAUTH2: &[&str] = &["xoauth2"];

pub(super) fn described() -> Vec<Setting> {
    vec![
        Setting::text("host", "The mail server's name or address.").called("Mail server").required().example("mail.example.com"),
        Setting::number("port", "Left out: 587 with starttls, 465 with tls, 25 without."),
        Setting::choice(
            "tls",
            &["none", "starttls", "tls"],
            "starttls upgrades a plain connection and refuses to go on without; tls is encrypted from the start.",
        )
        .called("Encryption")
        .or("starttls"),
        Setting::choice(
            "auth",
            &["none", "plain", "login", "xoauth2"],
            "How to log in. xoauth2 fetches access tokens with the settings under oauth.",
        )
        .called("Login")
        .or("none"),
        Setting::text("username", "The account; with xoauth2 the mailbox.")
            .called("User name")
            .only_when("auth", &["plain", "login", "xoauth2"]),
        Setting::text("password", "Of that account.")
            .secret_sent_to(SERVER_SETTINGS)
            .only_when("auth", &["plain", "login"]),
        Setting::url("oauth.tokenUrl", "Where access tokens are fetched, with the client-credentials grant.").only_when("auth", XOAUTH2),
        Setting::text("oauth.clientId", "The application's id at the identity provider.").only_when("auth", XOAUTH2),
        Setting::text("oauth.clientSecret", "The application's secret at the identity provider.")
            .secret_sent_to(TOKEN_AND_SERVER_SETTINGS)
            .only_when("auth", XOAUTH2),
        Setting::text("oauth.scope", "For Microsoft 365: https://outlook.office365.com/.default").only_when("auth", XOAUTH2),
        Setting::text("from", "The sender: waypost@example.com, or Waypost <waypost@example.com>.").called("Sender").required().example("waypost@example.com"),
        Setting::text("replyTo", "Where answers go, if not to the sender."),
        Setting::text("domain", "The right-hand side of Message-IDs; left out, delivery.message_id_domain or the domain of `from`.").called("Domain of Message-IDs"),
        Setting::text("caPem", "A certificate authority to trust besides the public ones, as PEM text.")
            .called("Certificate authority")
            .only_when("tls", &["starttls", "tls"]),
        Setting::duration("timeout", "The longest one attempt may take.").or("30s"),
    ]
}

#[derive(Debug)]
pub(super) struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub auth: Auth,
    pub from: Mailbox,
    pub reply_to: Option<Mailbox>,
    /// Right-hand side of Message-IDs.
    pub domain: String,
    /// What we are called in EHLO, if somebody has said so. The sender's domain is not ours to claim.
    pub host_name: Option<String>,
    pub timeout: Duration,
    pub redactor: Redactor,
}

#[derive(Clone)]
pub(super) enum Security {
    None,
    StartTls(Arc<rustls::ClientConfig>),
    Implicit(Arc<rustls::ClientConfig>),
}

impl std::fmt::Debug for Security {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Security::None => "None",
            Security::StartTls(_) => "StartTls",
            Security::Implicit(_) => "Implicit",
        })
    }
}

#[derive(Debug)]
pub(super) enum Auth {
    None,
    Plain {
        username: String,
        password: SecretString,
    },
    Login {
        username: String,
        password: SecretString,
    },
    XOAuth2 {
        username: String,
        tokens: Box<Tokens>,
    },
}

impl SmtpSettings {
    pub fn read(settings: &Settings, outside: &Arc<Outside>) -> Result<Self, Vec<FieldError>> {
        let mut problems = Problems::default();
        let values = Values::read(&described(), settings, &mut problems);
        let security = security(&values, outside, &mut problems);
        let default_port = match security {
            Security::None => 25,
            Security::StartTls(_) => 587,
            Security::Implicit(_) => 465,
        };
        let port = u16::try_from(values.number("port").unwrap_or(default_port)).unwrap_or(0);
        if port == 0 {
            problems.add("port", "must be between 1 and 65535");
        }
        let host = values.text("host").unwrap_or("").trim().to_owned();
        if host.contains(|c: char| c.is_whitespace() || c.is_control() || "/@".contains(c)) {
            problems.add("host", "must be a name or an address, without a scheme or a port");
        }
        let timeout = values.duration("timeout").unwrap_or(Duration::from_secs(30));
        if !(SHORTEST_TIMEOUT..=LONGEST_TIMEOUT).contains(&timeout) {
            problems.add("timeout", "must be between 1s and 1h");
        }
        let from = mailbox("from", &values, &mut problems);
        let reply_to = mailbox("replyTo", &values, &mut problems);
        let chosen = chosen_domain(&values, outside, &mut problems);
        let auth = auth(&values, outside, &mut problems);
        let redactor = redactor(&values);
        let Some(from) = from else {
            problems.add("from", "is required");
            return Err(problems.0);
        };
        problems.or(Self {
            host,
            port,
            security,
            auth,
            domain: chosen.clone().unwrap_or_else(|| from.domain().to_owned()),
            host_name: chosen.or_else(|| outside.host_name.clone()),
            from,
            reply_to,
            timeout,
            redactor,
        })
    }
}

fn security(values: &Values, outside: &Arc<Outside>, problems: &mut Problems) -> Security {
    let config = match outside.tls(values.text("caPem")) {
        Ok(config) => Arc::new(config),
        Err(problem) => {
            problems.add("caPem", problem);
            return Security::None;
        }
    };
    match values.text("tls") {
        Some("tls") => Security::Implicit(config),
        Some("starttls") => Security::StartTls(config),
        _ => Security::None,
    }
}

fn mailbox(name: &str, values: &Values, problems: &mut Problems) -> Option<Mailbox> {
    let text = values.text(name)?;
    let parsed = Mailbox::parse(text);
    if parsed.is_none() {
        problems.add(
            name,
            "must be an address like waypost@example.com or Waypost <waypost@example.com>",
        );
    }
    parsed
}

/// The domain that somebody chose: for this provider, or for the installation.
fn chosen_domain(values: &Values, outside: &Arc<Outside>, problems: &mut Problems) -> Option<String> {
    let Some(own) = values.text("domain") else {
        return outside.message_id_domain.clone();
    };
    let sound = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    if !own.chars().all(sound) {
        problems.add("domain", "must be a domain name like example.com");
    }
    Some(own.to_owned())
}

fn auth(values: &Values, outside: &Arc<Outside>, problems: &mut Problems) -> Auth {
    let auth = values.text("auth").unwrap_or("none");
    let mut needed = |name: &'static str| match values.text(name) {
        Some(text) => text.to_owned(),
        None => {
            problems.add(name, format!("is required with auth {auth}"));
            String::new()
        }
    };
    match auth {
        "plain" => Auth::Plain {
            username: needed("username"),
            password: needed("password").into(),
        },
        "login" => Auth::Login {
            username: needed("username"),
            password: needed("password").into(),
        },
        "xoauth2" => {
            let username = needed("username");
            let (client_id, client_secret) = (needed("oauth.clientId"), needed("oauth.clientSecret"));
            let Some(token_url) = http_url(&needed("oauth.tokenUrl")) else {
                problems.add(
                    "oauth.tokenUrl",
                    "must be a URL like https://login.example.com/token",
                );
                return Auth::None;
            };
            let oauth = OAuthSettings {
                token_url,
                client_id,
                client_secret: client_secret.into(),
                scope: values.text("oauth.scope").map(str::to_owned),
            };
            match Tokens::new(oauth, outside.clone()) {
                Ok(tokens) => Auth::XOAuth2 {
                    username,
                    tokens: Box::new(tokens),
                },
                Err(problem) => {
                    problems.add("oauth", problem);
                    Auth::None
                }
            }
        }
        _ => Auth::None,
    }
}

fn redactor(values: &Values) -> Redactor {
    let mut redactor = Redactor::default();
    if let Some(password) = values.text("password") {
        let username = values.text("username").unwrap_or("");
        redactor.hide(password);
        redactor.hide_exact(STANDARD.encode(format!("\0{username}\0{password}")));
    }
    redactor.hide(values.text("oauth.clientSecret").unwrap_or(""));
    redactor
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::SystemClock;
    use serde_json::{Value, json};

    fn read(settings: Value) -> Result<SmtpSettings, Vec<FieldError>> {
        let outside = Arc::new(Outside::new(Arc::new(SystemClock)));
        SmtpSettings::read(settings.as_object().unwrap(), &outside)
    }

    #[test]
    fn the_port_follows_from_tls_unless_it_is_given() {
        for (tls, port) in [("none", 25), ("starttls", 587), ("tls", 465)] {
            let settings = read(json!({"host": "mail", "from": "a@b.c", "tls": tls})).unwrap();
            assert_eq!(settings.port, port);
        }
        let settings = read(json!({"host": "mail", "from": "a@b.c", "port": 2525})).unwrap();
        assert_eq!((settings.port, settings.timeout), (2525, Duration::from_secs(30)));
    }

    #[test]
    fn a_message_id_has_the_domain_somebody_chose_or_else_the_senders() {
        let domain = |outside: Outside, settings: Value| {
            let settings = SmtpSettings::read(settings.as_object().unwrap(), &Arc::new(outside)).unwrap();
            (settings.domain, settings.host_name)
        };
        let outside = || Outside::new(Arc::new(SystemClock));
        let plain = json!({"host": "mail", "from": "Plant <ops@plänt.example>"});
        let named = json!({"host": "mail", "from": "ops@plant.example", "domain": "mail.plant.example"});
        // The far end is told whose mail it is; that we are that domain's host is for somebody else to say.
        assert_eq!(
            domain(outside(), plain.clone()),
            ("xn--plnt-moa.example".into(), None)
        );
        assert_eq!(
            domain(outside().with_host_name("waypost.example"), plain.clone()),
            ("xn--plnt-moa.example".into(), Some("waypost.example".into()))
        );
        let chosen = outside().with_message_id_domain("chosen.example");
        assert_eq!(
            domain(chosen.clone(), plain),
            ("chosen.example".into(), Some("chosen.example".into()))
        );
        assert_eq!(
            domain(chosen, named),
            ("mail.plant.example".into(), Some("mail.plant.example".into()))
        );
    }

    #[test]
    fn every_bad_setting_is_named() {
        let bad = read(json!({
            "port": 70000, "tls": "ssl", "auth": "plain", "from": "nobody", "caPem": "x", "timeout": "0s",
            "domain": "a b", "replyTo": "@", "colour": "red",
        }))
        .unwrap_err();
        let mut named: Vec<_> = bad
            .iter()
            .map(|p| p.field.trim_start_matches("settings."))
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [
                "caPem", "colour", "domain", "from", "host", "password", "port", "replyTo", "timeout", "tls",
                "username"
            ]
        );
    }

    #[test]
    fn xoauth2_needs_its_own_settings() {
        let bad =
            read(json!({"host": "m", "from": "a@b.c", "auth": "xoauth2", "oauth": {"tokenUrl": "ftp://x"}}));
        let mut named: Vec<_> = bad.unwrap_err().into_iter().map(|p| p.field).collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [
                "settings.oauth.clientId",
                "settings.oauth.clientSecret",
                "settings.oauth.tokenUrl",
                "settings.username"
            ]
        );
    }
}
