//! Getting in, staying in, and being kept out.

use crate::world::{World, a_database, a_forward, down, down_because, up};
use domain::SiteId;
use link::{
    Ack, LinkState, Uplink,
    transport::{Dial, STRANGER_BYTES, STRANGER_TIME},
};
use std::{sync::atomic::Ordering::SeqCst, time::Duration};
use testkit::eventually;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

fn database(state: &LinkState) -> domain::site::DatabaseIdentity {
    match state {
        LinkState::Up { central, .. } => central.clone(),
        LinkState::Down { why, .. } => panic!("down: {why}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_link_fails_at_once_and_says_since_when() {
    let world = World::new();
    world.network.cut();
    let link = world.link();
    let why = down_because(&link, "refused").await;
    assert!(why.contains("http://central:7443"), "{why}");
    let failed = link.submit(vec![a_forward()]).await.unwrap_err();
    assert!(
        failed
            .to_string()
            .starts_with("central is not reachable since 2026-01-01T"),
        "{failed}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_site_that_cannot_report_any_more_hangs_up_and_dials_again() {
    let world = World::new();
    let link = world.connected().await;
    world.site.cannot_report.store(true, SeqCst);
    down_because(&link, "could not report").await;
    world.site.cannot_report.store(false, SeqCst);
    up(&link).await;
}

#[tokio::test(start_paused = true)]
async fn a_wrong_key_is_refused_in_words() {
    let world = World::new();
    let mut options = world.options(&["http://central:7443"]);
    options.key = "wp_other".into();
    let link = world.link_with(options);
    down_because(&link, "the key is not the one of site north").await;
}

#[tokio::test(start_paused = true)]
async fn a_site_cannot_speak_for_another() {
    let world = World::new();
    let mut options = world.options(&["http://central:7443"]);
    options.site = SiteId::new("south");
    let link = world.link_with(options);
    down_because(&link, "the key is not the one of site south").await;
    assert!(world.central.site.lock().unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_site_id_that_is_none_is_refused() {
    let world = World::new();
    let mut options = world.options(&["http://central:7443"]);
    options.site = SiteId::new(" ");
    let link = world.link_with(options);
    down_because(&link, "must not be blank").await;
}

#[tokio::test(start_paused = true)]
async fn the_link_comes_back_within_seconds_after_the_network_does() {
    let world = World::new();
    let link = world.connected().await;
    world.network.cut();
    down(&link).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    world.network.mend();
    let mended = tokio::time::Instant::now();
    up(&link).await;
    assert!(
        mended.elapsed() <= Duration::from_secs(5),
        "{:?}",
        mended.elapsed()
    );
    assert_eq!(link.submit(vec![a_forward()]).await.unwrap(), [Ack::Accepted]);
}

#[tokio::test(start_paused = true)]
async fn a_dead_peer_is_found_within_twenty_seconds() {
    let world = World::new();
    let link = world.connected().await;
    world.network.mute_central();
    let muted = tokio::time::Instant::now();
    let why = down(&link).await;
    assert!(
        muted.elapsed() <= Duration::from_secs(20),
        "{:?}",
        muted.elapsed()
    );
    assert!(why.starts_with("central has not answered for "), "{why}");
}

#[tokio::test(start_paused = true)]
async fn the_next_address_is_tried_before_anybody_waits() {
    let world = World::new();
    world.network.cut();
    let began = tokio::time::Instant::now();
    let link = world.link_with(world.options(&["http://one:1", "http://two:2", "http://three:3"]));
    down_because(&link, "http://three:3").await;
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        world.network.dialled(),
        ["http://one:1", "http://two:2", "http://three:3"]
    );
    world.network.mend();
    up(&link).await;
    let LinkState::Up { address, .. } = link.state().borrow().clone() else {
        panic!()
    };
    assert_eq!(address, "http://one:1");
}

#[tokio::test(start_paused = true)]
async fn after_a_goodbye_the_next_address_is_tried_at_once() {
    let world = World::new();
    let link = world.link_with(world.options(&["http://one:1", "http://two:2"]));
    up(&link).await;
    let said = tokio::time::Instant::now();
    world.stop_central.cancel();
    while world.network.dialled().len() < 2 {
        down(&link).await;
        tokio::task::yield_now().await;
    }
    assert!(
        said.elapsed() < Duration::from_millis(100),
        "{:?}",
        said.elapsed()
    );
    assert_eq!(world.network.dialled(), ["http://one:1", "http://two:2"]);
    world.start_central(CancellationToken::new());
    up(&link).await;
}

#[tokio::test(start_paused = true)]
async fn a_central_that_welcomes_and_drops_is_not_dialled_in_a_tight_loop() {
    let world = World::new();
    let link = world.connected().await;
    let began = tokio::time::Instant::now();
    while world.network.dialled().len() < 5 {
        up(&link).await;
        world.network.drop_connections();
        down(&link).await;
    }
    assert!(began.elapsed() >= Duration::from_secs(6), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn another_database_behind_central_is_seen_at_the_hello_and_while_the_link_is_up() {
    let world = World::new();
    let link = world.connected().await;
    let first = database(&link.state().borrow());
    assert_eq!(first, *world.central.database.borrow());

    let failed_over = domain::site::DatabaseIdentity {
        epoch: "2".into(),
        ..first.clone()
    };
    let mut state = link.state();
    world.central.database.send_replace(failed_over.clone());
    state
        .wait_for(|s| s.is_up() && database(s) == failed_over)
        .await
        .unwrap();

    world.network.cut();
    down(&link).await;
    let restored = a_database();
    world.central.database.send_replace(restored.clone());
    world.network.mend();
    up(&link).await;
    assert_eq!(database(&link.state().borrow()), restored);
}

#[tokio::test(start_paused = true)]
async fn a_dismissed_site_is_told_why() {
    let world = World::new();
    let link = world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    remote.dismiss("the key of site north was revoked");
    assert_eq!(down(&link).await, "the key of site north was revoked");
    assert_eq!(
        *world.central.left.lock().unwrap(),
        ["the key of site north was revoked"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_stops_leaves_in_order() {
    let world = World::new();
    let link = world.connected().await;
    world.stop_site.cancel();
    assert_eq!(down(&link).await, "the agent is stopping");
    eventually("central to hear it", async || {
        (!world.central.left.lock().unwrap().is_empty()).then_some(())
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn plain_text_to_another_machine_is_not_even_dialled() {
    let world = World::new();
    let mut options = world.options(&["http://central:7443"]);
    options.insecure = false;
    assert_eq!(options.problems()[0].0, "site.central");
    let link = world.link_with(options);
    down_because(&link, "in the clear").await;
    assert!(world.network.dialled().is_empty());
}

#[tokio::test]
async fn a_listener_in_the_open_without_tls_is_refused_with_the_keys_to_set() {
    let open = "0.0.0.0:0".parse().unwrap();
    let why = link::server::listen(open, false, false).unwrap_err().to_string();
    assert!(
        why.contains("server.link_tls_cert_file") && why.contains("server.insecure"),
        "{why}"
    );
    assert!(link::server::listen(open, false, true).is_ok());
    assert!(link::server::listen("127.0.0.1:0".parse().unwrap(), false, false).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_says_nothing_is_sent_away() {
    let world = World::new();
    let mut io = world
        .network
        .dial(&"http://central:7443".parse().unwrap())
        .await
        .unwrap();
    let mut heard = vec![];
    let ended = tokio::time::timeout(2 * STRANGER_TIME, io.read_to_end(&mut heard));
    assert!(ended.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_says_much_is_sent_away() {
    let world = World::new();
    let io = world
        .network
        .dial(&"http://central:7443".parse().unwrap())
        .await
        .unwrap();
    let (mut hear, mut say) = tokio::io::split(io);
    let saying = tokio::spawn(async move {
        // The preface of HTTP/2, no settings, and then pings, which are answered one by one.
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        let ping = b"\0\0\x08\x06\0\0\0\0\0waypost!";
        say.write_all(preface).await.ok();
        for _ in 0..3_000 {
            if say.write_all(ping).await.is_err() {
                break;
            }
        }
    });
    let mut heard = vec![];
    hear.read_to_end(&mut heard).await.ok();
    saying.await.unwrap();
    let answered = heard.windows(8).filter(|bytes| bytes == b"waypost!").count();
    assert!(answered <= STRANGER_BYTES / 17, "{answered} of 3000");
}

#[tokio::test(start_paused = true)]
async fn a_site_that_was_let_in_says_as_much_as_it_likes_for_as_long_as_it_likes() {
    let world = World::new();
    let link = world.link();
    up(&link).await;
    tokio::time::sleep(3 * STRANGER_TIME).await;
    for _ in 0..20 {
        let mut large = a_forward();
        large.content.body = "x".repeat(STRANGER_BYTES);
        assert_eq!(link.submit(vec![large]).await.unwrap(), [Ack::Accepted]);
    }
    assert!(link.state().borrow().is_up());
}
