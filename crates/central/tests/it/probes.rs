//! A store that fails while a lane is to be probed: the probe is made once the store is well again.

use crate::world::{TENANT, World, secs};
use domain::{Channel, Failure, HoldReason, LaneId, NotificationId, ProviderId, Scope, Status};
use rusqlite::Connection;
use testkit::a_notification;

/// Both lanes held, a probe due in each, and both far ends well again.
struct Held {
    world: World,
    ids: [NotificationId; 2],
    outside: Connection,
}

async fn held() -> Held {
    let mut world = World::new().await;
    let wrong = Failure::permanent(Scope::Lane, "AUTH_FAILED", "401").holding(HoldReason::Auth);
    world.mail.answers(wrong.clone().into());
    world.hook.answers(wrong.into());
    let ids = [
        world.send(a_notification()).await,
        world.send(a_notification().by(Channel::Webhook)).await,
    ];
    world.sweep().await;
    world.mail.accepts();
    world.hook.accepts();
    world.advance(secs(3600));
    let outside = Connection::open(world.temp.folder.path().join("waypost.db")).unwrap();
    Held { world, ids, outside }
}

impl Held {
    async fn lane(&self, provider: &str) -> LaneId {
        let id = ProviderId::new(provider);
        let found = self.world.central.store.provider(TENANT, &id);
        found.await.unwrap().unwrap().lane
    }

    /// Nothing can be claimed where `rows` is true of a row.
    fn breaks_claims(&self, rows: &str) {
        let broken = format!(
            "create trigger broken before update on due when {rows} begin select raise(abort, 'no'); end"
        );
        self.outside.execute_batch(&broken).unwrap();
    }

    /// One sweep fails; then the store is mended, and both probes are made.
    async fn fails_once(mut self, mend: &str) {
        let failed = self.world.dispatcher.sweep().await;
        assert!(failed.is_err(), "{failed:?}");
        self.outside.execute_batch(mend).unwrap();
        self.goes_on().await;
    }

    async fn goes_on(mut self) {
        self.world.sweep().await;
        for id in self.ids {
            assert_eq!(self.world.status(id).await, Status::Delivered);
        }
    }
}

#[tokio::test]
async fn a_claim_that_fails_beside_a_probe_that_is_due_costs_no_probe() {
    let held = held().await;
    held.world
        .provider("third", "test-hook", |draft| draft.order = Some(9))
        .await;
    let third = held.lane("third").await;
    let mut other = a_notification().by(Channel::Webhook);
    other.0.content.provider = Some(ProviderId::new("third"));
    held.world.send(other).await;
    held.breaks_claims(&format!("new.lane = {}", third.0));
    Box::pin(held.fails_once("drop trigger broken")).await;
}

#[tokio::test]
async fn a_probe_that_cannot_be_claimed_costs_no_other_its_turn() {
    let held = held().await;
    held.breaks_claims("true");
    Box::pin(held.fails_once("drop trigger broken")).await;
}

#[tokio::test]
async fn a_probe_that_had_to_be_given_back_is_made_once_its_claim_is_over() {
    let mut held = held().await;
    // What is known of suppressions is read again after a change of any provider.
    held.world.provider("third", "test-hook", |_| {}).await;
    let elsewhere = "alter table suppressions rename to elsewhere";
    held.outside.execute_batch(elsewhere).unwrap();
    held.world.sweep().await;
    assert_eq!(held.world.status(held.ids[0]).await, Status::Pending);
    let back = "alter table elsewhere rename to suppressions";
    held.outside.execute_batch(back).unwrap();
    held.world.advance(held.world.central.settings.dispatch.lease);
    held.goes_on().await;
}
