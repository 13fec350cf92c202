//! Many parked messages at once, and messages whose system is gone.

use crate::{
    script::Reply,
    world::{World, a_call, a_notification, somebody},
};
use domain::site::{Category, OperationStatus, ParkedAction, ParkedFilter};
use link::{BulkDone, BulkStep, ParkedPage};
use store::buffer::{Acted, MessageId, MessageStatus, What};

async fn park(world: &World, system: &str, n: usize) -> Vec<MessageId> {
    world.systems.always(Reply::Transient);
    let mut ids = vec![];
    for _ in 0..n {
        let mut call = a_call(system);
        call.options.max_retries = Some(1);
        ids.push(world.site.send(call).await.unwrap().id);
        world.advance(30);
        assert_eq!(world.sweep().await.parked, 1);
    }
    ids
}

fn of_target(target: &str) -> ParkedFilter {
    ParkedFilter {
        target: Some(target.into()),
        ..ParkedFilter::default()
    }
}

fn step(action: ParkedAction, filter: ParkedFilter, until: i64) -> BulkStep {
    BulkStep {
        job: "j1".into(),
        action,
        filter: ParkedFilter {
            until: Some(until),
            ..filter
        },
        after: None,
        limit: 500,
        by: "user:anna".into(),
    }
}

#[tokio::test]
async fn a_bulk_action_takes_what_was_counted_and_nothing_that_parked_later() {
    let world = World::new();
    let ids = park(&world, "erp", 7).await;
    park(&world, "mes", 2).await;
    let counted = world.site.count_parked(of_target("erp")).await.unwrap();
    assert_eq!(counted.total, 7);
    let late = park(&world, "erp", 1).await[0];
    let mut next = step(ParkedAction::Discard, of_target("erp"), counted.until);
    next.limit = 3;
    let mut steps = vec![];
    loop {
        let BulkDone { done, next: after } = world.site.act_on_many(next.clone()).await.unwrap();
        steps.push(done);
        next.after = after;
        if next.after.is_none() {
            break;
        }
    }
    assert_eq!(steps, [3, 3, 1]);
    for id in ids {
        assert_eq!(world.tracked_as(id).await, OperationStatus::Discarded);
    }
    assert_eq!(world.message(late).await.unwrap().status, MessageStatus::Parked);
    assert_eq!(world.parked(), 3);
    let discards = world.events().await;
    assert_eq!(discards.iter().filter(|what| **what == What::Discard).count(), 7);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_step_whose_answer_got_lost_is_not_done_again() {
    let world = World::new();
    park(&world, "erp", 5).await;
    let until = world
        .site
        .count_parked(ParkedFilter::default())
        .await
        .unwrap()
        .until;
    let mut first = step(ParkedAction::Discard, ParkedFilter::default(), until);
    first.limit = 2;
    let answer = world.site.act_on_many(first.clone()).await.unwrap();
    assert_eq!(world.site.act_on_many(first).await.unwrap(), answer);
    assert_eq!(world.parked(), 3);
}

#[tokio::test]
async fn what_was_sent_round_again_and_parked_again_is_not_taken_twice() {
    let world = World::new();
    park(&world, "erp", 3).await;
    let until = world
        .site
        .count_parked(ParkedFilter::default())
        .await
        .unwrap()
        .until;
    let retry = step(ParkedAction::Retry, ParkedFilter::default(), until);
    assert_eq!(world.site.act_on_many(retry.clone()).await.unwrap().done, 3);
    while world.parked() < 3 {
        // The system is still down.
        world.sweep().await;
        world.advance(30);
    }
    let again = BulkStep {
        job: "j2".into(),
        ..retry
    };
    assert_eq!(world.site.act_on_many(again).await.unwrap().done, 0);
}

#[tokio::test]
async fn each_filter_finds_its_own() {
    let world = World::new();
    let parked_from = domain::Clock::now(&*world.clock);
    park(&world, "erp", 2).await;
    let id = world.notify("n").await;
    let seq = world.message(id.into()).await.unwrap().seq;
    world.site.buffer.park_forward(seq, "REFUSED: no").await.unwrap();
    let after = domain::Clock::now(&*world.clock) + crate::world::secs(1);
    let filters = [
        (ParkedFilter::default(), 3),
        (of_target("erp"), 2),
        (
            ParkedFilter {
                category: Some(Category::Notification),
                ..ParkedFilter::default()
            },
            1,
        ),
        (
            ParkedFilter {
                error_code: Some("HTTP_503".into()),
                ..ParkedFilter::default()
            },
            2,
        ),
        (
            ParkedFilter {
                error_code: Some("HTTP_50".into()),
                ..ParkedFilter::default()
            },
            0,
        ),
        (
            ParkedFilter {
                instance: Some("tank-4".into()),
                ..ParkedFilter::default()
            },
            1,
        ),
        (
            ParkedFilter {
                from: Some(parked_from),
                to: Some(after),
                ..ParkedFilter::default()
            },
            3,
        ),
        (
            ParkedFilter {
                from: Some(after),
                ..ParkedFilter::default()
            },
            0,
        ),
    ];
    for (filter, n) in filters {
        let page = ParkedPage {
            filter: filter.clone(),
            limit: 10,
            after: None,
        };
        let shown = world.site.parked(&page).await.unwrap();
        assert_eq!((shown.messages.len(), shown.total), (n, n as u64), "{filter:?}");
        assert_eq!(
            world.site.count_parked(filter.clone()).await.unwrap().total,
            n as u64,
            "{filter:?}"
        );
    }
}

#[tokio::test]
async fn a_parked_message_shows_what_it_is() {
    let world = World::new();
    park(&world, "erp", 1).await;
    let id = world.notify("Tank 4 is full").await;
    let seq = world.message(id.into()).await.unwrap().seq;
    world.site.buffer.park_forward(seq, "REFUSED: no").await.unwrap();
    let page = ParkedPage {
        limit: 10,
        ..ParkedPage::default()
    };
    let shown = world.site.parked(&page).await.unwrap().messages;
    let summaries: Vec<_> = shown.iter().map(|m| m.summary.as_deref()).collect();
    assert_eq!(summaries, [Some("POST /orders"), Some("Tank 4 is full")]);
}

#[tokio::test]
async fn what_waits_for_a_system_that_is_gone_can_be_given_up_and_nothing_else_that_waits() {
    let world = World::new();
    world.systems.does_not_know(&["gone"]);
    let mut waiting = vec![];
    for _ in 0..3 {
        waiting.push(world.call("gone").await.id);
    }
    world.systems.always(Reply::Transient);
    let kept = world.call("erp").await.id;
    let list_of_that_name = {
        let mut n = a_notification("n");
        n.target = "gone".into();
        world.site.send(n).await.unwrap().id
    };
    // One by its id; a message on its way is refused as before.
    assert_eq!(
        world.site.discard(waiting[0], &somebody()).await.unwrap(),
        Acted::Done
    );
    let told = Acted::WrongState(MessageStatus::Pending);
    assert_eq!(world.site.discard(kept, &somebody()).await.unwrap(), told);
    assert_eq!(
        world.site.discard(list_of_that_name, &somebody()).await.unwrap(),
        told
    );
    // The rest by the name of the system.
    let removed = |target: &str| ParkedFilter {
        removed: true,
        ..of_target(target)
    };
    let configured = world.site.count_parked(removed("erp")).await.unwrap_err();
    assert!(
        configured.to_string().contains("is configured here"),
        "{configured}"
    );
    let counted = world.site.count_parked(removed("gone")).await.unwrap();
    assert_eq!(counted.total, 2);
    let retry = step(ParkedAction::Retry, removed("gone"), counted.until);
    world.site.act_on_many(retry).await.unwrap_err();
    let discard = step(ParkedAction::Discard, removed("gone"), counted.until);
    assert_eq!(world.site.act_on_many(discard).await.unwrap().done, 2);
    for id in waiting {
        assert_eq!(world.tracked_as(id).await, OperationStatus::Discarded);
    }
    assert_eq!(world.waiting(), 2);
    world.assert_counted().await;
}
