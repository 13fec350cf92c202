//! What was said in an attempt can be read afterwards, for as long as it is kept, and holds no secret.

use crate::world::{TENANT, World, secs};
use central::{Settings, secrets::Sealer};
use delivery::{Captured, Outside, Registry};
use domain::{Channel, Failure, HoldReason, NotificationId, Outcome, Scope, SystemClock, transcript::Side};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use testkit::{FarEnd, TempStore, a_notification};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// The numbers of the attempts, and which can be opened.
async fn numbers(world: &World, id: NotificationId) -> Vec<(u32, bool)> {
    let rows = world.attempts(id).await;
    rows.iter()
        .filter_map(|row| Some((row.attempt?, row.has_transcript)))
        .collect()
}

async fn said(world: &World, id: NotificationId, number: u32) -> Option<Vec<(Side, String)>> {
    let kept = world
        .central
        .store
        .transcript(TENANT, id, number)
        .await
        .unwrap()?;
    Some(
        kept.parts
            .into_iter()
            .map(|part| (part.side, part.text))
            .collect(),
    )
}

#[tokio::test]
async fn what_was_said_is_kept_of_attempts_that_failed_were_held_and_succeeded() {
    let mut world = World::new().await;
    let id = world.send(a_notification()).await;
    let down = Failure::transient(Scope::Message, "SMTP_451", "greylisted");
    world.mail.answers(Outcome::Failed(down));
    world.sweep().await;
    let refused = Failure::permanent(Scope::Lane, "AUTH_FAILED", "535 no").holding(HoldReason::Auth);
    world.mail.answers(Outcome::Failed(refused));
    world.advance(secs(3600));
    world.sweep().await;
    world.mail.accepts();
    world.advance(secs(86_400));
    world.sweep().await;
    assert_eq!(world.status(id).await, domain::Status::Delivered);
    assert_eq!(numbers(&world, id).await, [(1, true), (2, true), (3, true)]);
    let first = said(&world, id, 1).await.unwrap();
    assert_eq!(first.len(), 2, "{first:?}");
    assert_eq!((first[0].0, first[1].0), (Side::Sent, Side::Received));
    assert!(first[1].1.contains("greylisted"), "{first:?}");
    assert!(said(&world, id, 2).await.unwrap()[1].1.contains("535 no"));
    assert!(said(&world, id, 3).await.unwrap()[1].1.contains("Delivered"));
}

#[tokio::test]
async fn with_no_retention_nothing_is_kept() {
    let mut settings = Settings::named("node-1");
    settings.retention.transcripts = Duration::ZERO;
    let mut world = World::with(settings).await;
    let id = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(numbers(&world, id).await, [(1, false)]);
    assert_eq!(said(&world, id, 1).await, None);
}

#[tokio::test]
async fn what_a_panicking_adapter_had_said_is_kept_too() {
    let mut world = World::new().await;
    world.mail.script(|_, _| testkit::Reply::Panic);
    let id = world.send(a_notification()).await;
    world.sweep().await;
    let kept = said(&world, id, 1).await.unwrap();
    assert_eq!(
        kept.iter().map(|(side, _)| *side).collect::<Vec<_>>(),
        [Side::Sent]
    );
}

#[tokio::test]
async fn a_message_in_chunks_has_one_transcript_for_all_of_them() {
    let mut world = World::new().await;
    world.mail.asks_one_by_one();
    let many: Vec<String> = (0..25).map(|n| format!("p{n}@example.com")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    world.list("many", &many).await;
    let id = world.send(a_notification().to_list("many")).await;
    world.sweep().await;
    assert_eq!(numbers(&world, id).await, [(1, true)]);
    let sent = said(&world, id, 1).await.unwrap();
    assert_eq!(sent.iter().filter(|(side, _)| *side == Side::Sent).count(), 3);
}

const SECRETS: [&str; 4] = [
    "T0KEN-IN-PATH",
    "query-key-1234",
    "abcdef123456",
    "whsec_aHVudGVyMi1odW50ZXIyLWh1bnRlcjI=",
];

/// Answers every request with 500 and everything it was sent, secrets and all.
async fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = vec![0; 16 << 10];
            let n = stream.read(&mut asked).await.unwrap_or(0);
            let body = String::from_utf8_lossy(&asked[..n]).into_owned();
            let answer = format!(
                "HTTP/1.1 500 no\r\nx-echo: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                SECRETS[2],
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}/hooks/{}?key={}", SECRETS[0], SECRETS[1])
}

#[tokio::test]
async fn no_secret_of_a_provider_is_anywhere_in_what_is_kept() {
    let url = echo().await;
    let temp = TempStore::open();
    let (mail, hook) = (
        FarEnd::new("test-mail", Channel::Email),
        FarEnd::new("test-hook", Channel::Webhook),
    );
    let here = vec!["127.0.0.0/8".parse().unwrap()];
    let outside = Outside::new(Arc::new(SystemClock)).allowing(here);
    let real = Registry::standard(Arc::new(outside), Captured::default());
    let real = real.get("webhook").unwrap().clone();
    let settings = Settings::named("node-1");
    let mut world = World::with_kinds(temp, mail, hook, vec![real], settings, Sealer::ephemeral());
    let headers = json!({"X-Key": SECRETS[2], "Authorization": format!("Bearer {}", SECRETS[2])});
    let draft = json!({"url": url, "secret": SECRETS[3], "headers": headers});
    world
        .provider("real", "webhook", |provider| {
            provider.settings = draft.as_object().unwrap().clone();
        })
        .await;
    let id = world
        .send(a_notification().by(Channel::Webhook).through("real"))
        .await;
    world.sweep().await;
    let kept = said(&world, id, 1).await.unwrap();
    assert!(kept[0].1.starts_with("POST "), "{kept:?}");
    assert!(kept[1].1.starts_with("500"), "{kept:?}");
    assert!(kept[1].1.contains("•••"), "the echo was there: {kept:?}");
    let text = format!("{kept:?} {:?}", world.attempts(id).await);
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
