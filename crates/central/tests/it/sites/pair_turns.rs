//! A question names the turn it is meant for, and goes to the machine of the highest turn, whichever node of central has that.

use super::{
    Linked, north,
    pair::{NoHolder, connect, machine, retry, times_asked},
    serve_node,
};
use crate::world::TENANT;
use central::{
    Central,
    sites::{ParkedAction, SiteService},
};
use domain::Actor;
use link::{Options, ParkedActed};
use std::{sync::Arc, time::Duration};
use testkit::{Network, site::ASite};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Another node of central over the same database, and how machines reach it.
async fn a_second_node(linked: &Linked) -> (Central, Network) {
    let second = Central::new(
        linked.world.temp.store.clone(),
        delivery::Registry::new(vec![]).unwrap(),
        central::secrets::Sealer::ephemeral(),
        linked.world.temp.clock.clone(),
        central::Settings::named("node-2"),
    );
    let network = Network::default();
    serve_node(&second.sites, &network, &CancellationToken::new()).await;
    (second, network)
}

fn at(network: &Network, options: Options) -> Options {
    Options {
        dial: Arc::new(network.clone()),
        ..options
    }
}

/// As the loop of a node does.
fn answers(service: &SiteService) {
    let service = service.clone();
    tokio::spawn(async move {
        loop {
            service.answer_relays().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

async fn retry_at(service: &SiteService) -> ParkedActed {
    let (site, by) = (north(), Actor::new("user:anna"));
    let acted = service.act_on_parked(TENANT, &site, "p1", ParkedAction::Retry, &by);
    acted.await.unwrap()
}

#[tokio::test]
async fn a_machine_that_has_begun_another_turn_since_it_connected_is_asked_once_more_in_that() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let site = Arc::new(ASite::default());
    let now = (6, Uuid::from_u128(6));
    *site.turn.lock().unwrap() = Some(now);
    let _site = connect(machine(&linked, "n1", 4), site.clone()).await;
    assert_eq!(retry(&linked).await, ParkedActed::Done);
    assert_eq!(
        times_asked(&site),
        1,
        "what was meant for another turn was not done"
    );
    let service = &linked.world.central.sites;
    let known = service.registry().find(TENANT, &north()).unwrap();
    assert_eq!(known.turn(), Some(now));
}

#[tokio::test]
async fn of_two_machines_the_one_that_is_in_the_higher_turn_by_now_is_asked() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (first, second) = (Arc::new(ASite::default()), Arc::new(ASite::default()));
    *first.turn.lock().unwrap() = Some((7, Uuid::from_u128(7)));
    let _first = connect(machine(&linked, "n1", 4), first.clone()).await;
    let stepped_down = connect(machine(&linked, "n2", 5), Arc::new(NoHolder)).await;
    assert_eq!(retry(&linked).await, ParkedActed::Done);
    assert_eq!(times_asked(&first), 1);
    stepped_down.cancel();
    let _second = connect(machine(&linked, "n2", 5), second.clone()).await;
    assert_eq!(retry(&linked).await, ParkedActed::Done);
    assert_eq!((times_asked(&first), times_asked(&second)), (2, 0));
}

#[tokio::test]
async fn the_machine_of_the_higher_turn_is_asked_at_another_node_although_the_other_one_is_here() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (second, network) = a_second_node(&linked).await;
    let holder = Arc::new(ASite::default());
    let _holder = connect(at(&network, machine(&linked, "n2", 5)), holder.clone()).await;
    let lower = Arc::new(ASite::default());
    let _lower = connect(machine(&linked, "n1", 4), lower.clone()).await;
    answers(&second.sites);
    assert_eq!(retry(&linked).await, ParkedActed::Done);
    assert_eq!((times_asked(&holder), times_asked(&lower)), (1, 0));
    let site = linked
        .world
        .temp
        .store
        .site(TENANT, &north())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        site.agent_node.as_deref(),
        Some("n2"),
        "although the other came later"
    );
}

#[tokio::test]
async fn a_machine_without_the_lease_says_so_and_the_other_one_is_asked_at_another_node() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (second, network) = a_second_node(&linked).await;
    let _later = connect(at(&network, machine(&linked, "n2", 5)), Arc::new(NoHolder)).await;
    let holder = Arc::new(ASite::default());
    let _holder = connect(machine(&linked, "n1", 4), holder.clone()).await;
    answers(&linked.world.central.sites);
    assert_eq!(retry_at(&second.sites).await, ParkedActed::Done);
    assert_eq!(times_asked(&holder), 1);
}
