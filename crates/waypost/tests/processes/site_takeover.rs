//! Two agents of one site and central in processes of their own: the active agent is lost or stands still, and the other takes over
//! by itself, because central agrees. Many times over: `site_kill_rounds.rs`.

use crate::{
    node::{Node, Setup},
    site_agent::{AgentProcess, SiteSetup},
    site_until::{is_a, is_whole, obeys, until},
};
use client::TrackedOperationId;
use domain::site::OperationStatus;
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::path::Path;
use testkit::ports::an_address;

/// A site of two machines, and the system that its calls go to.
pub struct PairedSite {
    pub erp: HttpReceiver,
    pub setups: [SiteSetup; 2],
}

/// The lease of tests that are not about what was cut off with it: longer than a live machine ever stands still.
const LONG: &str = "15s";

impl PairedSite {
    /// With leases of another length, once its machines are started.
    pub fn of_lease(mut self, lease: &str) -> Self {
        for setup in &mut self.setups {
            let other = format!("lease = {lease:?}");
            setup.more = setup.more.replace("lease = \"5s\"", &other);
        }
        self
    }
}

/// A central that gives leases as short as the sites ask for.
pub async fn a_central(folder: &Path) -> Node {
    a_central_giving("5s", folder).await
}

pub async fn a_central_giving(lease: &str, folder: &Path) -> Node {
    let mut setup = Setup::sqlite(folder);
    setup.env = vec![("WAYPOST_SERVER__SITE_LEASE".into(), lease.into())];
    Node::start(&setup).await
}

/// Registered at central, its machines in folders of their own. No call is given up as too slow: it would be made again, and that is not
/// what these tests are about.
pub async fn paired_site(central: &Node, folder: &Path, id: &str) -> PairedSite {
    let key = central.client.register_site(id).await.unwrap().key;
    let options = HttpOptions {
        keep: 1_000_000,
        ..HttpOptions::default()
    };
    let erp = HttpReceiver::start(options).await.unwrap();
    let at = [(), ()].map(|()| an_address());
    let setup = |name: &str, here: usize| {
        let node = format!("{id}-{name}");
        let folder = folder.join(&node);
        std::fs::create_dir_all(&folder).unwrap();
        SiteSetup {
            id: id.into(),
            folder,
            central: format!("http://{}", central.link),
            key: key.clone(),
            more: format!(
                "node = {node:?}\n[site.replication]\nlisten = \"{}\"\npeer = \"http://{}\"\nlease = \"5s\"\n\
                 wait_for_standby = true\n[[site.system]]\nname = \"erp\"\nbase_url = {:?}\ntimeout = \"60s\"\n",
                at[here],
                at[1 - here],
                erp.url("/api")
            ),
        }
    };
    PairedSite {
        setups: [setup("a", 0), setup("b", 1)],
        erp,
    }
}

/// The machine has a lease, and this one gave it.
pub async fn has_lease(by: &str, agent: &AgentProcess) {
    until(&format!("a lease by {by}"), agent, async || {
        let pair = agent.site.pair().await;
        pair.is_ok_and(|pair| pair.lease_by.as_deref() == Some(by))
    })
    .await;
}

/// Two that run, the first of them active with a lease of the second.
pub async fn a_pair(site: &PairedSite) -> [AgentProcess; 2] {
    let [first, second] = &site.setups;
    let agents = [
        AgentProcess::start(first).await,
        AgentProcess::start(second).await,
    ];
    until("the other to be asked", &agents[0], async || {
        let pair = agents[0].site.pair().await;
        pair.is_ok_and(|pair| pair.other.role.is_some())
    })
    .await;
    obeys(&agents[0], &["site", "promote"]).await;
    is_a("Active", &agents[0]).await;
    is_whole(&agents[1]).await;
    has_lease("Standby", &agents[0]).await;
    agents
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_by_itself_and_makes_the_calls_that_waited() {
    let folder = tempfile::tempdir().unwrap();
    let central = a_central_giving(LONG, folder.path()).await;
    let north = paired_site(&central, folder.path(), "north").await.of_lease(LONG);
    let [active, standby] = a_pair(&north).await;
    north.erp.on(HttpRule::status(503));
    let mut waiting = vec![];
    for _ in 0..20 {
        let id = TrackedOperationId::mint();
        let call = active.site.call("erp").post("/orders").id(id).max_retries(0);
        assert!(call.send().await.unwrap().accepted);
        waiting.push(id);
    }
    is_whole(&standby).await;
    active.kill();
    std::fs::remove_dir_all(&north.setups[0].folder).unwrap();
    north.erp.behave();
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    standby.drained().await;
    for id in &waiting {
        let tracking = standby.site.tracking(*id).await.unwrap();
        assert_eq!(tracking.status, OperationStatus::Delivered, "{id}");
    }
    // An empty disk comes back and gives the lease once it has everything.
    std::fs::create_dir_all(&north.setups[0].folder).unwrap();
    let back = AgentProcess::start(&north.setups[0]).await;
    is_whole(&back).await;
    has_lease("Standby", &standby).await;
    let sites = central.client.sites().await.unwrap();
    assert_eq!(sites.len(), 1);
    assert_eq!(sites[0].node.as_deref(), Some("north-b"), "{sites:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_stood_still_past_its_lease_makes_no_call_when_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let central = a_central_giving(LONG, folder.path()).await;
    let north = paired_site(&central, folder.path(), "north").await.of_lease(LONG);
    let [active, standby] = a_pair(&north).await;
    north.erp.on(HttpRule::status(503));
    for _ in 0..10 {
        let call = active.site.call("erp").post("/orders").max_retries(0);
        assert!(call.send().await.unwrap().accepted);
    }
    is_whole(&standby).await;
    active.signal("STOP");
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    north.erp.behave();
    standby.drained().await;
    active.signal("CONT");
    // It learns that it was replaced, and follows.
    is_whole(&active).await;
    has_lease("Standby", &standby).await;
    let made = north.erp.requests().into_iter().filter(|request| request.taken);
    assert_eq!(made.count(), 10, "each call was made once");
}
