//! Two machines of a site, each with its own file, over a real connection.

use crate::{
    script::Scripted,
    world::{a_notification, until},
};
use domain::{
    Clock, SiteId, SystemClock,
    lock::lock,
    pair::{ReliefTerms, Role, Row, Table},
    site::Category,
};
use link::{
    Address,
    peer::{self, PeerOptions},
    server,
};
use secrecy::SecretString;
use site::{
    Agent, Handlers, Pair, Settings, Site,
    pair::{Automatic, Host, PairSettings, Turn},
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use store::{
    Buffer,
    buffer::{MessageId, Options, replication},
};
use testkit::Folder;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const KEY: &str = "wps_of_north";

/// One machine: its disk, and where it and the other answer.
#[derive(Clone)]
pub struct Machine {
    pub name: &'static str,
    pub file: PathBuf,
    pub listen: SocketAddr,
    pub other: Address,
    pub key: &'static str,
    pub waits: bool,
    pub automatic: Option<Automatic>,
    pub relief: ReliefTerms,
    pub clock: Arc<dyn Clock>,
    /// Systems and connections that lead to this very machine.
    pub local_targets: Vec<String>,
    systems: Scripted,
}

/// A machine that runs, and starts anew when it has to.
pub struct Live {
    pub machine: Machine,
    now: Arc<Mutex<Option<Shown>>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// The agent at work, and what it was started as.
type Shown = (Arc<Agent>, Role);

struct Started {
    agent: Arc<Agent>,
    role: Role,
    unserve: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
}

impl Machine {
    async fn start(&self) -> Started {
        let clock = self.clock.clone();
        let options = Options {
            node: self.name.into(),
            ..Options::at(&self.file)
        };
        let buffer = Arc::new(Buffer::open(&options, clock.clone()).unwrap());
        let (id, key) = (SiteId::new("north"), SecretString::from(self.key));
        let settings = PairSettings {
            site: id.clone(),
            name: self.name.into(),
            peer: PeerOptions::new(id.clone(), key.clone(), self.other.clone()),
            targets: BTreeMap::from([(format!("system of {}", self.name), vec![1])]),
            local_targets: self.local_targets.clone(),
            wait_for_standby: self.waits,
            automatic: self.automatic.clone(),
            relief: self.relief,
        };
        let pair = Pair::join(settings, buffer.clone(), clock.clone()).await.unwrap();
        pair.give_way_to_newer().await.unwrap();
        let handlers = Handlers::default().register(Category::ExternalSystem, Arc::new(self.systems.clone()));
        let site = Site::new(Settings::of(id.clone()), buffer, handlers, clock);
        site.join(pair.clone());
        let role = pair.role();
        let agent = Arc::new(Agent::start(site).await.unwrap());
        pair.attach(&agent);
        let incoming = server::tcp(peer::listen(self.listen, false, false).unwrap(), None).unwrap();
        let stop = CancellationToken::new();
        let served = peer::serve(incoming, id, key, Arc::new(Host(pair)), stop.clone());
        Started {
            agent,
            role,
            unserve: stop,
            server: tokio::spawn(served),
        }
    }

    /// It comes back with an empty one.
    pub fn loses_its_disk(&self) {
        std::fs::remove_file(&self.file).unwrap();
    }

    pub fn run(self) -> Live {
        let (now, stop) = (Arc::new(Mutex::new(None)), CancellationToken::new());
        let (machine, shown, told) = (self.clone(), now.clone(), stop.clone());
        let task = tokio::spawn(async move {
            loop {
                let Started {
                    agent,
                    role,
                    unserve,
                    server,
                } = machine.start().await;
                let pair = agent.site.pair().unwrap().clone();
                *lock(&shown) = Some((agent.clone(), role));
                let turn = tokio::select! {
                    turn = pair.turned() => Some(turn),
                    () = told.cancelled() => None,
                };
                *lock(&shown) = None;
                agent.finish().await;
                unserve.cancel();
                server.await.unwrap().unwrap();
                agent.stop().await;
                match turn {
                    None => return,
                    Some(Turn::Changed) => {}
                    Some(Turn::CopyIsWhole { keep }) => {
                        replication::put_in_place(&machine.file, keep, &SystemClock).unwrap();
                    }
                }
            }
        });
        Live {
            machine: self,
            now,
            stop,
            task,
        }
    }
}

impl Live {
    pub fn agent(&self) -> Option<Arc<Agent>> {
        lock(&self.now).clone().map(|(agent, _)| agent)
    }

    /// And was started as that: whose role has just changed is about to end.
    pub fn is(&self, role: Role) -> bool {
        let now = lock(&self.now).clone();
        now.is_some_and(|(agent, as_that)| {
            let found = agent.site.pair().map(|pair| pair.role());
            as_that == role && found == Some(role)
        })
    }

    pub async fn becomes(&self, role: Role) -> Arc<Agent> {
        until(&format!("{} is {role}", self.machine.name), || self.is(role)).await;
        self.agent().unwrap()
    }

    pub fn waiting(&self) -> u64 {
        self.agent()
            .map_or(0, |agent| agent.site.buffer.depth().waiting())
    }

    pub async fn holds(&self, n: u64) {
        until(&format!("{} holds {n}", self.machine.name), || {
            self.waiting() == n
        })
        .await;
    }

    /// Ends, as a process that is told to does.
    pub async fn end(self) -> Machine {
        self.stop.cancel();
        self.task.await.unwrap();
        self.machine
    }
}

pub struct World {
    pub folder: Folder,
    pub systems: Scripted,
    pub machines: [Machine; 2],
}

pub fn world() -> World {
    let folder = Folder::of_this_test();
    let addresses = [(), ()].map(|()| testkit::ports::an_address());
    let systems = Scripted::new();
    let machine = |name: &'static str, here: usize| Machine {
        name,
        file: folder.path().join(format!("{name}.db")),
        listen: addresses[here],
        other: format!("http://{}", addresses[1 - here]).parse().unwrap(),
        key: KEY,
        waits: false,
        automatic: None,
        relief: ReliefTerms::default(),
        clock: Arc::new(SystemClock),
        local_targets: vec![],
        systems: systems.clone(),
    };
    World {
        machines: [machine("north-a", 0), machine("north-b", 1)],
        systems,
        folder,
    }
}

/// Two that run, the first of them active.
pub async fn a_pair(world: &World) -> (Live, Live) {
    let [a, b] = world.machines.clone();
    let (a, b) = (a.run(), b.run());
    a.becomes(Role::Standby).await;
    let active = b.becomes(Role::Standby).await;
    drop(active);
    let agent = a.agent().unwrap();
    let promoted = agent.site.pair().unwrap().promote(false).await;
    promoted.unwrap();
    drop(agent);
    a.becomes(Role::Active).await;
    (a, b)
}

pub async fn notify(live: &Live, n: u64) -> Vec<MessageId> {
    let mut ids = vec![];
    for i in 0..n {
        // It may just have become active, and starts anew as that.
        let sent = testkit::eventually("a message to be taken", async || {
            let agent = live.becomes(Role::Active).await;
            agent.site.send(a_notification(&format!("tank {i}"))).await.ok()
        });
        ids.push(sent.await.id);
    }
    ids
}

pub async fn has_all(live: &Live, ids: &[MessageId]) -> bool {
    let buffer = live.agent().unwrap().site.buffer.clone();
    for id in ids {
        if buffer.message(*id).await.unwrap().is_none() {
            return false;
        }
    }
    true
}

/// Every row that a machine's copy must have, as its file has it.
pub async fn contents(file: &Path) -> Vec<(Table, Vec<Row>)> {
    let buffer = Buffer::open(&Options::at(file), Arc::new(SystemClock)).unwrap();
    let mut all = vec![];
    for table in Table::ALL {
        let (mut rows, mut after) = (vec![], None);
        loop {
            let part = buffer.copy_part(table, after, usize::MAX).await.unwrap();
            rows.extend(part.rows);
            after = part.next;
            if after.is_none() {
                break;
            }
        }
        all.push((table, rows));
    }
    buffer.close().await;
    all
}
