//! Messages that wait: how far ahead they may be due, and what a person can do with them.

use crate::harness::*;
use domain::{Actor, Clock, site::Category};
use std::time::Duration;
use store::buffer::{Acted, Attempted, Begun, Count, MessageStatus, NewMessage, Start, Step, Ticket};

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn failed(place: &Place, ticket: Ticket, after: Duration) -> Attempted {
    Attempted {
        ticket,
        step: Step::Retry {
            after,
            error: "HTTP_503: busy".into(),
            count: Count::Try,
        },
        started_at: place.clock.now(),
        took: Duration::ZERO,
        http_status: Some(503),
    }
}

#[tokio::test]
async fn no_row_is_due_further_ahead_than_its_interval_or_than_its_target_asked_for() {
    let place = Place::new();
    let buffer = place.open();
    let (plain, asked, fresh) = (
        a_message(Category::ExternalSystem, "erp"),
        a_message(Category::ExternalSystem, "mes"),
        a_message(Category::CachedDbWrite, "history"),
    );
    let ids = [plain.id, asked.id, fresh.id];
    for message in [plain, asked, fresh] {
        put(&buffer, message).await;
    }
    for (target, after) in [("erp", 30), ("mes", 600)] {
        let begun = buffer
            .claim_due(Category::ExternalSystem, target, 1)
            .await
            .unwrap();
        let done = failed(&place, begun[0].ticket(), secs(after));
        buffer.record(vec![done]).await.unwrap();
    }
    assert_eq!(buffer.pull_due_in().await.unwrap(), 0, "the clock is right");
    place.clock.set_back(secs(3600));
    assert_eq!(buffer.pull_due_in().await.unwrap(), 3);
    let now = place.clock.now();
    for (id, ahead) in ids.into_iter().zip([30, 600, 30]) {
        let due_at = get(&buffer, id).await.unwrap().due_at;
        assert_eq!(due_at, now + secs(ahead));
    }
    assert_eq!(buffer.pull_due_in().await.unwrap(), 0, "once is enough");
}

#[tokio::test]
async fn a_clock_that_was_set_during_an_attempt_makes_nothing_due_further_ahead_than_its_interval() {
    const DAY: u64 = 86_400;
    let place = Place::new();
    let buffer = place.open();
    let limited = NewMessage {
        max_retries: 5,
        ..a_message(Category::Notification, "ops")
    };
    let (call, write) = (
        a_message(Category::ExternalSystem, "erp"),
        a_message(Category::CachedDbWrite, "history"),
    );
    let ids = [call.id, write.id, limited.id];
    for message in [call, write, limited] {
        put(&buffer, message).await;
    }
    let mut begun = vec![];
    for (category, target) in [
        (Category::ExternalSystem, "erp"),
        (Category::CachedDbWrite, "history"),
        (Category::Notification, "ops"),
    ] {
        begun.extend(buffer.claim_due(category, target, 1).await.unwrap());
    }
    let [call, write, limited] = begun.as_slice() else {
        panic!("{begun:?}")
    };
    let first = failed(&place, limited.ticket(), secs(30));
    buffer.record(vec![first]).await.unwrap();
    place.clock.advance(secs(3 * DAY));
    let released = Attempted {
        step: Step::Released,
        ..failed(&place, write.ticket(), secs(0))
    };
    let retried = failed(&place, call.ticket(), secs(30));
    buffer.record(vec![retried, released]).await.unwrap();
    // Pushed by a person, while the clock is wrong.
    let anna = Actor::new("user:anna");
    assert_eq!(buffer.begin_try(ids[2], &anna).await.unwrap(), Begun::Due);
    place.clock.set_back(secs(2 * DAY));
    assert_eq!(buffer.pull_due_in().await.unwrap(), 3);
    let now = place.clock.now();
    for (id, most) in ids.into_iter().zip([30, 30, DAY]) {
        let due_at = get(&buffer, id).await.unwrap().due_at;
        assert!(
            due_at <= now + secs(most),
            "{id} is due {due_at}, and it is {now}"
        );
    }
}

#[tokio::test]
async fn a_row_that_is_no_message_takes_no_page_of_what_waits_away() {
    let place = Place::new();
    let buffer = place.open();
    let mut ids = vec![];
    for _ in 0..5 {
        let message = a_message(Category::ExternalSystem, "erp");
        ids.push(message.id);
        put(&buffer, message).await;
    }
    buffer.close().await;
    drop(buffer);
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    conn.execute("update sf_messages set id = 'no id' where seq = 2", [])
        .unwrap();
    drop(conn);
    let buffer = place.open();
    let page = buffer.waiting(None, 0, 3).await.unwrap();
    let shown: Vec<_> = page.iter().map(|m| m.id).collect();
    assert_eq!(shown, [ids[0], ids[2], ids[3]], "a full page");
    let rest = buffer
        .waiting(Some(Category::ExternalSystem), page[2].seq, 3)
        .await;
    assert_eq!(rest.unwrap()[0].id, ids[4]);
    assert_eq!(buffer.damage().await.unwrap()[0].lost, 1);
    assert_eq!(buffer.depth().waiting(), 4);
}

#[tokio::test]
async fn what_is_being_tried_is_neither_tried_twice_nor_given_up() {
    let place = Place::new();
    let buffer = place.open();
    let anna = Actor::new("user:anna");
    let message = a_message(Category::ExternalSystem, "erp");
    let id = message.id;
    buffer.enqueue(message, Start::Attempted).await.unwrap();
    assert_eq!(buffer.begin_try(id, &anna).await.unwrap(), Begun::UnderWay);
    assert_eq!(buffer.discard_waiting(id, &anna).await.unwrap(), Acted::UnderWay);
    let ticket = get(&buffer, id).await.unwrap().ticket();
    buffer
        .record(vec![failed(&place, ticket, secs(30))])
        .await
        .unwrap();
    let Begun::Attempt(begun) = buffer.begin_try(id, &anna).await.unwrap() else {
        panic!("it waits, though it is not due")
    };
    assert_eq!(begun.attempt, 2);
    let late = failed(&place, ticket, secs(30));
    assert_eq!(
        buffer.record(vec![late]).await.unwrap(),
        [store::buffer::Recorded::Lost]
    );
    buffer
        .record(vec![failed(&place, begun.ticket(), secs(30))])
        .await
        .unwrap();
    assert_eq!(buffer.discard_waiting(id, &anna).await.unwrap(), Acted::Done);
    assert_eq!(buffer.discard_waiting(id, &anna).await.unwrap(), Acted::NotFound);
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn what_is_parked_is_not_what_waits() {
    let place = Place::new();
    let buffer = place.open();
    let anna = Actor::new("user:anna");
    let message = a_message(Category::Notification, "ops");
    let id = message.id;
    let ticket = put(&buffer, message).await;
    assert_eq!(buffer.begin_try(id, &anna).await.unwrap(), Begun::Due);
    assert_eq!(buffer.waiting(None, 0, 10).await.unwrap().len(), 1);
    buffer.park_forward(ticket.seq, "REFUSED: no").await.unwrap();
    assert_eq!(buffer.begin_try(id, &anna).await.unwrap(), Begun::Parked);
    assert_eq!(
        buffer.discard_waiting(id, &anna).await.unwrap(),
        Acted::WrongState(MessageStatus::Parked)
    );
    assert!(buffer.waiting(None, 0, 10).await.unwrap().is_empty());
}
