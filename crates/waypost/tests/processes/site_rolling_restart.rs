//! Both machines of a site are restarted, one after the other, while scripts go on sending: what is refused is taken within one
//! lease, and nothing is lost or made twice.

use crate::{
    node::Node,
    site_agent::AgentProcess,
    site_outage::{assert_once, at_central_from},
    site_takeover::{PairedSite, a_central, a_pair, paired_site},
    site_until::{is_a, is_whole, obeys, until},
};
use client::{
    NotificationId, TrackedOperationId,
    site::{Notify, Site},
};
use simulator::HttpReceiver;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Of these sites. A machine that stands still for a while refuses for less.
const LEASE: Duration = Duration::from_secs(30);
/// Taken in between two steps of the restart.
const SENT: usize = 100;

#[derive(Default)]
pub struct Taken {
    pub notifications: Vec<NotificationId>,
    pub calls: Vec<TrackedOperationId>,
    /// The longest that one message was refused.
    pub refused: Duration,
    refusals: usize,
}

impl Taken {
    fn len(&self) -> usize {
        self.notifications.len() + self.calls.len()
    }
}

/// Scripts that name both machines and try again under the same id until they are heard.
pub struct Scripts {
    taken: Arc<Mutex<Taken>>,
    stop: CancellationToken,
    all: JoinSet<()>,
}

impl Scripts {
    pub fn start(site: &Site) -> Self {
        let (taken, stop) = (Arc::new(Mutex::new(Taken::default())), CancellationToken::new());
        let mut all = JoinSet::new();
        for n in 0..4 {
            let (site, taken, stop) = (site.clone(), taken.clone(), stop.clone());
            all.spawn(async move {
                while !stop.is_cancelled() {
                    match n % 2 {
                        0 => notify(&site, &taken).await,
                        _ => call(&site, &taken).await,
                    }
                }
            });
        }
        Self { taken, stop, all }
    }

    pub async fn take_some(&self, agent: &AgentProcess) {
        let before = self.taken.lock().unwrap().len();
        until("messages to be taken in", agent, async || {
            self.taken.lock().unwrap().len() >= before + SENT
        })
        .await;
    }

    pub async fn end(mut self) -> Taken {
        self.stop.cancel();
        while let Some(script) = self.all.join_next().await {
            script.unwrap();
        }
        std::mem::take(&mut *self.taken.lock().unwrap())
    }
}

async fn notify(site: &Site, taken: &Mutex<Taken>) {
    let id = NotificationId::mint();
    let notify = Notify::to("ops").id(id);
    let mut trying = Trying::default();
    while notify.clone().send(site, "Tank is full", "98 %").await.is_err() {
        trying.was_refused().await;
    }
    taken.lock().unwrap().notifications.push(id);
    trying.ended(taken);
}

async fn call(site: &Site, taken: &Mutex<Taken>) {
    let id = TrackedOperationId::mint();
    let call = site.call("erp").post("/orders").id(id).max_retries(0);
    let mut trying = Trying::default();
    while !call.clone().send().await.is_ok_and(|sent| sent.accepted) {
        trying.was_refused().await;
    }
    taken.lock().unwrap().calls.push(id);
    trying.ended(taken);
}

/// One message until it is taken.
#[derive(Default)]
struct Trying {
    since: Option<Instant>,
    times: usize,
}

impl Trying {
    async fn was_refused(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.times += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    fn ended(self, taken: &Mutex<Taken>) {
        let refused = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let mut taken = taken.lock().unwrap();
        taken.refused = taken.refused.max(refused);
        taken.refusals += self.times;
    }
}

/// Orderly stopped and started where scripts have found it.
async fn restarted(site: &PairedSite, which: usize, agent: AgentProcess) -> AgentProcess {
    let listen = agent.listens_at();
    assert_eq!(agent.stop().await, 0);
    AgentProcess::start_at(&site.setups[which], &listen).await
}

/// Each call that was accepted was made, and none of them twice: who stops lets attempts end, and tells the other how.
fn are_made_once(calls: &[TrackedOperationId], erp: &HttpReceiver, agents: [&AgentProcess; 2]) {
    let mut made: HashMap<String, usize> = HashMap::new();
    for request in erp.requests().iter().filter(|request| request.taken) {
        let key = request.header("idempotency-key").unwrap().to_owned();
        *made.entry(key).or_default() += 1;
    }
    for id in calls {
        let times = made.get(&id.to_string());
        let said = || agents.map(|agent| log_of(agent, *id)).join("\n");
        assert_eq!(times, Some(&1), "{id}; the agents said of it:\n{}", said());
    }
}

/// What an agent's log says of a call.
fn log_of(agent: &AgentProcess, id: TrackedOperationId) -> String {
    let log = std::fs::read_to_string(&agent.log).unwrap_or_default();
    let id = id.to_string();
    let lines: Vec<_> = log.lines().filter(|line| line.contains(&id)).collect();
    lines.join("\n")
}

/// The standby, then the active one: by having the other take over first, or just so.
async fn is_restarted_under_load(central: &Node, folder: &Path, id: &str, hands_over: bool) {
    let site = paired_site(central, folder, id).await.of_lease("30s");
    let [mut a, mut b] = a_pair(&site).await;
    let scripts = Scripts::start(&a.site.clone().or(b.site.clone()));
    scripts.take_some(&a).await;
    b = restarted(&site, 1, b).await;
    scripts.take_some(&a).await;
    is_whole(&b).await;
    if hands_over {
        // A turn that central gave meanwhile may have cost the standby its copy: then it says no until it has another.
        obeys(&a, &["site", "demote"]).await;
        is_a("Active", &b).await;
        scripts.take_some(&b).await;
    }
    a = restarted(&site, 0, a).await;
    scripts.take_some(&b).await;
    let (active, standby) = match hands_over {
        true => (&b, &a),
        false => (&a, &b),
    };
    is_whole(standby).await;
    let taken = scripts.end().await;
    // What the standby kept while the active one was away.
    until("the standby's own to be handed in", standby, async || {
        let pair = standby.site.pair().await;
        pair.is_ok_and(|pair| pair.role == "Standby" && pair.own_rows.unwrap_or(0) == 0)
    })
    .await;
    active.drained().await;
    println!(
        "{id}: {} notifications and {} calls were taken, {} tries refused, one message for {:?}",
        taken.notifications.len(),
        taken.calls.len(),
        taken.refusals,
        taken.refused
    );
    assert!(
        taken.refused <= LEASE,
        "a message was refused for {:?}",
        taken.refused
    );
    assert_once(&taken.notifications, &at_central_from(central, id).await);
    are_made_once(&taken.calls, &site.erp, [active, standby]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_of_a_pair_refuses_no_send_for_longer_than_a_lease_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let central = a_central(folder.path()).await;
    tokio::join!(
        is_restarted_under_load(&central, folder.path(), "hands-over", true),
        is_restarted_under_load(&central, folder.path(), "just-so", false),
    );
}
