//! Handing notifications over.

use crate::world::{World, a_forward, a_full_forward, a_telemetry, down, hasty, up};
use domain::Status;
use link::{Ack, Down, LinkClient, Uplink, client::ITEM_BYTES};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A batch that central works on and does not finish.
async fn stuck(world: &World, link: &LinkClient) -> JoinHandle<Result<Vec<Ack>, Down>> {
    world.central.may_finish.send_replace(false);
    let (working, link) = (world.central.working.notified(), link.clone());
    let sending = tokio::spawn(async move { link.submit(vec![a_forward()]).await });
    working.await;
    sending
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_answered_item_by_item_in_order() {
    let world = World::new();
    let link = world.connected().await;
    let (one, two) = (a_full_forward(), a_forward());
    let mut bad = a_forward();
    bad.content.subject = "bad".into();
    let acks = link
        .submit(vec![one.clone(), bad, two, one.clone()])
        .await
        .unwrap();
    let refused = Ack::Refused("subject must not be bad".into());
    assert_eq!(acks, [Ack::Accepted, refused, Ack::Accepted, Ack::Duplicate]);
    assert_eq!(
        world.central.rows.lock().unwrap()[&one.id],
        one,
        "to the last field"
    );
}

#[tokio::test(start_paused = true)]
async fn a_resend_after_a_lost_ack_creates_no_second_row() {
    let world = World::new();
    let link = world.connected().await;
    let item = a_forward();
    world.network.mute_central();
    let lost = link.submit(vec![item.clone()]).await.unwrap_err();
    assert!(!lost.why.is_empty());
    assert_eq!(
        world.central.rows.lock().unwrap().len(),
        1,
        "central has it, the site does not know"
    );
    world.network.cut();
    world.network.mend();
    up(&link).await;
    assert_eq!(link.submit(vec![item]).await.unwrap(), [Ack::Duplicate]);
    assert_eq!(world.central.rows.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_large_batch_travels_in_frames_and_comes_back_whole() {
    let world = World::new();
    let link = world.connected().await;
    let mut batch: Vec<_> = (0..1_700).map(|_| a_forward()).collect();
    batch[3].content.body = "x".repeat(1 << 20);
    batch[900].content.subject = "bad".into();
    let acks = link.submit(batch).await.unwrap();
    let refused: Vec<_> = (0..1_700).filter(|&i| acks[i] != Ack::Accepted).collect();
    assert_eq!(refused, [900]);
    assert_eq!(world.central.rows.lock().unwrap().len(), 1_699);
}

#[tokio::test(start_paused = true)]
async fn what_the_link_does_not_carry_is_refused_alone() {
    let world = World::new();
    let link = world.connected().await;
    let mut huge = a_forward();
    huge.content.body = "x".repeat(ITEM_BYTES);
    let acks = link.submit(vec![a_forward(), huge, a_forward()]).await.unwrap();
    let [Ack::Accepted, Ack::Refused(why), Ack::Accepted] = acks.as_slice() else {
        panic!("{acks:?}");
    };
    assert!(why.contains("bytes; central accepts at most"), "{why}");
    assert!(link.state().borrow().is_up());
}

#[tokio::test(start_paused = true)]
async fn no_more_batches_than_the_window_are_under_way() {
    let world = World::new();
    let link = world.connected().await;
    world.central.may_finish.send_replace(false);
    let sends: Vec<_> = (0..20)
        .map(|_| {
            let link = link.clone();
            tokio::spawn(async move { link.submit(vec![a_forward()]).await })
        })
        .collect();
    while world.central.most_at_once.lock().unwrap().0 < 8 {
        world.central.working.notified().await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.central.may_finish.send_replace(true);
    for send in sends {
        assert_eq!(send.await.unwrap().unwrap(), [Ack::Accepted]);
    }
    assert_eq!(world.central.most_at_once.lock().unwrap().1, 8);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_breaks_while_a_batch_is_under_way_says_so_at_once() {
    let world = World::new();
    let link = world.connected().await;
    let sending = stuck(&world, &link).await;
    world.network.cut();
    assert!(sending.await.unwrap().is_err());
    assert!(
        link.submit(vec![a_forward()]).await.is_err(),
        "and so does the next"
    );
}

#[tokio::test(start_paused = true)]
async fn a_central_that_does_not_answer_is_given_up() {
    let world = World::new();
    let mut options = world.options(&["http://central:7443"]);
    options.pace = hasty();
    let link = world.link_with(options);
    up(&link).await;
    world.central.may_finish.send_replace(false);
    let gave_up = link.submit(vec![a_forward()]).await.unwrap_err();
    assert!(gave_up.why.contains("did not answer within 5 s"), "{gave_up}");
    assert!(down(&link).await.contains("did not answer"));
}

#[tokio::test(start_paused = true)]
async fn at_the_stop_of_central_batches_under_way_are_answered_first() {
    let world = World::new();
    let link = world.connected().await;
    let sending = stuck(&world, &link).await;
    world.stop_central.cancel();
    tokio::task::yield_now().await;
    world.central.may_finish.send_replace(true);
    assert_eq!(sending.await.unwrap().unwrap(), [Ack::Accepted]);
    assert!(down(&link).await.contains("central is stopping"));
}

#[tokio::test(start_paused = true)]
async fn a_site_that_is_sent_away_is_gone_also_while_a_batch_of_it_is_stuck() {
    let world = World::new();
    let link = world.connected().await;
    let sending = stuck(&world, &link).await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    remote.dismiss("the key was revoked");
    assert_eq!(down(&link).await, "the key was revoked");
    assert_eq!(sending.await.unwrap().unwrap_err().why, "the key was revoked");
}

#[tokio::test(start_paused = true)]
async fn the_status_of_what_central_has_and_has_not_seen() {
    let world = World::new();
    let link = world.connected().await;
    let item = a_forward();
    assert_eq!(link.status(item.id).await.unwrap(), None);
    link.submit(vec![item.clone()]).await.unwrap();
    let status = link.status(item.id).await.unwrap().unwrap();
    assert_eq!((status.status, status.retry_count), (Status::Retrying, 2));
    world.network.cut();
    down(&link).await;
    assert!(link.status(item.id).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn telemetry_arrives_and_is_answered_piece_by_piece() {
    let world = World::new();
    let link = world.connected().await;
    let news: Vec<_> = (0..1_200).map(|_| a_telemetry()).collect();
    let heard = link.telemetry(news).await.unwrap();
    assert_eq!((heard.len(), heard.iter().all(|h| *h)), (1_200, true));
    assert_eq!(world.central.heard.lock().unwrap().len(), 1_200);
}
