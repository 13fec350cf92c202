//! What people ask of a site about messages that wait there.

use super::{
    Linked, north, options,
    pair::{NoHolder, connect, machine, times_asked},
    parked::Stuck,
};
use crate::world::{TENANT, secs, somebody};
use central::sites::{RelayError, WaitingAction, WaitingStatus};
use domain::{Actor, AuditKind, AuditStatus, SiteId};
use link::{LinkClient, LinkState, Uplink, WaitingActed, WaitingPage};
use std::{sync::Arc, time::Duration};
use testkit::{
    eventually,
    site::{ASite, a_waiting_message},
};
use tokio_util::sync::CancellationToken;

fn a_page() -> WaitingPage {
    WaitingPage {
        limit: 50,
        ..WaitingPage::default()
    }
}

fn retrying() -> WaitingActed {
    WaitingActed::Done {
        status: WaitingStatus::Retrying,
        error: Some("HTTP_503: busy".into()),
    }
}

#[tokio::test]
async fn waiting_messages_of_a_site_are_seen_and_acted_on_from_central() {
    let linked = Linked::new().await;
    let service = &linked.world.central.sites;
    let waiting = service.waiting(TENANT, &north(), a_page()).await.unwrap();
    assert_eq!((waiting.messages, waiting.total), (vec![a_waiting_message()], 1));
    let anna = Actor::new("user:anna");
    let site = north();
    let act = |id: &'static str, action| service.act_on_waiting(TENANT, &site, id, action, &anna);
    assert_eq!(act("w1", WaitingAction::Try).await.unwrap(), retrying());
    assert_eq!(
        act("w3", WaitingAction::Try).await.unwrap(),
        WaitingActed::NotFound
    );
    let discarded = WaitingActed::Done {
        status: WaitingStatus::Discarded,
        error: None,
    };
    assert_eq!(act("w2", WaitingAction::Discard).await.unwrap(), discarded);
    let refused = act("w1", WaitingAction::Discard).await.unwrap();
    assert!(matches!(refused, WaitingActed::WrongState(_)), "{refused:?}");
    assert_eq!(
        linked.site.asked.lock().unwrap()[0],
        "try waiting w1 by user:anna"
    );
    let mut log: Vec<_> = linked
        .log(AuditKind::SiteParked)
        .await
        .into_iter()
        .map(|r| (r.actor, r.status, r.target.unwrap(), r.detail.unwrap()))
        .collect();
    log.sort_by(|a, b| (&a.3, &a.2).cmp(&(&b.3, &b.2)));
    let row = |status, target: &str, detail: &str| ("user:anna".into(), status, target.into(), detail.into());
    assert_eq!(
        log,
        [
            row(AuditStatus::Discarded, "w2", "discard waiting: Discarded"),
            row(
                AuditStatus::Failed,
                "w1",
                "discard waiting: it is being tried right now"
            ),
            row(
                AuditStatus::Pending,
                "w1",
                "try waiting: Retrying: HTTP_503: busy"
            ),
            row(AuditStatus::Failed, "w3", "try waiting: there is no such message"),
        ],
        "what was not done is not logged as done"
    );
}

#[tokio::test]
async fn who_asks_what_waits_at_an_unknown_or_an_offline_site_is_told_so_at_once() {
    let linked = Linked::new().await;
    let service = &linked.world.central.sites;
    let unknown = service.waiting(TENANT, &SiteId::new("nowhere"), a_page()).await;
    assert!(matches!(unknown, Err(RelayError::UnknownSite)), "{unknown:?}");
    linked.gone().await;
    let (site, anna) = (north(), somebody());
    let offline = service
        .act_on_waiting(TENANT, &site, "w1", WaitingAction::Try, &anna)
        .await;
    assert!(matches!(offline, Err(RelayError::Offline(_))), "{offline:?}");
    assert!(
        linked.log(AuditKind::SiteParked).await.is_empty(),
        "nobody was asked"
    );
}

#[tokio::test]
async fn a_try_that_no_answer_came_to_is_on_record_as_an_attempt() {
    let linked = Linked::new().await;
    linked.world.advance(secs(1));
    let silent = Arc::new(Stuck::default());
    let stuck = LinkClient::new(options(&linked.world, &linked.network, "north", &linked.key));
    tokio::spawn(stuck.clone().run(silent.clone(), CancellationToken::new()));
    stuck.state().wait_for(LinkState::is_up).await.unwrap();
    let service = &linked.world.central.sites;
    let (site, actor) = (north(), somebody());
    let asking = service.act_on_waiting(TENANT, &site, "w1", WaitingAction::Try, &actor);
    let cutting = async {
        silent.asked.notified().await;
        linked.network.cut();
    };
    let (answer, ()) = tokio::join!(asking, cutting);
    assert!(matches!(answer, Err(RelayError::NoAnswer(_))), "{answer:?}");
    let log = linked.log(AuditKind::SiteParked).await;
    assert_eq!(log[0].status, AuditStatus::Attempted, "it may have acted");
}

#[tokio::test]
async fn a_machine_that_may_not_try_a_waiting_message_says_so_and_the_other_one_is_asked() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let holder = Arc::new(ASite::default());
    let _holder = connect(machine(&linked, "n1", 4), holder.clone()).await;
    let _later = connect(machine(&linked, "n2", 5), Arc::new(NoHolder)).await;
    let service = &linked.world.central.sites;
    let (site, anna) = (north(), somebody());
    let tried = service.act_on_waiting(TENANT, &site, "w1", WaitingAction::Try, &anna);
    assert_eq!(tried.await.unwrap(), retrying());
    assert_eq!(times_asked(&holder), 1);
}

#[tokio::test]
async fn a_site_that_another_node_has_is_asked_what_waits_through_that_node() {
    let linked = Linked::new().await;
    let first = linked.world.central.sites.clone();
    let other = central::Central::new(
        linked.world.temp.store.clone(),
        delivery::Registry::new(vec![]).unwrap(),
        central::secrets::Sealer::ephemeral(),
        linked.world.temp.clock.clone(),
        central::Settings::named("node-2"),
    );
    // On PostgreSQL a signal does this at once.
    tokio::spawn(async move {
        loop {
            first.answer_relays().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let waiting = other.sites.waiting(TENANT, &north(), a_page()).await.unwrap();
    assert_eq!(waiting.messages, [a_waiting_message()]);
    let anna = Actor::new("user:anna");
    let tried = other
        .sites
        .act_on_waiting(TENANT, &north(), "w1", WaitingAction::Try, &anna)
        .await;
    assert_eq!(tried.unwrap(), retrying());
    assert_eq!(
        *linked.site.asked.lock().unwrap(),
        ["try waiting w1 by user:anna"],
        "once"
    );
}

#[tokio::test]
async fn a_try_is_on_record_although_who_asked_for_it_has_left() {
    let linked = Linked::new().await;
    linked.world.advance(secs(1));
    let silent = Arc::new(Stuck::default());
    let stuck = LinkClient::new(options(&linked.world, &linked.network, "north", &linked.key));
    tokio::spawn(stuck.clone().run(silent.clone(), CancellationToken::new()));
    stuck.state().wait_for(LinkState::is_up).await.unwrap();
    let service = &linked.world.central.sites;
    let (site, actor) = (north(), somebody());
    let asking = service.act_on_waiting(TENANT, &site, "w1", WaitingAction::Try, &actor);
    tokio::select! {
        answer = asking => panic!("{answer:?}"),
        () = silent.asked.notified() => {}
    }
    linked.network.cut();
    let log = eventually("a row of it", async || {
        let log = linked.log(AuditKind::SiteParked).await;
        (!log.is_empty()).then_some(log)
    })
    .await;
    assert_eq!(log[0].status, AuditStatus::Attempted);
}

#[tokio::test]
async fn a_try_that_another_node_answers_in_other_words_may_have_been_made() {
    let linked = Linked::new().await;
    let store = linked.world.temp.store.clone();
    let other = central::Central::new(
        store.clone(),
        delivery::Registry::new(vec![]).unwrap(),
        central::secrets::Sealer::ephemeral(),
        linked.world.temp.clock.clone(),
        central::Settings::named("node-2"),
    );
    tokio::spawn(async move {
        loop {
            for (relay, _) in store.take_relays("node-1").await.unwrap() {
                store.answer_relay(relay, "\"Perhaps\"").await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let (site, anna) = (north(), somebody());
    let tried = other
        .sites
        .act_on_waiting(TENANT, &site, "w1", WaitingAction::Try, &anna)
        .await;
    assert!(matches!(tried, Err(RelayError::NoAnswer(_))), "{tried:?}");
    let log = linked.log(AuditKind::SiteParked).await;
    assert_eq!(log[0].status, AuditStatus::Attempted);
}
