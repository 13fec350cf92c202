//! What every test here needs: an outside that allows loopback, far ends, and messages.

use delivery::{Adapter, Attempt, Captured, Deadline, Message, Outside, Registry};
use domain::{Channel, Content, Failure, NotificationId, Outcome, SystemClock, Timestamp};
use serde_json::{Value, json};
use simulator::{SmtpOptions, SmtpServer};
use std::{sync::Arc, time::Duration};

pub fn outside() -> Outside {
    Outside::new(Arc::new(SystemClock))
        .allowing(vec!["127.0.0.0/8".parse().unwrap()])
        .with_message_id_domain("waypost.test")
}

pub fn adapter_in(outside: Outside, kind: &str, settings: Value) -> Arc<dyn Adapter> {
    Registry::standard(Arc::new(outside), Captured::default())
        .get(kind)
        .unwrap()
        .build(settings.as_object().unwrap())
        .unwrap()
}

pub fn adapter(kind: &str, settings: Value) -> Arc<dyn Adapter> {
    adapter_in(outside(), kind, settings)
}

pub fn message(channel: Channel, targets: &[&str]) -> Message {
    Message {
        id: NotificationId::mint(),
        content: Box::new(Content {
            channel: Some(channel),
            subject: "Pump 3 is hot".into(),
            body: "87 °C\n.\nand rising".into(),
            type_data: Some(json!({"severity": "high"}).to_string()),
            ..Content::default()
        }),
        targets: targets.iter().map(|t| (*t).to_owned()).collect(),
        site: Some("plant-7".into()),
        created_at: Timestamp::from_millis(1_767_225_600_000),
        trace: None,
        unsubscribe: None,
    }
}

pub fn mail(targets: &[&str]) -> Message {
    message(Channel::Email, targets)
}

/// Long enough never to be the reason.
pub fn long_attempt() -> Attempt {
    Deadline::after(Duration::from_secs(20)).into()
}

/// What comes of a message whose far end falls silent once it has it. The time of the attempt is over as soon as that is so, and not
/// before.
pub async fn silence_after(adapter: Arc<dyn Adapter>, message: Message, has_it: impl Future) -> Outcome {
    let deadline = Duration::from_secs(3600);
    let sending =
        tokio::spawn(async move { adapter.deliver(&message, Deadline::after(deadline).into()).await });
    has_it.await;
    tokio::time::pause();
    tokio::time::advance(deadline).await;
    tokio::time::resume();
    sending.await.unwrap()
}

/// For far ends that do not answer.
pub fn short_attempt() -> Attempt {
    Deadline::after(Duration::from_millis(300)).into()
}

pub async fn smtp(options: SmtpOptions) -> SmtpServer {
    SmtpServer::start(options).await.unwrap()
}

/// Settings for this server, with changes.
pub fn smtp_settings(server: &SmtpServer, changes: Value) -> Value {
    let mut settings = json!({
        "host": server.address().ip().to_string(),
        "port": server.address().port(),
        "tls": "none",
        "from": "Waypost <waypost@waypost.test>",
    });
    for (name, value) in changes.as_object().unwrap() {
        settings[name] = value.clone();
    }
    settings
}

pub fn smtp_adapter(server: &SmtpServer, changes: Value) -> Arc<dyn Adapter> {
    adapter("smtp", smtp_settings(server, changes))
}

#[track_caller]
pub fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("expected a failure, got {other:?}"),
    }
}

/// The far end's own code, or ours where it has none.
pub fn own_code(failure: &Failure) -> &str {
    failure.provider_code.as_deref().unwrap_or(&failure.code)
}

#[track_caller]
pub fn assert_delivered(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
}

/// Who accepted, and the codes of those who did not.
#[track_caller]
pub fn mixed(outcome: Outcome) -> (Vec<String>, Vec<(String, String)>) {
    let Outcome::Mixed(reports) = outcome else {
        panic!("expected mixed results, got {outcome:?}");
    };
    let mut accepted = vec![];
    let mut failed = vec![];
    for report in reports {
        match report.result {
            Ok(_) => accepted.push(report.address),
            Err(failure) => failed.push((report.address, own_code(&failure).to_owned())),
        }
    }
    (accepted, failed)
}
