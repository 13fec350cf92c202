//! Two agents with one site id.

use super::{Linked, north, options};
use crate::world::TENANT;
use central::sites::{ParkedAction, Presence};
use domain::{Actor, AuditKind};
use link::{
    BulkDone, BulkStep, LinkClient, LinkState, Options, ParkedActed, ParkedAnswer, ParkedCount, ParkedFilter,
    ParkedPage, SiteCommands, SiteReport, Uplink, WaitingActed, WaitingAnswer, WaitingPage,
};
use std::sync::Arc;
use testkit::site::ASite;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Its link is up and nobody is behind it.
struct HalfDead;

#[async_trait::async_trait]
impl SiteCommands for HalfDead {
    async fn parked(&self, _: ParkedPage) -> Result<ParkedAnswer, String> {
        std::future::pending().await
    }
    async fn retry(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        std::future::pending().await
    }
    async fn discard(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        std::future::pending().await
    }
    async fn waiting(&self, _: WaitingPage) -> Result<WaitingAnswer, String> {
        std::future::pending().await
    }
    async fn try_waiting(&self, _: &str, _: &str) -> Result<WaitingActed, String> {
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
        std::future::pending().await
    }
}

fn agent(linked: &Linked, node: &str, buffer: u128) -> Options {
    Options {
        node: node.into(),
        buffer: Uuid::from_u128(buffer),
        ..options(&linked.world, &linked.network, "north", &linked.key)
    }
}

fn connect(options: Options, site: Arc<dyn SiteCommands>) -> (LinkClient, CancellationToken) {
    let (link, stop) = (LinkClient::new(options), CancellationToken::new());
    tokio::spawn(link.clone().run(site, stop.clone()));
    (link, stop)
}

/// By which words it was refused; none if `other` so is.
async fn refused(link: &LinkClient, other: &LinkClient, so: fn(&LinkState) -> bool) -> Option<String> {
    let told =
        |s: &LinkState| matches!(s, LinkState::Down { why, .. } if why.contains("another agent speaks"));
    let (mut state, mut of_other) = (link.state(), other.state());
    tokio::select! {
        state = state.wait_for(told) => match &*state.unwrap() {
            LinkState::Down { why, .. } => Some(why.clone()),
            LinkState::Up { .. } => unreachable!(),
        },
        _ = of_other.wait_for(so) => None,
    }
}

/// A process that stands still for seconds does not prove that the agents in it are alive: then the same once more.
const TRIES: usize = 10;

/// An agent has the place, and a second one was refused it: its site, and what it was told.
async fn two_agents() -> (Linked, Arc<ASite>, String) {
    for _ in 0..TRIES {
        let linked = Linked::new().await;
        let second = Arc::new(ASite::default());
        let (link, stop) = connect(agent(&linked, "n2", 2), second.clone());
        match refused(&link, &link, LinkState::is_up).await {
            Some(why) => return (linked, second, why),
            None => stop.cancel(),
        }
    }
    panic!("who comes second gets the place each time");
}

/// An agent and its copy, which has the place: the first asked for it again, as a restart could not do, and was refused it.
async fn two_of_a_kind() -> (Linked, LinkClient) {
    for _ in 0..TRIES {
        let linked = Linked::new().await;
        let (copy, stop) = connect(agent(&linked, "n1", 0), linked.site.clone());
        copy.state().wait_for(LinkState::is_up).await.unwrap();
        match refused(&linked.link, &copy, |state| !state.is_up()).await {
            Some(_) => return (linked, copy),
            None => stop.cancel(),
        }
    }
    panic!("the first gets its place back each time");
}

#[tokio::test]
async fn the_agent_that_was_there_first_keeps_its_place_and_both_are_shown() {
    let (linked, second, why) = Box::pin(two_agents()).await;
    let service = &linked.world.central.sites;
    assert!(
        why.contains("another agent speaks for site north: node n1 at ") && why.contains("waypost sites add"),
        "{why}"
    );
    let view = service.get(TENANT, &north()).await.unwrap().unwrap();
    assert_eq!(view.agent_node.as_deref(), Some("n1"));
    let conflict = view.conflict.expect("people at central see it");
    assert_eq!(conflict.other.node, "n2");
    assert!(!conflict.other.peer.is_empty());
    // What is asked still reaches the first.
    let by = Actor::new("user:anna");
    service
        .act_on_parked(TENANT, &north(), "p1", ParkedAction::Retry, &by)
        .await
        .unwrap();
    assert_eq!(linked.site.asked.lock().unwrap().len(), 1);
    assert!(second.asked.lock().unwrap().is_empty());
    let log = linked.log(AuditKind::SiteChanged).await;
    assert!(
        log.iter()
            .any(|row| row.detail.as_ref().is_some_and(|d| d.contains("node n2"))),
        "{log:?}"
    );
}

#[tokio::test]
async fn a_restart_of_the_same_agent_takes_its_place_and_the_old_connection_is_not_asked() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (before, ended) = connect(agent(&linked, "n1", 7), Arc::new(HalfDead));
    before.state().wait_for(LinkState::is_up).await.unwrap();
    let (again, _stop) = connect(agent(&linked, "n1", 7), Arc::new(ASite::default()));
    again.state().wait_for(LinkState::is_up).await.unwrap();
    ended.cancel();
    let view = linked
        .world
        .central
        .sites
        .get(TENANT, &north())
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(view.presence, Presence::Online { .. }), "{view:?}");
    assert_eq!(view.conflict, None);
}

#[tokio::test]
async fn a_copy_of_the_whole_machine_is_found_out_when_the_first_comes_back() {
    let (linked, copy) = Box::pin(two_of_a_kind()).await;
    assert!(copy.state().borrow().is_up());
    let view = linked
        .world
        .central
        .sites
        .get(TENANT, &north())
        .await
        .unwrap()
        .unwrap();
    assert!(view.conflict.is_some());
}

#[tokio::test]
async fn an_agent_that_does_not_prove_that_it_is_alive_gives_way() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (dead, ended) = connect(agent(&linked, "n1", 1), Arc::new(HalfDead));
    dead.state().wait_for(LinkState::is_up).await.unwrap();
    let (second, _stop) = connect(agent(&linked, "n2", 2), Arc::new(ASite::default()));
    second.state().wait_for(LinkState::is_up).await.unwrap();
    ended.cancel();
    let view = linked
        .world
        .central
        .sites
        .get(TENANT, &north())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(view.agent_node.as_deref(), Some("n2"));
}
