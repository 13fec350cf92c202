//! Parked messages: seen page by page, sent round again or given up, from here or from central.

use crate::{
    script::Reply,
    world::{World, a_call, a_notification, somebody},
};
use domain::site::{Category, OperationStatus, ParkedFilter};
use link::{ParkedActed, ParkedPage, SiteCommands};
use site::Commands;
use store::buffer::{Acted, MessageId, MessageStatus, What};

async fn parked(world: &World) -> MessageId {
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options.max_retries = Some(1);
    let id = world.site.send(call).await.unwrap().id;
    world.advance(30);
    assert_eq!(world.sweep().await.parked, 1);
    id
}

#[tokio::test]
async fn a_retry_starts_over_with_a_whole_budget_and_is_due_at_once() {
    let world = World::new();
    let id = parked(&world).await;
    assert_eq!(
        world.site.buffer.requeue(id, &somebody()).await.unwrap(),
        Acted::Done
    );
    let again = world.message(id).await.unwrap();
    assert_eq!((again.retry_count, again.last_attempt_at), (0, None));
    assert_eq!(world.tracked_as(id).await, OperationStatus::Retrying);
    world.systems.always(Reply::Delivered);
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(
        world.events().await,
        [What::Queued, What::Parked, What::Retry, What::Delivered]
    );
    world.assert_counted().await;
}

#[tokio::test]
async fn a_discard_keeps_what_it_was_and_who_did_it() {
    let world = World::new();
    let id = parked(&world).await;
    assert_eq!(
        world.site.buffer.discard(id, &somebody()).await.unwrap(),
        Acted::Done
    );
    assert_eq!(world.message(id).await, None);
    let tracking = world.tracking(id).await;
    assert_eq!(tracking.status, OperationStatus::Discarded);
    assert_eq!(tracking.last_error.as_deref(), Some("HTTP_503: busy"));
    let last = &world.site.buffer.events(None, 1).await.unwrap()[0];
    assert_eq!((last.what, last.message), (What::Discard, Some(id)));
    assert_eq!(last.actor.as_deref(), Some("user:anna"));
    world.assert_counted().await;
}

#[tokio::test]
async fn of_two_who_act_on_one_message_one_wins_and_the_other_is_told() {
    let world = World::new();
    let id = parked(&world).await;
    let (one, two) = (somebody(), somebody());
    let (retried, discarded) = tokio::join!(
        world.site.buffer.requeue(id, &one),
        world.site.buffer.discard(id, &two)
    );
    let won = [retried.unwrap(), discarded.unwrap()];
    assert_eq!(
        won.iter().filter(|acted| **acted == Acted::Done).count(),
        1,
        "{won:?}"
    );
    assert_eq!(
        world
            .site
            .buffer
            .discard(MessageId(uuid::Uuid::now_v7()), &two)
            .await
            .unwrap(),
        Acted::NotFound
    );
}

#[tokio::test]
async fn what_still_waits_cannot_be_discarded_and_a_sweep_under_way_is_not_overwritten() {
    let world = World::new();
    let (id, lanes) = world.call_at_gate("erp").await;
    let told = Acted::WrongState(MessageStatus::Pending);
    assert_eq!(world.site.buffer.discard(id, &somebody()).await.unwrap(), told);
    assert_eq!(world.site.buffer.requeue(id, &somebody()).await.unwrap(), told);
    world.systems.open_gate();
    for lane in lanes {
        assert_eq!(lane.await.unwrap().delivered, 1);
    }
}

#[tokio::test]
async fn a_result_that_comes_after_somebody_acted_changes_nothing() {
    let world = World::new();
    let (id, lanes) = world.call_at_gate("erp").await;
    // As if somebody else had come to an end with the same attempt first.
    let first = store::buffer::Attempted {
        ticket: world.message(id).await.unwrap().ticket(),
        step: store::buffer::Step::Park {
            error: "first".into(),
            count: store::buffer::Count::Try,
            exhausted: true,
        },
        started_at: world.site.buffer.now(),
        took: std::time::Duration::ZERO,
        http_status: None,
    };
    world.site.buffer.record(vec![first]).await.unwrap();
    world.systems.open_gate();
    for lane in lanes {
        assert_eq!(lane.await.unwrap().lost, 1);
    }
    assert_eq!(world.message(id).await.unwrap().status, MessageStatus::Parked);
}

#[tokio::test]
async fn central_sees_pages_and_acts_by_either_spelling_of_the_id() {
    let world = World::new();
    let mut ids = vec![];
    for _ in 0..5 {
        ids.push(parked(&world).await);
    }
    let commands = Commands(world.site.clone());
    let mut page = ParkedPage {
        limit: 2,
        ..ParkedPage::default()
    };
    let mut seen = vec![];
    loop {
        let answer = commands.parked(page.clone()).await.unwrap();
        assert_eq!(answer.total, 5);
        seen.extend(answer.messages.into_iter().map(|m| m.id));
        page.after = answer.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ids.iter().map(ToString::to_string).collect::<Vec<_>>());
    let none = commands
        .parked(ParkedPage {
            filter: ParkedFilter {
                category: Some(Category::CachedDbWrite),
                ..ParkedFilter::default()
            },
            limit: 10,
            after: None,
        })
        .await
        .unwrap();
    assert_eq!((none.messages.len(), none.total), (0, 0));
    let plain = ids[0].0.simple().to_string();
    assert_eq!(commands.retry(&plain, "user:bo").await, Ok(ParkedActed::Done));
    assert_eq!(
        commands.retry(&plain, "user:bo").await,
        Ok(ParkedActed::WrongState)
    );
    let hyphens = ids[1].to_string().to_uppercase();
    assert_eq!(commands.discard(&hyphens, "user:bo").await, Ok(ParkedActed::Done));
    assert_eq!(
        commands.discard("no-guid", "user:bo").await,
        Ok(ParkedActed::NotFound)
    );
    let report = commands.report().await;
    assert_eq!((report.parked, report.node.as_str()), (3, "north"));
}

#[tokio::test]
async fn a_message_of_an_instance_that_is_gone_keeps_its_name() {
    let world = World::new();
    world.central.goes_down();
    let id = world.site.send(a_notification("n")).await.unwrap().id;
    let world = world.crash().await;
    let message = world.message(id).await.unwrap();
    assert_eq!(message.origin.instance.as_deref(), Some("tank-4"));
}
