//! What the other machine of a pair was told is remembered by the one that took over.

use crate::{
    central::{Central, identity},
    world::secs,
};
use domain::{ManualClock, SiteId, site::Category};
use site::{
    Settings,
    forwarder::{ACK_MEMORY, Forwarder, Forwarding},
};
use std::{sync::Arc, time::Duration};
use store::{
    Buffer,
    buffer::{Enqueued, Handed, MessageId, NewMessage, Options, Origin, Start},
    loops::Loop,
};
use testkit::Folder;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

/// A notification that central acknowledged long ago.
async fn acknowledged(buffer: &Buffer) {
    let message = NewMessage {
        id: MessageId(Uuid::now_v7()),
        category: Category::Notification,
        target: "ops".into(),
        payload: "{}".into(),
        summary: None,
        max_retries: 0,
        retry_interval: secs(30),
        origin: Origin::default(),
        content_hash: 7,
    };
    let Enqueued::New(ticket) = buffer.enqueue(message, Start::Queued).await.unwrap() else {
        panic!("it is new");
    };
    buffer.met_central(&identity("one")).await.unwrap();
    let handed = Handed {
        acked: vec![ticket.seq],
        refused: vec![],
    };
    assert!(buffer.handed_over(&identity("one"), handed).await.unwrap());
}

/// One notification that central has, on a link that is up all the time.
struct Acknowledged {
    _folder: Folder,
    buffer: Arc<Buffer>,
    clock: Arc<ManualClock>,
    _stop: DropGuard,
}

impl Acknowledged {
    async fn ago(ago: Duration, of_pair: bool) -> Self {
        let (folder, clock) = (Folder::of_this_test(), Arc::new(ManualClock::default()));
        let options = Options {
            // Without a thread of its own: the time of this test passes only where nothing is left to do.
            inline: true,
            ..Options::at(folder.path().join("sf.db"))
        };
        let buffer = Arc::new(Buffer::open(&options, clock.clone()).unwrap());
        acknowledged(&buffer).await;
        clock.advance(ago);
        let forwarder = Forwarder {
            buffer: buffer.clone(),
            uplink: Arc::new(Central::new()),
            settings: Arc::new(Settings::of(SiteId::new("north"))),
            clock: clock.clone(),
            of_pair,
        };
        let stop = CancellationToken::new();
        let mut forwarding = Forwarding::new(Arc::new(forwarder), stop.clone());
        tokio::spawn(async move { forwarding.sweep().await });
        Self {
            _folder: folder,
            buffer,
            clock,
            _stop: stop.drop_guard(),
        }
    }

    /// After so long by every clock but the one on the wall.
    async fn is_remembered_after(&self, time: Duration) -> bool {
        sleep(time).await;
        self.buffer.depth().remembered_bytes > 0
    }
}

/// Whether anything is remembered after so long on a link that is up all the time.
async fn remembers_after(link_is_up_for: Duration, of_pair: bool) -> bool {
    let acknowledged = Acknowledged::ago(2 * ACK_MEMORY, of_pair).await;
    acknowledged.is_remembered_after(link_is_up_for).await
}

#[tokio::test(start_paused = true)]
async fn after_a_takeover_nothing_is_forgotten_for_a_quarter_of_an_hour_of_own_link() {
    let minute = secs(60);
    assert!(remembers_after(ACK_MEMORY - secs(1), true).await);
    assert!(
        !remembers_after(ACK_MEMORY + 2 * minute, true).await,
        "then its own link has proved that central is still there"
    );
    assert!(
        !remembers_after(minute, false).await,
        "a site of one machine was told itself"
    );
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_ahead_makes_nothing_older() {
    let minute = secs(60);
    let acknowledged = Acknowledged::ago(Duration::ZERO, false).await;
    assert!(acknowledged.is_remembered_after(secs(1)).await);
    acknowledged.clock.advance(secs(3 * 24 * 3_600));
    assert!(acknowledged.is_remembered_after(ACK_MEMORY - 2 * minute).await);
    assert!(
        !acknowledged.is_remembered_after(5 * minute).await,
        "then a quarter of an hour has passed by any clock"
    );
}
