//! What people ask of a site.

use super::{Linked, north, options};
use crate::world::{TENANT, secs, somebody};
use central::sites::{ParkedAction, RelayError};
use domain::{Actor, AuditKind, AuditStatus, SiteId, TrackedOperationId};
use link::{
    BulkDone, BulkStep, LinkClient, LinkState, ParkedActed, ParkedCount, ParkedFilter, ParkedPage,
    SiteCommands, SiteReport, Uplink, WaitingActed, WaitingAnswer, WaitingPage,
};
use std::{sync::Arc, time::Duration};
use testkit::{eventually, site::a_parked_message};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A site that takes for ever to answer.
#[derive(Default)]
pub struct Stuck {
    pub asked: Notify,
}

#[async_trait::async_trait]
impl SiteCommands for Stuck {
    async fn parked(&self, _: ParkedPage) -> Result<link::ParkedAnswer, String> {
        std::future::pending().await
    }
    async fn retry(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        std::future::pending().await
    }
    async fn discard(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        self.asked.notify_one();
        std::future::pending().await
    }
    async fn waiting(&self, _: WaitingPage) -> Result<WaitingAnswer, String> {
        std::future::pending().await
    }
    async fn try_waiting(&self, _: &str, _: &str) -> Result<WaitingActed, String> {
        self.asked.notify_one();
        std::future::pending().await
    }
    async fn discard_waiting(&self, _: &str, _: &str) -> Result<WaitingActed, String> {
        std::future::pending().await
    }
    async fn count_parked(&self, _: ParkedFilter) -> Result<ParkedCount, String> {
        std::future::pending().await
    }
    async fn act_on_many(&self, _: BulkStep) -> Result<BulkDone, String> {
        std::future::pending().await
    }
    async fn report(&self) -> SiteReport {
        SiteReport::default()
    }
}

#[tokio::test]
async fn parked_messages_of_a_site_are_seen_and_acted_on_from_central() {
    let linked = Linked::new().await;
    let service = &linked.world.central.sites;
    let page = ParkedPage {
        limit: 50,
        ..ParkedPage::default()
    };
    let parked = service.parked(TENANT, &north(), page).await.unwrap();
    assert_eq!(parked.messages, [a_parked_message()]);
    let anna = Actor::new("user:anna");
    let site = north();
    let act = |id: &'static str, action| service.act_on_parked(TENANT, &site, id, action, &anna);
    assert_eq!(act("p1", ParkedAction::Retry).await.unwrap(), ParkedActed::Done);
    assert_eq!(
        act("p2", ParkedAction::Retry).await.unwrap(),
        ParkedActed::NotFound
    );
    assert_eq!(
        act("p1", ParkedAction::Discard).await.unwrap(),
        ParkedActed::WrongState
    );
    assert_eq!(linked.site.asked.lock().unwrap()[0], "retry p1 by user:anna");
    let mut log: Vec<_> = linked
        .log(AuditKind::SiteParked)
        .await
        .into_iter()
        .map(|r| (r.actor, r.status, r.target.unwrap(), r.detail.unwrap()))
        .collect();
    log.sort_by(|a, b| a.3.cmp(&b.3));
    let row = |status, target: &str, detail: &str| ("user:anna".into(), status, target.into(), detail.into());
    assert_eq!(
        log,
        [
            row(AuditStatus::Failed, "p1", "discard: it is not parked"),
            row(AuditStatus::Pending, "p1", "retry: done"),
            row(AuditStatus::Failed, "p2", "retry: there is no such message"),
        ],
        "what was not done is not logged as done"
    );
}

#[tokio::test]
async fn an_unknown_site_and_an_offline_one_are_told_apart_at_once() {
    let linked = Linked::new().await;
    let service = &linked.world.central.sites;
    let page = || ParkedPage {
        limit: 50,
        ..ParkedPage::default()
    };
    let unknown = service.parked(TENANT, &SiteId::new("nowhere"), page()).await;
    assert!(matches!(unknown, Err(RelayError::UnknownSite)), "{unknown:?}");
    service
        .register(TENANT, &SiteId::new("silent"), &somebody())
        .await
        .unwrap();
    let never = service
        .parked(TENANT, &SiteId::new("silent"), page())
        .await
        .unwrap_err();
    assert_eq!(never.to_string(), "site silent has never connected");
    linked.gone().await;
    eventually("central to know since when it is offline", async || {
        let offline = service.parked(TENANT, &north(), page()).await.unwrap_err();
        let RelayError::Offline(offline) = offline else {
            panic!("{offline}")
        };
        let told = offline
            .to_string()
            .starts_with("site north is offline since 2026-01-01T00:00:00.000Z: ");
        (offline.since.is_some() && told).then_some(())
    })
    .await;
    let elsewhere = linked
        .world
        .central
        .store
        .create_tenant("elsewhere", &somebody())
        .await
        .unwrap();
    let others = service.parked(elsewhere.id, &north(), page()).await;
    assert!(matches!(others, Err(RelayError::UnknownSite)), "{others:?}");
}

#[tokio::test]
async fn a_site_that_does_not_answer_is_not_waited_for_and_the_action_is_on_record() {
    let linked = Linked::new().await;
    linked.world.advance(secs(1));
    let silent = Arc::new(Stuck::default());
    let stuck = LinkClient::new(options(&linked.world, &linked.network, "north", &linked.key));
    tokio::spawn(stuck.clone().run(silent.clone(), CancellationToken::new()));
    stuck.state().wait_for(LinkState::is_up).await.unwrap();
    let service = &linked.world.central.sites;
    let operation = TrackedOperationId::mint().to_string();
    let (site, actor) = (north(), somebody());
    let asking = service.act_on_parked(TENANT, &site, &operation, ParkedAction::Discard, &actor);
    let cutting = async {
        silent.asked.notified().await;
        linked.network.cut();
    };
    let (answer, ()) = tokio::join!(asking, cutting);
    assert!(matches!(answer, Err(RelayError::NoAnswer(_))), "{answer:?}");
    let log = linked.log(AuditKind::SiteParked).await;
    assert!(
        log[0]
            .detail
            .as_ref()
            .unwrap()
            .starts_with("discard: the site went offline"),
        "{log:?}"
    );
    assert_eq!(log[0].status, AuditStatus::Attempted, "it may have acted");
}

#[tokio::test]
async fn a_site_that_another_node_has_is_asked_through_that_node() {
    let linked = Linked::new().await;
    let first = linked.world.central.sites.clone();
    let clock: Arc<dyn domain::Clock> = linked.world.temp.clock.clone();
    let other = central::Central::new(
        linked.world.temp.store.clone(),
        delivery::Registry::new(vec![]).unwrap(),
        central::secrets::Sealer::ephemeral(),
        clock,
        central::Settings::named("node-2"),
    );
    // On PostgreSQL a signal does this at once.
    tokio::spawn(async move {
        loop {
            first.answer_relays().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let page = ParkedPage {
        limit: 50,
        ..ParkedPage::default()
    };
    let parked = other.sites.parked(TENANT, &north(), page.clone()).await.unwrap();
    assert_eq!(parked.messages, [a_parked_message()]);
    let bad = ParkedPage {
        after: Some("?".into()),
        ..page
    };
    let failed = other.sites.parked(TENANT, &north(), bad).await.unwrap_err();
    assert_eq!(failed.to_string(), "the site could not: that cursor is not mine");
    let anna = Actor::new("user:anna");
    let acted = other
        .sites
        .act_on_parked(TENANT, &north(), "p1", ParkedAction::Retry, &anna)
        .await;
    assert_eq!(acted.unwrap(), ParkedActed::Done);
    assert_eq!(
        *linked.site.asked.lock().unwrap(),
        ["retry p1 by user:anna"],
        "once"
    );
    assert_eq!(linked.log(AuditKind::SiteParked).await[0].actor, "user:anna");
}
