//! Getting in: TLS in both forms, and the ways to log in.

use crate::world::*;
use domain::{FailureKind, HoldReason};
use serde_json::{Value, json};
use simulator::{
    HttpOptions, HttpReceiver, Identity, SmtpOptions, SmtpServer,
    http::{HttpRule, TokenEndpoint},
    smtp::{Credential, Mechanism, Phase, SmtpRule, TlsMode},
};

async fn tls_server(mode: fn(Identity) -> TlsMode) -> SmtpServer {
    smtp(SmtpOptions {
        tls: mode(Identity::local().unwrap()),
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await
}

#[tokio::test]
async fn mail_goes_out_encrypted_both_ways_and_to_a_name_or_an_address() {
    for (mode, tls) in [
        (TlsMode::StartTls as fn(_) -> _, "starttls"),
        (TlsMode::Implicit, "tls"),
    ] {
        let server = tls_server(mode).await;
        for host in ["127.0.0.1", "localhost"] {
            let adapter = smtp_adapter(
                &server,
                json!({"tls": tls, "caPem": server.ca_pem(), "host": host}),
            );
            for _ in 0..2 {
                assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
            }
        }
        assert!(server.mails().iter().all(|m| m.over_tls));
        assert_eq!(server.counts().connections, 2);
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_stops_the_mail() {
    for (mode, tls) in [
        (TlsMode::StartTls as fn(_) -> _, "starttls"),
        (TlsMode::Implicit, "tls"),
    ] {
        let server = tls_server(mode).await;
        let adapter = smtp_adapter(&server, json!({"tls": tls}));
        let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        assert_eq!(
            (failure.kind, own_code(&failure)),
            (FailureKind::Transient, "TLS")
        );
        assert!(failure.is_lane_down());
        assert_eq!(server.counts().mails, 0);
    }
}

#[tokio::test]
async fn without_starttls_nothing_is_sent_in_the_clear() {
    let server = smtp(SmtpOptions {
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await;
    let adapter = smtp_adapter(
        &server,
        json!({"tls": "starttls", "auth": "plain", "username": "u", "password": "p"}),
    );
    let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    assert_eq!(
        (own_code(&failure), failure.hold),
        ("TLS_NOT_OFFERED", Some(HoldReason::Config))
    );
    assert_eq!(server.counts().mails, 0);
}

#[tokio::test]
async fn a_stalled_handshake_ends_with_the_deadline() {
    let plain = smtp(SmtpOptions::default()).await;
    plain.on(SmtpRule::at(Phase::Connect).stall());
    let adapter = smtp_adapter(&plain, json!({"tls": "tls"}));
    let failure = failure(adapter.deliver(&mail(&["a@example.com"]), short_attempt()).await);
    assert_eq!(failure.code, "TIMEOUT");
}

#[tokio::test]
async fn each_mechanism_logs_in_and_wrong_credentials_hold_the_lane() {
    for (auth, mechanism) in [("plain", Mechanism::Plain), ("login", Mechanism::Login)] {
        let server = smtp(SmtpOptions {
            auth: vec![mechanism],
            require_auth: true,
            ..SmtpOptions::default()
        })
        .await;
        server.accept_credentials(vec![Credential::new("wäy", "gehe1m!")]);
        let settings = |password: &str| json!({"auth": auth, "username": "wäy", "password": password});
        let adapter = smtp_adapter(&server, settings("gehe1m!"));
        assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        assert_eq!(server.mails()[0].authenticated_as.as_deref(), Some("wäy"));
        let wrong = failure(
            smtp_adapter(&server, settings("wrong"))
                .deliver(&mail(&["a@example.com"]), long_attempt())
                .await,
        );
        assert_eq!(
            (wrong.code.as_ref(), wrong.hold),
            ("AUTH_FAILED", Some(HoldReason::Auth))
        );
        let none = failure(
            smtp_adapter(&server, json!({}))
                .deliver(&mail(&["a@example.com"]), long_attempt())
                .await,
        );
        assert_eq!(
            (own_code(&none), none.hold),
            ("SMTP_530_5.7.0", Some(HoldReason::Auth))
        );
    }
}

#[tokio::test]
async fn a_mechanism_that_is_not_offered_holds_the_lane() {
    let server = smtp(SmtpOptions {
        auth: vec![Mechanism::Login],
        ..SmtpOptions::default()
    })
    .await;
    let adapter = smtp_adapter(
        &server,
        json!({"auth": "plain", "username": "u", "password": "p"}),
    );
    let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    assert_eq!(
        (own_code(&failure), failure.hold),
        ("AUTH_NOT_OFFERED", Some(HoldReason::Config))
    );
}

struct OAuthWorld {
    server: SmtpServer,
    identity_provider: HttpReceiver,
}

impl OAuthWorld {
    async fn new() -> Self {
        let server = smtp(SmtpOptions {
            auth: vec![Mechanism::XOAuth2],
            require_auth: true,
            ..SmtpOptions::default()
        })
        .await;
        let identity_provider = HttpReceiver::start(HttpOptions::default()).await.unwrap();
        identity_provider
            .tokens()
            .accept_client("app", "s3cr3t-of-the-app");
        Self {
            server,
            identity_provider,
        }
    }

    fn settings(&self) -> Value {
        json!({"auth": "xoauth2", "username": "box@example.com", "oauth": {
            "tokenUrl": self.identity_provider.url("/token"), "clientId": "app",
            "clientSecret": "s3cr3t-of-the-app", "scope": "https://outlook.office365.com/.default",
        }})
    }

    fn accept_token(&self, n: u64) {
        self.server
            .accept_credentials(vec![Credential::new("box@example.com", &TokenEndpoint::token(n))]);
    }
}

#[tokio::test]
async fn one_token_serves_many_connections() {
    let world = OAuthWorld::new().await;
    world.accept_token(1);
    let adapter = smtp_adapter(&world.server, world.settings());
    let messages: Vec<_> = (0..8).map(|_| mail(&["a@example.com"])).collect();
    let outcomes =
        futures_util::future::join_all(messages.iter().map(|m| adapter.deliver(m, long_attempt()))).await;
    outcomes.iter().for_each(assert_delivered);
    assert_eq!(world.identity_provider.tokens().issued(), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_within_the_attempt() {
    let world = OAuthWorld::new().await;
    let adapter = smtp_adapter(&world.server, world.settings());
    world.accept_token(2);
    assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    assert_eq!(world.identity_provider.tokens().issued(), 2);
    world.accept_token(99);
    let adapter = smtp_adapter(&world.server, world.settings());
    let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    assert_eq!(
        (failure.code.as_ref(), failure.hold),
        ("AUTH_FAILED", Some(HoldReason::Auth))
    );
    assert_eq!(world.identity_provider.tokens().issued(), 4);
}

#[tokio::test]
async fn tokens_about_to_expire_are_not_used_again() {
    let world = OAuthWorld::new().await;
    world.identity_provider.tokens().expire_in(0);
    let adapter = smtp_adapter(&world.server, world.settings());
    assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    world
        .server
        .on(SmtpRule::at(Phase::Mail).times(1).reply("421 bye"));
    assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
    assert_eq!(world.identity_provider.tokens().issued(), 2);
}

#[tokio::test]
async fn an_identity_provider_in_trouble_is_waited_for_and_one_that_says_no_holds_the_lane() {
    let world = OAuthWorld::new().await;
    let adapter = smtp_adapter(&world.server, world.settings());
    let deliver = async || failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);

    world.identity_provider.on(HttpRule::status(503).retry_after("7"));
    let down = deliver().await;
    assert_eq!(
        (down.kind, own_code(&down)),
        (FailureKind::Transient, "OAUTH_HTTP_503")
    );
    assert_eq!(down.retry_after, Some(std::time::Duration::from_secs(7)));
    world.identity_provider.behave();

    world.identity_provider.on(HttpRule::stall());
    let silent = failure(adapter.deliver(&mail(&["a@example.com"]), short_attempt()).await);
    assert_eq!(
        (silent.kind, own_code(&silent)),
        (FailureKind::Transient, "OAUTH_TIMEOUT")
    );
    world.identity_provider.behave();

    world.identity_provider.tokens().accept_client("app", "changed");
    let refused = deliver().await;
    assert_eq!(
        (own_code(&refused), refused.hold),
        ("OAUTH_INVALID_CLIENT", Some(HoldReason::Auth))
    );
    assert_eq!(world.server.counts().connections, 0);
}

#[tokio::test]
async fn the_token_endpoint_is_vetted_like_every_address() {
    let world = OAuthWorld::new().await;
    let mut settings = world.settings();
    for url in ["http://169.254.169.254/token", "http://[fd00:ec2::254]/token"] {
        settings["oauth"]["tokenUrl"] = json!(url);
        let adapter = smtp_adapter(&world.server, settings.clone());
        let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        assert_eq!(
            (own_code(&failure), failure.hold),
            ("ADDRESS_REFUSED", Some(HoldReason::Config)),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_token_does_not_give_it_away() {
    let world = OAuthWorld::new().await;
    let token = TokenEndpoint::token(2);
    let carried = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        format!("user=box@example.com\x01auth=Bearer {token}\x01\x01"),
    );
    let told = format!("535 5.7.8 no: {token} {carried} s3cr3t-of-the-app");
    world.server.on(SmtpRule::at(Phase::Auth).reply(&told));
    let adapter = smtp_adapter(&world.server, world.settings());
    let outcome = adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await;
    let shown = format!("{outcome:?} {adapter:?}");
    for secret in [token.as_str(), &carried, "s3cr3t-of-the-app"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
