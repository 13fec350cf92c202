//! A machine that answers for the active one, from its file, and is not what the other takes it for: an older one that does not say its
//! turn, and one that steps down and becomes active again.

use crate::{
    pair_world::{Live, Machine, a_pair, has_all, notify, world},
    world::until,
};
use async_trait::async_trait;
use domain::{
    SiteId, SystemClock,
    pair::{Changes, Copied, Node, Rank, Relief, Role, Table, Value},
};
use link::{
    peer::{self, About, FOLLOW_WAIT, HandIn, NotSent, PeerHost, SendAnswered, SendAsked, TakenIn},
    server,
};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::{
    Buffer,
    buffer::{Options, replication::SCHEMA},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Older,
    /// It says that it has more than it ever gives, until it is met anew.
    Hesitant,
}

struct StandIn {
    buffer: Arc<Buffer>,
    kind: Kind,
    stepped_down: AtomicBool,
    stop: CancellationToken,
}

fn words(error: store::Error) -> String {
    domain::chain(&error)
}

fn never<T>() -> Result<T, String> {
    Err("nobody asks this".into())
}

impl StandIn {
    async fn takes_the_place_of(gone: &Machine, kind: Kind) -> Arc<Self> {
        let buffer = Buffer::open(&Options::at(&gone.file), Arc::new(SystemClock)).unwrap();
        assert_eq!(buffer.join_pair().await.unwrap().role, Role::Active);
        let stop = CancellationToken::new();
        let stand_in = Arc::new(Self {
            buffer: Arc::new(buffer),
            kind,
            stepped_down: AtomicBool::new(false),
            stop: stop.clone(),
        });
        let incoming = server::tcp(peer::listen(gone.listen, false, false).unwrap(), None).unwrap();
        let (site, key) = (SiteId::new("north"), SecretString::from(gone.key));
        tokio::spawn(peer::serve(incoming, site, key, stand_in.clone(), stop));
        stand_in
    }

    async fn goes(&self) {
        self.stop.cancel();
        self.buffer.close().await;
    }

    async fn is_followed_by(&self, standby: &Live) {
        let head = self.buffer.head().await.unwrap();
        until("the standby to have everything", || {
            let position = |live: &Live| Some(live.agent()?.site.pair()?.standing().position);
            position(standby) == Some(head)
        })
        .await;
    }
}

#[async_trait]
impl PeerHost for StandIn {
    fn about(&self) -> About {
        About {
            name: "north-a".into(),
            version: "0.0.9".into(),
            schema: SCHEMA,
            targets: BTreeMap::default(),
        }
    }

    async fn node(&self) -> Result<Node, String> {
        let mut node = self.buffer.node().await.map_err(words)?;
        if self.stepped_down.load(Ordering::SeqCst) {
            (node.role, node.position) = (Role::Standby, node.position + 1);
        }
        Ok(node)
    }

    async fn met(&self, _: About, _: Node) -> Result<(), String> {
        self.stepped_down.store(false, Ordering::SeqCst);
        Ok(())
    }

    async fn asks(&self) -> Result<(), String> {
        Ok(())
    }

    async fn changes(&self, _: Uuid, after: i64) -> Result<Option<Changes>, String> {
        if after == self.buffer.head().await.map_err(words)? {
            let _ = timeout(FOLLOW_WAIT, self.buffer.wake().changed()).await;
        }
        let changes = self.buffer.changes(after, 1 << 20).await.map_err(words)?;
        Ok(changes.map(|changes| Changes {
            turn: changes.turn.filter(|_| self.kind != Kind::Older),
            ..changes
        }))
    }

    async fn step_down(&self) -> Result<Node, String> {
        self.stepped_down.store(true, Ordering::SeqCst);
        self.node().await
    }

    async fn changes_beside(&self, _: i64) -> Result<Option<Changes>, String> {
        never()
    }

    async fn copy(&self, _: Table, _: Option<Value>) -> Result<Copied, String> {
        never()
    }

    async fn hand_in(&self, _: HandIn) -> Result<TakenIn, String> {
        never()
    }

    async fn take_over(&self, _: Option<Relief>) -> Result<Node, String> {
        never()
    }

    async fn promise(&self, _: Rank, _: Duration) -> Result<Duration, String> {
        never()
    }

    async fn send(&self, _: SendAsked) -> Result<SendAnswered, NotSent> {
        never().map_err(NotSent::NotTaken)
    }
}

#[tokio::test]
async fn what_an_older_active_machine_has_is_fetched_although_it_does_not_say_its_turn() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let mut ids = notify(&a, 1).await;
    b.holds(1).await;
    let behind = b.end().await;
    ids.extend(notify(&a, 3).await);
    let older = StandIn::takes_the_place_of(&a.end().await, Kind::Older).await;
    let b = behind.run();
    b.holds(4).await;
    assert!(has_all(&b, &ids).await);
    older.is_followed_by(&b).await;
    b.end().await;
    older.goes().await;
}

#[tokio::test]
async fn a_machine_that_stepped_down_gives_nothing_more_and_is_active_again_is_not_taken_over_from() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let hesitant = StandIn::takes_the_place_of(&a.end().await, Kind::Hesitant).await;
    hesitant.is_followed_by(&b).await;
    let standby = b.becomes(Role::Standby).await;
    let refused = standby.site.pair().unwrap().promote(false).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("has become active again"), "{why}");
    assert!(b.is(Role::Standby));
    drop(standby);
    b.end().await;
    hesitant.goes().await;
}
