//! The active agent of a site is killed under load and its disk thrown away, again and again, and the file is looked into. Several
//! sites do that at once beside one central: a round is mostly waiting for leases to end.

use crate::{
    site_agent::AgentProcess,
    site_pair::{Placed, looked_into},
    site_takeover::{PairedSite, a_central, a_pair, has_lease, paired_site},
    site_until::{is_a, is_whole, pair_of, until},
    size::pick,
};
use client::{Error, NotificationId, TrackedOperationId};
use domain::site::OperationStatus;
use futures_util::future::join_all;
use simulator::{HttpReceiver, http::HttpRule};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Sites whose machines are killed side by side.
const SITES: usize = 5;
/// Calls of one site that are under way at once.
const SENDERS: usize = 4;
/// What may be made again at most of what the standby has heard of: calls of the senders, and tries of the lane that makes again
/// what was refused.
const UNDER_WAY: usize = SENDERS + PARALLEL;
/// As an agent has it.
const PARALLEL: usize = 8;
/// Accepted in each round before the active one is killed.
const SENT: usize = 150;

/// What was accepted, and whether the standby had it.
type Accepted = Arc<Mutex<Vec<(TrackedOperationId, bool)>>>;

/// Call one after the other until they are told to end. An agent that is just being replaced refuses for a moment.
fn senders(agent: &AgentProcess, stop: &CancellationToken) -> (Accepted, JoinSet<()>) {
    let accepted = Arc::new(Mutex::new(vec![]));
    let mut all = JoinSet::new();
    for _ in 0..SENDERS {
        let (site, accepted, stop) = (agent.site.clone(), accepted.clone(), stop.clone());
        all.spawn(async move {
            while !stop.is_cancelled() {
                let id = TrackedOperationId::mint();
                let call = site.call("erp").post("/orders").id(id).max_retries(0);
                match call.send().await {
                    Ok(sent) if sent.accepted => {
                        accepted.lock().unwrap().push((id, sent.replicated == Some(true)));
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        });
    }
    (accepted, all)
}

/// The calls that the far end took more than once.
fn repeats(erp: &HttpReceiver, from: usize) -> usize {
    let mut made: HashMap<String, usize> = HashMap::new();
    for request in erp.requests()[from..].iter().filter(|request| request.taken) {
        let key = request.header("idempotency-key").unwrap();
        *made.entry(key.to_owned()).or_default() += 1;
    }
    made.values().map(|n| n - 1).sum()
}

/// None where the agent says that it does not know it; one that is just starting anew says nothing.
async fn is_tracked(agent: &AgentProcess, id: TrackedOperationId) -> Option<OperationStatus> {
    let mut found = None;
    until("an answer about a call", agent, async || {
        let answer = agent.site.tracking(id).await;
        let unknown = matches!(answer, Err(Error::NotFound { .. }));
        found = answer.ok().map(|tracking| tracking.status);
        found.is_some() || unknown
    })
    .await;
    found
}

/// What the rounds of a site came to.
#[derive(Debug, Default)]
struct Rounds {
    accepted: usize,
    replicated: usize,
    missing: usize,
    repeats: usize,
    most_behind: usize,
}

/// A site that has been through some rounds.
struct Killed {
    site: PairedSite,
    active: AgentProcess,
    standby: AgentProcess,
    /// Which of the two setups the active one is.
    here: usize,
    /// The turn that was taken over in, and what the new active one lacked.
    before: Option<(u64, Vec<Placed>)>,
    all: Rounds,
}

impl Killed {
    async fn round(mut self, round: usize) -> Self {
        let made_before = self.site.erp.requests().len();
        let stop = CancellationToken::new();
        let (accepted, mut sending) = senders(&self.active, &stop);
        until("calls to be taken in", &self.active, async || {
            accepted.lock().unwrap().len() >= SENT
        })
        .await;
        self.active.kill();
        stop.cancel();
        while sending.join_next().await.is_some() {}
        let setup = &self.site.setups[self.here];
        let position = pair_of(&self.standby).await.position;
        let gone = setup.folder.with_extension(format!("gone-{round}"));
        std::fs::rename(&setup.folder, &gone).unwrap();
        is_a("Active", &self.standby).await;
        has_lease("Central", &self.standby).await;
        self.standby.drained().await;

        let looked = looked_into(&gone.join(format!("{}.db", setup.id)), position).await;
        if let Some((turn, missing)) = self.before.take() {
            looked.were_born_after(turn, &missing);
        }
        let accepted = accepted.lock().unwrap().clone();
        for (id, replicated) in &accepted {
            let there = is_tracked(&self.standby, *id).await;
            let late = looked.late.contains(&NotificationId(id.0));
            assert!(
                there == Some(OperationStatus::Delivered) || !replicated && there.is_none() && late,
                "{id}, answered replicated: {replicated}, is {there:?}"
            );
        }
        let mut missing = vec![];
        for (place, id) in &looked.all {
            if is_tracked(&self.standby, TrackedOperationId(id.0))
                .await
                .is_none()
            {
                assert!(
                    looked.late.contains(id),
                    "{id} was on the standby's disk and is gone"
                );
                missing.push((*place, *id));
            }
        }
        // What was made twice: at most what was under way, and what the standby had not heard of.
        let (repeats, lag) = (repeats(&self.site.erp, made_before), looked.changes);
        assert!(
            repeats <= lag + UNDER_WAY,
            "{repeats} repeats, {lag} changes behind"
        );
        self.all.accepted += accepted.len();
        self.all.replicated += accepted.iter().filter(|(_, replicated)| *replicated).count();
        self.all.missing += missing.len();
        self.all.repeats += repeats;
        self.all.most_behind = self.all.most_behind.max(lag);
        self.before = Some((pair_of(&self.standby).await.epoch, missing));
        std::fs::remove_dir_all(&gone).unwrap();
        std::fs::create_dir_all(&setup.folder).unwrap();
        let back = AgentProcess::start(setup).await;
        is_whole(&back).await;
        has_lease("Standby", &self.standby).await;
        Self {
            active: self.standby,
            standby: back,
            here: 1 - self.here,
            ..self
        }
    }
}

async fn rounds(site: PairedSite, n: usize) -> Rounds {
    site.erp.on(HttpRule::status(503).chance(0.3));
    let [active, standby] = a_pair(&site).await;
    let mut killed = Killed {
        site,
        active,
        standby,
        here: 0,
        before: None,
        all: Rounds::default(),
    };
    for round in 0..n {
        killed = killed.round(round).await;
    }
    killed.all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_machine_loses_nothing_that_was_answered_replicated_and_repeats_little() {
    let folder = tempfile::tempdir().unwrap();
    let central = a_central(folder.path()).await;
    let each = pick(4, 20);
    let mut sites = vec![];
    for n in 0..SITES {
        let site = paired_site(&central, folder.path(), &format!("north-{n}")).await;
        sites.push(rounds(site, each));
    }
    for came_to in join_all(sites).await {
        println!("{each} rounds: {came_to:?}");
    }
}
