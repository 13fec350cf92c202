//! Waiting messages: seen page by page, tried now or given up, from central.

use crate::{
    script::Reply,
    world::{World, a_call, until},
};
use domain::site::{Category, OperationStatus, WaitingStatus};
use link::{SiteCommands, WaitingActed, WaitingPage};
use site::Commands;
use store::buffer::{MessageId, What};

fn stands(status: WaitingStatus) -> Result<WaitingActed, String> {
    let error = None;
    Ok(WaitingActed::Done { status, error })
}

/// One that the system could not take.
async fn waiting(world: &World) -> MessageId {
    world.systems.always(Reply::Transient);
    world.call("erp").await.id
}

#[tokio::test]
async fn central_sees_what_waits_page_by_page_and_nothing_that_is_parked() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut last_try = a_call("erp");
    last_try.options.max_retries = Some(1);
    world.site.send(last_try).await.unwrap();
    world.advance(30);
    assert_eq!(world.sweep().await.parked, 1);
    let mut ids = vec![];
    for _ in 0..5 {
        ids.push(waiting(&world).await.to_string());
    }
    let notified = world.notify("Tank 4 is full").await;
    let commands = Commands(world.site.clone());
    let mut page = WaitingPage {
        category: Some(Category::ExternalSystem),
        limit: 2,
        after: None,
    };
    let mut seen = vec![];
    loop {
        let answer = commands.waiting(page.clone()).await.unwrap();
        assert_eq!(answer.total, 5);
        seen.extend(answer.messages);
        page.after = answer.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(
        seen.iter().map(|m| &m.id).collect::<Vec<_>>(),
        ids.iter().collect::<Vec<_>>()
    );
    let one = &seen[0];
    assert!(one.due_at > one.created_at && one.held.is_none(), "{one:?}");
    assert_eq!(one.last_error.as_deref(), Some("HTTP_503: busy"));
    let all = WaitingPage {
        limit: 50,
        ..WaitingPage::default()
    };
    let all = commands.waiting(all).await.unwrap();
    assert_eq!(all.total, 6);
    assert_eq!(all.messages[5].id, notified.to_string());
    let astray = WaitingPage {
        after: Some("mine".into()),
        ..WaitingPage::default()
    };
    let refused = commands.waiting(astray).await.unwrap_err();
    assert!(refused.starts_with("cursor: "), "{refused}");
}

#[tokio::test]
async fn central_has_one_tried_or_given_up_by_either_spelling_of_the_id_and_is_told_what_came_of_it() {
    let world = World::new();
    let (first, second) = (waiting(&world).await, waiting(&world).await);
    let commands = Commands(world.site.clone());
    let plain = first.0.simple().to_string();
    let failed = commands.try_waiting(&plain, "user:bo").await.unwrap();
    let retrying = WaitingActed::Done {
        status: WaitingStatus::Retrying,
        error: Some("HTTP_503: busy".into()),
    };
    assert_eq!(failed, retrying);
    world.systems.always(Reply::Delivered);
    let tried = commands.try_waiting(&plain, "user:bo").await;
    assert_eq!(tried, stands(WaitingStatus::Delivered));
    assert_eq!(world.tracked_as(first).await, OperationStatus::Delivered);
    let hyphens = second.to_string().to_uppercase();
    let discarded = commands.discard_waiting(&hyphens, "user:bo").await;
    assert_eq!(discarded, stands(WaitingStatus::Discarded));
    let last = &world.site.buffer.events(None, 1).await.unwrap()[0];
    assert_eq!(
        (last.what, last.actor.as_deref()),
        (What::Discard, Some("user:bo"))
    );
    for gone in [&plain, "no-guid"] {
        let (tried, discarded) = (
            commands.try_waiting(gone, "user:bo").await,
            commands.discard_waiting(gone, "user:bo").await,
        );
        assert_eq!(tried, Ok(WaitingActed::NotFound), "{gone}");
        assert_eq!(discarded, Ok(WaitingActed::NotFound), "{gone}");
    }
    world.assert_counted().await;
}

#[tokio::test]
async fn what_is_parked_or_being_tried_is_neither_tried_nor_given_up_as_waiting() {
    let world = World::new();
    let (under_way, lanes) = world.call_at_gate("erp").await;
    let commands = Commands(world.site.clone());
    let tried = commands.try_waiting(&under_way.to_string(), "user:bo").await;
    let discarded = commands.discard_waiting(&under_way.to_string(), "user:bo").await;
    for acted in [tried, discarded] {
        let Ok(WaitingActed::WrongState(why)) = acted else {
            panic!("{acted:?}")
        };
        assert!(why.contains("being tried right now"), "{why}");
    }
    world.systems.always(Reply::Permanent);
    let parked = world.site.send({
        let mut call = a_call("erp");
        call.options.attempt_immediate_delivery = false;
        call
    });
    let parked = parked.await.unwrap().id.to_string();
    let tried = commands.try_waiting(&parked, "user:bo").await.unwrap();
    assert!(
        matches!(
            &tried,
            WaitingActed::Done {
                status: WaitingStatus::Parked,
                error: Some(_)
            }
        ),
        "{tried:?}"
    );
    let again = commands.try_waiting(&parked, "user:bo").await.unwrap();
    assert!(
        matches!(&again, WaitingActed::WrongState(why) if why.contains("parked")),
        "{again:?}"
    );
    world.systems.open_gate();
    for lane in lanes {
        lane.await.unwrap();
    }
}

#[tokio::test]
async fn an_attempt_that_takes_longer_than_central_waits_is_told_to_go_on_and_does() {
    let world = World::new();
    let id = waiting(&world).await;
    world.systems.always(Reply::AtGate);
    let commands = Commands(world.site.clone());
    // From here on time passes when nobody has anything to do.
    tokio::time::pause();
    let tried = commands.try_waiting(&id.to_string(), "user:bo").await;
    tokio::time::resume();
    assert_eq!(tried, stands(WaitingStatus::Trying));
    world.systems.waiting(1).await;
    world.systems.open_gate();
    until("the attempt to end", || world.waiting() == 0).await;
    assert_eq!(world.tracked_as(id).await, OperationStatus::Delivered);
}
