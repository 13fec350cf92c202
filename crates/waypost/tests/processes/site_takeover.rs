//! Two agents of one site and central in processes of their own: the active agent is killed and its disk thrown away, and the other
//! takes over by itself, because central agrees.

use crate::{
    node::{Node, Setup},
    site_agent::{AgentProcess, SiteSetup},
    site_pair::{Placed, done, free_addresses, is_a, is_whole, looked_into, until, waypost},
    size::pick,
};
use client::{NotificationId, TrackedOperationId};
use domain::site::OperationStatus;
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
};

/// Calls that are under way at once.
const SENDERS: usize = 4;
/// Accepted in each round before the active one is killed.
const SENT: usize = 150;

struct World {
    central: Node,
    erp: HttpReceiver,
    setups: [SiteSetup; 2],
}

async fn world(folder: &Path) -> World {
    let mut setup = Setup::sqlite(folder);
    setup.env = vec![("WAYPOST_SERVER__SITE_LEASE".into(), "1s".into())];
    let central = Node::start(&setup).await;
    let key = central.client.register_site("north").await.unwrap().key;
    let options = HttpOptions {
        keep: 1_000_000,
        ..HttpOptions::default()
    };
    let erp = HttpReceiver::start(options).await.unwrap();
    let at = free_addresses();
    let setup = |name: &str, here: usize| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        SiteSetup {
            id: "north".into(),
            folder,
            central: format!("http://{}", central.link),
            key: key.clone(),
            more: format!(
                "node = {name:?}\n[site.replication]\nlisten = \"{}\"\npeer = \"http://{}\"\nlease = \"1s\"\n\
                 wait_for_standby = true\n[[site.system]]\nname = \"erp\"\nbase_url = {:?}\ntimeout = \"2s\"\n",
                at[here],
                at[1 - here],
                erp.url("/api")
            ),
        }
    };
    World {
        setups: [setup("north-a", 0), setup("north-b", 1)],
        central,
        erp,
    }
}

/// The machine has a lease, and this one gave it.
async fn has_lease(by: &str, agent: &AgentProcess) {
    until(&format!("a lease by {by}"), agent, async || {
        let pair = agent.site.pair().await;
        pair.is_ok_and(|pair| pair.lease_by.as_deref() == Some(by))
    })
    .await;
}

/// Two that run, the first of them active with a lease of the second.
async fn a_pair(world: &World) -> [AgentProcess; 2] {
    let [first, second] = &world.setups;
    let agents = [
        AgentProcess::start(first).await,
        AgentProcess::start(second).await,
    ];
    until("the other to be asked", &agents[0], async || {
        let pair = agents[0].site.pair().await;
        pair.is_ok_and(|pair| pair.other.role.is_some())
    })
    .await;
    done(&waypost(&agents[0], &["site", "promote"]));
    is_a("Active", &agents[0]).await;
    is_whole(&agents[1]).await;
    has_lease("Standby", &agents[0]).await;
    agents
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_by_itself_and_makes_the_calls_that_waited() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path()).await;
    let [active, standby] = a_pair(&world).await;
    world.erp.on(HttpRule::status(503));
    let mut waiting = vec![];
    for _ in 0..20 {
        let id = TrackedOperationId::mint();
        let call = active.site.call("erp").post("/orders").id(id).max_retries(0);
        assert!(call.send().await.unwrap().accepted);
        waiting.push(id);
    }
    is_whole(&standby).await;
    active.kill();
    std::fs::remove_dir_all(&world.setups[0].folder).unwrap();
    world.erp.behave();
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    standby.drained().await;
    for id in &waiting {
        let tracking = standby.site.tracking(*id).await.unwrap();
        assert_eq!(tracking.status, OperationStatus::Delivered, "{id}");
    }
    // An empty disk comes back and gives the lease once it has everything.
    std::fs::create_dir_all(&world.setups[0].folder).unwrap();
    let back = AgentProcess::start(&world.setups[0]).await;
    is_whole(&back).await;
    has_lease("Standby", &standby).await;
    let sites = world.central.client.sites().await.unwrap();
    assert_eq!(sites.len(), 1);
    assert_eq!(sites[0].node.as_deref(), Some("north-b"), "{sites:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_stood_still_past_its_lease_makes_no_call_when_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path()).await;
    let [active, standby] = a_pair(&world).await;
    world.erp.on(HttpRule::status(503));
    for _ in 0..10 {
        let call = active.site.call("erp").post("/orders").max_retries(0);
        assert!(call.send().await.unwrap().accepted);
    }
    is_whole(&standby).await;
    active.signal("STOP");
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    world.erp.behave();
    standby.drained().await;
    active.signal("CONT");
    // It learns that it was replaced, and follows.
    is_whole(&active).await;
    has_lease("Standby", &standby).await;
    let made = world.erp.requests().into_iter().filter(|request| request.taken);
    assert_eq!(made.count(), 10, "each call was made once");
}

/// What was accepted, and whether the standby had it.
type Accepted = Arc<Mutex<Vec<(TrackedOperationId, bool)>>>;

/// Calls until the agent is gone.
fn senders(agent: &AgentProcess) -> (Accepted, tokio::task::JoinSet<()>) {
    let accepted = Arc::new(Mutex::new(vec![]));
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..SENDERS {
        let (site, accepted) = (agent.site.clone(), accepted.clone());
        all.spawn(async move {
            loop {
                let id = TrackedOperationId::mint();
                let call = site.call("erp").post("/orders").id(id).max_retries(0);
                match call.send().await {
                    Ok(sent) if sent.accepted => {
                        accepted.lock().unwrap().push((id, sent.replicated == Some(true)));
                    }
                    Ok(_) => {}
                    // The agent was killed.
                    Err(_) => return,
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

async fn is_tracked(agent: &AgentProcess, id: TrackedOperationId) -> Option<OperationStatus> {
    agent.site.tracking(id).await.ok().map(|tracking| tracking.status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_machine_loses_nothing_that_was_answered_replicated_and_repeats_little() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(folder.path()).await;
    world.erp.on(HttpRule::status(503).chance(0.3));
    let [mut active, mut standby] = a_pair(&world).await;
    let mut here = 0;
    let mut before: Option<(u64, Vec<Placed>)> = None;
    for round in 0..pick(2, 100) {
        let made_before = world.erp.requests().len();
        let (accepted, mut sending) = senders(&active);
        until("calls to be taken in", &active, async || {
            accepted.lock().unwrap().len() >= SENT
        })
        .await;
        active.kill();
        while sending.join_next().await.is_some() {}
        let position = standby.site.pair().await.unwrap().position;
        let gone = world.setups[here].folder.with_extension(format!("gone-{round}"));
        std::fs::rename(&world.setups[here].folder, &gone).unwrap();
        is_a("Active", &standby).await;
        has_lease("Central", &standby).await;
        standby.drained().await;
        let looked = looked_into(&gone, position).await;
        if let Some((turn, missing)) = before.take() {
            looked.were_born_after(turn, &missing);
        }
        let accepted = accepted.lock().unwrap().clone();
        for (id, replicated) in &accepted {
            let there = is_tracked(&standby, *id).await;
            let late = looked.late.contains(&NotificationId(id.0));
            assert!(
                there == Some(OperationStatus::Delivered) || !replicated && there.is_none() && late,
                "{id}, answered replicated: {replicated}, is {there:?}"
            );
        }
        let mut missing = vec![];
        for (place, id) in &looked.all {
            let there = is_tracked(&standby, TrackedOperationId(id.0)).await;
            missing.extend(there.is_none().then_some((*place, *id)));
        }
        // What was made twice: at most what was under way, and what the standby had not heard of.
        let (repeats, lag) = (repeats(&world.erp, made_before), looked.changes);
        println!(
            "round {round}: {} accepted, {} missing, {repeats} repeats, {lag} changes behind",
            accepted.len(),
            missing.len()
        );
        assert!(
            repeats <= lag + SENDERS,
            "{repeats} repeats, {lag} changes behind"
        );
        before = Some((standby.site.pair().await.unwrap().epoch, missing));
        std::fs::remove_dir_all(&gone).unwrap();
        std::fs::create_dir_all(&world.setups[here].folder).unwrap();
        let back = AgentProcess::start(&world.setups[here]).await;
        active = std::mem::replace(&mut standby, back);
        here = 1 - here;
        is_whole(&standby).await;
        has_lease("Standby", &active).await;
    }
}
