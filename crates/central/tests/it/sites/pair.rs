//! The two machines of a site's pair: a place each, and one lease between them.

use super::{Linked, north, options};
use crate::world::TENANT;
use central::sites::ParkedAction;
use domain::{
    Actor,
    pair::{LeaseAnswer, LeaseAsk, NotGiven, Wanted},
};
use link::{
    Ack, BulkDone, BulkStep, LinkClient, LinkState, Options, ParkedActed, ParkedAnswer, ParkedCount,
    ParkedFilter, ParkedPage, SiteCommands, SiteReport, StandbyClient, Uplink, WaitingActed, WaitingAnswer,
    WaitingPage, WitnessClient,
};
use std::{sync::Arc, time::Duration};
use testkit::{
    eventually,
    site::{ASite, a_forward},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A machine that has lost the lease and does not know to whom.
pub struct NoHolder;

#[async_trait::async_trait]
impl SiteCommands for NoHolder {
    async fn parked(&self, _: ParkedPage) -> Result<ParkedAnswer, String> {
        Err("not asked here".into())
    }
    async fn retry(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        Err(format!("the buffer: {}: it has no lease", link::NOT_HOLDER))
    }
    async fn discard(&self, _: &str, _: &str) -> Result<ParkedActed, String> {
        Err("not asked here".into())
    }
    async fn waiting(&self, _: WaitingPage) -> Result<WaitingAnswer, String> {
        Err("not asked here".into())
    }
    async fn try_waiting(&self, _: &str, _: &str) -> Result<WaitingActed, String> {
        Err(format!("the buffer: {}: it has no lease", link::NOT_HOLDER))
    }
    async fn discard_waiting(&self, _: &str, _: &str) -> Result<WaitingActed, String> {
        Err("not asked here".into())
    }
    async fn count_parked(&self, _: ParkedFilter) -> Result<ParkedCount, String> {
        Err("not asked here".into())
    }
    async fn act_on_many(&self, _: BulkStep) -> Result<BulkDone, String> {
        Err("not asked here".into())
    }
    async fn report(&self) -> SiteReport {
        SiteReport::default()
    }
}

pub fn machine(linked: &Linked, node: &str, turn: u64) -> Options {
    Options {
        node: node.into(),
        buffer: Uuid::from_u128(turn.into()),
        turn: Some((turn, Uuid::from_u128(turn.into()))),
        ..options(&linked.world, &linked.network, "north", &linked.key)
    }
}

pub async fn connect(options: Options, site: Arc<dyn SiteCommands>) -> CancellationToken {
    let (link, stop) = (LinkClient::new(options), CancellationToken::new());
    tokio::spawn(link.clone().run(site, stop.clone()));
    link.state().wait_for(LinkState::is_up).await.unwrap();
    stop
}

pub async fn retry(linked: &Linked) -> ParkedActed {
    let service = &linked.world.central.sites;
    let by = Actor::new("user:anna");
    service
        .act_on_parked(TENANT, &north(), "p1", ParkedAction::Retry, &by)
        .await
        .unwrap()
}

pub fn times_asked(site: &ASite) -> usize {
    site.asked.lock().unwrap().len()
}

#[tokio::test]
async fn both_machines_of_a_pair_have_a_place_and_the_one_of_the_later_turn_is_the_site() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let (first, second) = (Arc::new(ASite::default()), Arc::new(ASite::default()));
    let _first = connect(machine(&linked, "n1", 4), first.clone()).await;
    let later = connect(machine(&linked, "n2", 5), second.clone()).await;
    retry(&linked).await;
    assert_eq!((times_asked(&first), times_asked(&second)), (0, 1));
    let service = &linked.world.central.sites;
    let view = service.get(TENANT, &north()).await.unwrap().unwrap();
    assert_eq!((view.agent_node.as_deref(), view.conflict), (Some("n2"), None));
    later.cancel();
    eventually("the first machine to be the site", async || {
        let found = service.registry().find(TENANT, &north())?;
        (found.agent_node() == "n1").then_some(())
    })
    .await;
    retry(&linked).await;
    assert_eq!((times_asked(&first), times_asked(&second)), (1, 1));
}

#[tokio::test]
async fn a_machine_without_the_lease_says_so_and_the_other_one_is_asked() {
    let linked = Linked::new().await;
    linked.leaves().await;
    let holder = Arc::new(ASite::default());
    let _holder = connect(machine(&linked, "n1", 4), holder.clone()).await;
    let _later = connect(machine(&linked, "n2", 5), Arc::new(NoHolder)).await;
    assert_eq!(retry(&linked).await, ParkedActed::Done);
    assert_eq!(times_asked(&holder), 1);
}

#[tokio::test]
async fn central_gives_the_lease_of_a_site_to_one_machine_that_has_its_key() {
    let linked = Linked::new().await;
    let ask = |node: u128| LeaseAsk {
        node: Uuid::from_u128(node),
        rank: (4, Uuid::from_u128(4)),
        seen: vec![(4, Uuid::from_u128(4))],
        lease: Duration::from_secs(15),
        holds: false,
        caught_up: true,
        question: Uuid::nil(),
        wanted: Wanted::NewTurn,
    };
    let of = |key: &str| WitnessClient::new(options(&linked.world, &linked.network, "north", key));
    let stranger = of("wps_of_nobody").ask(&ask(1)).await.unwrap_err();
    assert!(
        stranger.contains("the key is not that of site north"),
        "{stranger}"
    );
    let witness = of(&linked.key);
    let quiet = match witness.ask(&ask(1)).await.unwrap() {
        LeaseAnswer::Refused {
            why: NotGiven::Quiet,
            left,
        } => left,
        other => panic!("{other:?}"),
    };
    linked.world.temp.clock.advance(quiet);
    let given = witness.ask(&ask(1)).await.unwrap();
    assert!(
        matches!(given, LeaseAnswer::Granted { rank: (5, _), .. }),
        "{given:?}"
    );
    let taken = witness.ask(&ask(2)).await.unwrap();
    let refused = matches!(
        taken,
        LeaseAnswer::Refused {
            why: NotGiven::Taken,
            ..
        }
    );
    assert!(refused, "{taken:?}");
}

#[tokio::test]
async fn what_a_standby_hands_over_beside_the_link_is_stored_once_in_the_sites_name() {
    let linked = Linked::new().await;
    let of = |key: &str| StandbyClient::new(options(&linked.world, &linked.network, "north", key));
    // More than a stranger may say at once, and more than one frame holds.
    let batch: Vec<_> = (0..600)
        .map(|_| {
            let mut item = a_forward();
            item.content.body = "x".repeat(3_000);
            item
        })
        .collect();
    let stranger = of("wps_of_nobody").submit(batch.clone()).await.unwrap_err();
    assert!(
        stranger.contains("the key is not that of site north"),
        "{stranger}"
    );
    let standby = of(&linked.key);
    assert_eq!(
        standby.submit(batch.clone()).await.unwrap(),
        vec![Ack::Accepted; 600]
    );
    let stored = linked.world.get(batch[599].id).await.submission;
    assert_eq!(
        (stored.submitted_by.as_str(), stored.provenance.site.as_deref()),
        ("site:north", Some("north"))
    );
    // The active machine has them by now, and forwards them over the link, which is still its own.
    assert_eq!(
        linked.link.submit(batch).await.unwrap(),
        vec![Ack::Duplicate; 600]
    );
}
