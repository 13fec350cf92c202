//! A buffer in which bits have turned over: one bad row is parked, all others go, and damage is shown until acknowledged.

use crate::world::{World, a_call, a_notification, until};
use domain::site::{Category, OperationStatus};
use site::{Outgoing, SendOptions};
use std::path::Path;
use store::buffer::{Message, MessageId};

const BAD: &str = "the-one-that-turns-bad";

/// Three messages of each category, the second of each with the mark.
async fn send_nine(world: &World) -> Vec<MessageId> {
    let mut bad = vec![];
    for category in Category::ALL.iter().copied() {
        for n in 0..3 {
            let mark = if n == 1 { BAD } else { "a-good-one-of-this-kind" };
            let template = match category {
                Category::Notification => a_notification(mark),
                _ => a_call("erp"),
            };
            let payload = match category {
                Category::Notification => template.payload.clone(),
                _ => template.payload.replace("/orders", &format!("/{mark}")),
            };
            let sent = world.site.send(Outgoing {
                category,
                payload,
                options: SendOptions {
                    attempt_immediate_delivery: false,
                    ..SendOptions::default()
                },
                ..template
            });
            let id = sent.await.unwrap().id;
            if n == 1 {
                bad.push(id);
            }
        }
    }
    bad
}

fn change(file: &Path, from: &str, to: &[u8]) {
    let mut bytes = std::fs::read(file).unwrap();
    let places: Vec<_> = (0..bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from.as_bytes()))
        .collect();
    assert!(places.len() >= 3, "one of each category");
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    std::fs::write(file, bytes).unwrap();
}

async fn after_bits_turned(from: &str, to: &[u8]) -> (World, Vec<Message>) {
    let world = World::new();
    world.central.goes_down();
    let bad = send_nine(&world).await;
    world.site.buffer.close().await;
    change(&world.folder.path().join("sf.db"), from, to);
    let world = world.crash().await;
    world.central.comes_back();
    let agent = world.start().await;
    until("all others to have gone", || world.waiting() == 0).await;
    let mut parked = vec![];
    for id in bad {
        parked.push(world.message(id).await.expect("it is kept"));
    }
    assert_eq!(world.parked(), 3, "and nothing else is parked");
    assert_eq!(world.central.rows().len(), 2);
    assert_eq!(world.systems.attempts(), 4, "a bad one is never tried");
    for message in &parked {
        let why = message.last_error.as_deref().unwrap_or_default();
        assert!(why.starts_with("CORRUPT_PAYLOAD: "), "{why}");
        if message.category != Category::Notification {
            assert_eq!(world.tracked_as(message.id).await, OperationStatus::Parked);
        }
    }
    world.assert_counted().await;
    agent.stop().await;
    (world, parked)
}

#[tokio::test]
async fn a_payload_that_is_no_text_any_more_is_parked_with_its_bytes_in_every_category() {
    let mut turned = BAD.as_bytes().to_vec();
    turned[4] |= 0x80;
    let (world, _) = after_bits_turned(BAD, &turned).await;
    let bytes = std::fs::read(world.folder.path().join("sf.db")).unwrap();
    let kept = bytes.windows(turned.len()).filter(|w| *w == turned).count();
    assert!(kept >= 3, "their bytes stay in the file");
}

#[tokio::test]
async fn a_flipped_bit_in_what_central_acknowledged_stops_no_forwarding() {
    let world = World::new();
    let agent = world.start().await;
    let mut large = a_notification(&"x".repeat(500));
    large.payload.push_str(&" ".repeat(2_000));
    large.origin.instance = Some(BAD.to_owned());
    world.site.send(large).await.unwrap();
    until("an empty buffer", || world.waiting() == 0).await;
    agent.stop().await;
    world.site.buffer.close().await;
    let mut turned = BAD.as_bytes().to_vec();
    turned[4] |= 0x80;
    let file = world.folder.path().join("sf.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<_> = (0..bytes.len() - BAD.len())
        .filter(|at| bytes[*at..].starts_with(BAD.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "it is remembered");
    for at in places {
        bytes[at..at + BAD.len()].copy_from_slice(&turned);
    }
    std::fs::write(&file, bytes).unwrap();
    let world = world.crash().await;
    // From now on it is to be forgotten, whenever the forwarder begins.
    world.clock.advance(site::forwarder::ACK_MEMORY * 2);
    let agent = world.start().await;
    world.notify("another").await;
    until("an empty buffer", || world.waiting() == 0).await;
    until("nothing to be remembered but the last", || {
        world.site.buffer.depth().remembered_bytes < 2_000
    })
    .await;
    world.assert_counted().await;
    agent.stop().await;
}
