//! What arrives at a mail server when all goes well, and how few connections that takes.

use crate::world::*;
use delivery::Outside;
use domain::{Failure, Outcome, Scope, SystemClock};
use futures_util::future::join_all;
use serde_json::json;
use simulator::{
    SmtpOptions,
    smtp::{Phase, SmtpRule},
};
use std::sync::Arc;

fn addresses(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("r{i}@example.com")).collect()
}

fn refs(addresses: &[String]) -> Vec<&str> {
    addresses.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn one_mail_goes_to_all_and_names_none_of_them() {
    let server = smtp(SmtpOptions::default()).await;
    let adapter = smtp_adapter(&server, json!({"replyTo": "ops@example.com"}));
    let message = mail(&["a@example.com", "b@example.com"]);
    let Outcome::Delivered(accepted) = adapter.deliver(&message, long_attempt()).await else {
        panic!("delivered");
    };
    assert_eq!(accepted.provider_message_id.as_deref(), Some("SIM"));
    let caught = &server.mails()[0];
    assert_eq!(caught.sender, "waypost@waypost.test");
    assert_eq!(caught.recipients, ["a@example.com", "b@example.com"]);
    assert_eq!(
        caught.message_id.as_deref(),
        Some(format!("{}@waypost.test", message.id).as_str())
    );
    assert_eq!(
        caught.notification_id.as_deref(),
        Some(message.id.to_string().as_str())
    );
    assert_eq!(caught.header("To").as_deref(), Some("undisclosed-recipients:;"));
    assert_eq!(caught.header("Auto-Submitted").as_deref(), Some("auto-generated"));
    assert!(!caught.text().contains("a@example.com"), "{}", caught.text());
    assert!(caught.text().contains("and rising"), "{}", caught.text());
}

#[tokio::test]
async fn every_try_of_a_mail_has_one_message_id_in_the_domain_of_its_sender() {
    let server = smtp(SmtpOptions::default()).await;
    let loopback = vec!["127.0.0.0/8".parse().unwrap()];
    let outside = || Outside::new(Arc::new(SystemClock)).allowing(loopback.clone());
    let settings = smtp_settings(&server, json!({"from": "Ops <ops@plant.example>"}));
    let message = mail(&["a@example.com"]);
    // As on another node, or after a restart.
    for _ in 0..2 {
        adapter_in(outside(), "smtp", settings.clone())
            .deliver(&message, long_attempt())
            .await;
    }
    let expected = format!("{}@plant.example", message.id);
    let ids: Vec<_> = server.mails().into_iter().filter_map(|m| m.message_id).collect();
    assert_eq!(ids, [expected.clone(), expected]);
}

#[tokio::test]
async fn the_next_mail_goes_over_the_same_connection() {
    for pipelining in [true, false] {
        let server = smtp(SmtpOptions {
            pipelining,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        for _ in 0..20 {
            assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        }
        assert_eq!((server.counts().connections, server.counts().mails), (1, 20));
        assert_eq!(server.counts().unasked_pipelining, 0);
    }
}

#[tokio::test]
async fn mails_at_the_same_time_share_no_connection_and_lose_nothing() {
    let server = smtp(SmtpOptions::default()).await;
    let adapter = smtp_adapter(&server, json!({}));
    let messages: Vec<_> = (0..64)
        .map(|_| mail(&["a@example.com", "b@example.com"]))
        .collect();
    for round in messages.chunks(16) {
        let outcomes = join_all(round.iter().map(|m| adapter.deliver(m, long_attempt()))).await;
        outcomes.iter().for_each(assert_delivered);
    }
    let counts = server.counts();
    assert_eq!((counts.mails, counts.deliveries, counts.repeats), (64, 128, 0));
    assert!(counts.connections <= 16, "{counts:?}");
    for message in &messages {
        assert_eq!(server.deliveries_of(&message.id.to_string()).len(), 2);
    }
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_costs_no_attempt() {
    for pipelining in [true, false] {
        let server = smtp(SmtpOptions {
            pipelining,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        // Seen only when the next MAIL is sent: a cut, and a farewell.
        for rule in [
            SmtpRule::at(Phase::Mail).cut(),
            SmtpRule::at(Phase::Mail).reply("421 4.4.2 idle too long"),
        ] {
            server.on(rule.times(1));
            assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
            server.behave();
        }
        assert_eq!((server.counts().connections, server.counts().mails), (3, 3));
        // On a connection of its own the same is a failure: there is no third try.
        server.on(SmtpRule::at(Phase::Mail).cut());
        let failure = failure(adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        assert_eq!(own_code(&failure), "CONNECTION_LOST");
        assert_eq!(server.counts().connections, 4);
    }
}

#[tokio::test]
async fn refused_recipients_get_their_own_results_and_the_others_their_mail() {
    for pipelining in [true, false] {
        let server = smtp(SmtpOptions {
            pipelining,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        server.on(SmtpRule::at(Phase::Rcpt)
            .to("b@example.com")
            .reply("550 5.1.1 no such user"));
        server.on(SmtpRule::at(Phase::Rcpt)
            .to("c@example.com")
            .times(1)
            .reply("450 4.2.1 too fast"));
        let message = mail(&[
            "a@example.com",
            "b@example.com",
            "c@example.com",
            "nonsense",
            "d@example.com\r\nRSET",
        ]);
        let (accepted, failed) = mixed(adapter.deliver(&message, long_attempt()).await);
        assert_eq!(accepted, ["a@example.com"]);
        let failed: Vec<_> = failed.iter().map(|(a, c)| (a.as_str(), c.as_str())).collect();
        assert_eq!(
            failed,
            [
                ("b@example.com", "SMTP_550_5.1.1"),
                ("c@example.com", "SMTP_450_4.2.1"),
                ("nonsense", "BAD_ADDRESS"),
                ("d@example.com\r\nRSET", "BAD_ADDRESS"),
            ]
        );
        let retry = delivery::Message {
            targets: vec!["c@example.com".into()],
            ..message
        };
        assert_delivered(&adapter.deliver(&retry, long_attempt()).await);
        assert_eq!(server.counts().repeats, 0);
        assert_eq!(server.counts().connections, 1);
    }
}

#[tokio::test]
async fn when_nobody_is_accepted_nothing_is_sent_and_the_connection_stays_good() {
    for (pipelining, data_without_recipients) in [(true, false), (true, true), (false, false)] {
        let server = smtp(SmtpOptions {
            pipelining,
            data_without_recipients,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        server.on(SmtpRule::at(Phase::Rcpt).reply("550 5.1.1 no such user"));
        let refused = failure(
            adapter
                .deliver(&mail(&["a@example.com", "b@example.com"]), long_attempt())
                .await,
        );
        assert_eq!(
            (own_code(&refused), refused.scope),
            ("SMTP_550_5.1.1", Scope::Recipient)
        );
        server.behave();
        assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        assert_eq!((server.counts().connections, server.counts().mails), (1, 1));
    }
}

#[tokio::test]
async fn more_recipients_than_the_server_takes_at_once_go_in_several_mails() {
    for pipelining in [true, false] {
        let server = smtp(SmtpOptions {
            pipelining,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        server.on(SmtpRule::at(Phase::Rcpt)
            .beyond(4)
            .reply("452 4.5.3 too many recipients"));
        let targets = addresses(10);
        assert_delivered(&adapter.deliver(&mail(&refs(&targets)), long_attempt()).await);
        let sizes: Vec<_> = server.mails().iter().map(|m| m.recipients.len()).collect();
        assert_eq!(sizes, [4, 4, 2]);
        assert_eq!((server.counts().connections, server.counts().repeats), (1, 0));
    }
}

#[tokio::test]
async fn who_got_the_first_of_several_mails_has_got_it_whatever_happens_to_the_next() {
    let server = smtp(SmtpOptions::default()).await;
    let adapter = smtp_adapter(&server, json!({}));
    server.on(SmtpRule::at(Phase::Rcpt)
        .beyond(2)
        .reply("452 4.5.3 too many recipients"));
    server.on(SmtpRule::at(Phase::Mail).after(1).cut());
    let targets = addresses(4);
    let (accepted, failed) = mixed(adapter.deliver(&mail(&refs(&targets)), long_attempt()).await);
    assert_eq!(accepted, targets[..2]);
    assert!(
        failed.iter().all(|(_, code)| code == "CONNECTION_LOST"),
        "{failed:?}"
    );
}

#[tokio::test]
async fn a_list_of_a_thousand_goes_out_in_one_mail() {
    for pipelining in [true, false] {
        let server = smtp(SmtpOptions {
            pipelining,
            ..SmtpOptions::default()
        })
        .await;
        let adapter = smtp_adapter(&server, json!({}));
        let targets = addresses(1_000);
        assert_delivered(&adapter.deliver(&mail(&refs(&targets)), long_attempt()).await);
        assert_eq!((server.counts().mails, server.counts().deliveries), (1, 1_000));
    }
}

#[tokio::test]
async fn addresses_beyond_ascii_reach_servers_that_know_them() {
    let server = smtp(SmtpOptions::default()).await;
    let adapter = smtp_adapter(&server, json!({}));
    assert_delivered(
        &adapter
            .deliver(&mail(&["jörg@bücher.example"]), long_attempt())
            .await,
    );
    assert_eq!(server.mails()[0].recipients, ["jörg@xn--bcher-kva.example"]);
    // A server that only answers HELO offers nothing.
    server.on(SmtpRule::at(Phase::Ehlo).times(1).reply("502 5.5.1 what?"));
    let adapter = smtp_adapter(&server, json!({}));
    let (accepted, failed) = mixed(
        adapter
            .deliver(&mail(&["jörg@example.com", "a@example.com"]), long_attempt())
            .await,
    );
    assert_eq!(accepted, ["a@example.com"]);
    assert_eq!(failed[0].1, "SMTPUTF8_NOT_OFFERED");
}

#[tokio::test]
async fn a_message_for_nobody_is_not_sent() {
    let server = smtp(SmtpOptions::default()).await;
    let adapter = smtp_adapter(&server, json!({}));
    let nobody: Failure = failure(adapter.deliver(&mail(&[]), long_attempt()).await);
    assert_eq!(nobody.code, "VALIDATION");
    assert_eq!(server.counts().connections, 0);
}
