//! One machine of a pair on the simulated network, with its scripts. It starts anew in its process when its part changes, as
//! `waypost site` does.

use crate::{
    central::{LEASE, PORT},
    chaos::{SimDial, notification},
    clock::SimClock,
    trace::Trace,
};
use async_trait::async_trait;
use domain::{
    Failure, Jitter, NotificationId, Scope, SiteId,
    pair::{ReliefTerms, Role},
    site::{Category, OperationStatus},
};
use link::{
    Address, LinkClient, Options, StandbyClient, WitnessClient,
    peer::{self, PeerOptions},
    transport::Wire,
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use secrecy::SecretString;
use site::{
    Agent, Commands, Delivered, Failed, Handler, Handlers, Outgoing, Pair, SendOptions, Settings, Site,
    categories::CallPayload,
    pair::{Automatic, Host, LeaseState, PairSettings, Turn},
    payload,
};
use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use store::{
    Buffer,
    buffer::{Message, MessageId, Options as BufferOptions, Origin, replication::put_in_place},
};
use tokio_util::sync::CancellationToken;
use turmoil::net::TcpListener;
use uuid::Uuid;

const PEER_PORT: u16 = 7444;
/// Scripts send until then.
pub const SENDING: Duration = Duration::from_secs(90);
/// That calls are held for a person's word is seen after a while.
const SEEN_BY_SOMEBODY: Duration = Duration::from_secs(60);
/// How long questions of the other machine may take to be answered at a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// What everybody outside knows: what was accepted, and what arrived.
#[derive(Clone, Default)]
pub struct Outside {
    pub notifications: Arc<Mutex<Vec<NotificationId>>>,
    pub calls: Arc<Mutex<Vec<MessageId>>>,
    pub made: Arc<Mutex<HashSet<MessageId>>>,
}

/// Which machine it is, and where its disk is.
#[derive(Clone)]
pub struct Machine {
    pub name: &'static str,
    pub other: &'static str,
    pub file: PathBuf,
    pub outside: Outside,
    pub trace: Trace,
    /// The agent that runs now, for whoever looks from outside.
    pub live: Arc<Mutex<Weak<Agent>>>,
}

fn at(host: &str, port: u16) -> Address {
    Address {
        tls: false,
        host: host.into(),
        port,
    }
}

/// A system that takes a call, or is busy.
struct FarEnd {
    outside: Outside,
    dice: Mutex<StdRng>,
}

impl fmt::Debug for FarEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FarEnd")
    }
}

#[async_trait]
impl Handler for FarEnd {
    async fn deliver(&self, message: &Message) -> Result<Delivered, Failed> {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if self.dice.lock().unwrap().random_bool(0.3) {
            return Err(Failure::transient(Scope::Message, "HTTP_503", "busy").into());
        }
        self.outside.made.lock().unwrap().insert(message.id);
        Ok(Delivered::default())
    }

    fn serves(&self, _: &str) -> bool {
        true
    }
}

/// Runs until the host crashes.
pub async fn run(machine: Machine, mut rng: StdRng) -> turmoil::Result {
    machine.trace.say(format!("{} starts", machine.name));
    let leases = LeaseState::started(LEASE, Arc::new(SimClock));
    loop {
        let life = StdRng::seed_from_u64(rng.next_u64());
        if let Turn::CopyIsWhole { keep } = one_turn(&machine, &leases, life).await? {
            machine
                .trace
                .say(format!("{} has a whole copy, keep: {keep}", machine.name));
            put_in_place(&machine.file, keep, &SimClock)?;
        }
    }
}

fn to_central(machine: &Machine, buffer: &Buffer, dice: StdRng) -> Options {
    let (id, key, dice) = (SiteId::new("north"), SecretString::from("key"), Mutex::new(dice));
    Options {
        node: machine.name.into(),
        buffer: buffer.id(),
        insecure: true,
        dial: Arc::new(SimDial),
        clock: Arc::new(SimClock),
        jitter: Arc::new(move || Jitter(dice.lock().unwrap().random())),
        ..Options::new(id, key, vec![at("central", PORT)])
    }
}

fn pair_settings(machine: &Machine, leases: &Arc<LeaseState>, to_central: &Options) -> PairSettings {
    let (id, key) = (to_central.site.clone(), to_central.key.clone());
    PairSettings {
        site: id.clone(),
        name: machine.name.into(),
        peer: PeerOptions {
            insecure: true,
            dial: Arc::new(SimDial),
            ..PeerOptions::new(id, key, at(machine.other, PEER_PORT))
        },
        targets: BTreeMap::new(),
        local_targets: vec![],
        wait_for_standby: false,
        automatic: Some(Automatic {
            leases: leases.clone(),
            witness: Arc::new(WitnessClient::new(to_central.clone())),
            central: Arc::new(StandbyClient::new(to_central.clone())),
        }),
        relief: ReliefTerms::default(),
    }
}

async fn one_turn(
    machine: &Machine,
    leases: &Arc<LeaseState>,
    mut rng: StdRng,
) -> Result<Turn, Box<dyn std::error::Error>> {
    let clock = Arc::new(SimClock);
    let options = BufferOptions {
        inline: true,
        node: machine.name.into(),
        ..BufferOptions::at(&machine.file)
    };
    let buffer = Arc::new(Buffer::open(&options, clock.clone())?);
    let (id, key) = (SiteId::new("north"), SecretString::from("key"));
    let to_central = to_central(machine, &buffer, StdRng::seed_from_u64(rng.next_u64()));
    let settings = pair_settings(machine, leases, &to_central);
    let pair = Pair::join(settings, buffer.clone(), clock.clone()).await?;
    pair.give_way_to_newer().await?;
    let far_end = FarEnd {
        outside: machine.outside.clone(),
        dice: Mutex::new(StdRng::seed_from_u64(rng.next_u64())),
    };
    let handlers = Handlers::default().register(Category::ExternalSystem, Arc::new(far_end));
    let site = Site::new(Settings::of(id.clone()), buffer, handlers, clock);
    site.join(pair.clone());
    let unlink = CancellationToken::new();
    let standing = pair.standing();
    if standing.role == Role::Active {
        let link = LinkClient::new(Options {
            turn: Some(standing.history.rank()),
            ..to_central
        });
        site.connect(Arc::new(link.clone()));
        tokio::spawn(link.run(Arc::new(Commands(site.clone())), unlink.clone()));
    }
    let agent = Arc::new(Agent::start(site.clone()).await?);
    pair.attach(&agent);
    *machine.live.lock().unwrap() = Arc::downgrade(&agent);
    machine.trace.say(format!(
        "{} is {} in turn {}, stale: {}",
        machine.name,
        standing.role,
        standing.history.rank().0,
        standing.stale
    ));
    let listener = TcpListener::bind(("0.0.0.0", PEER_PORT)).await?;
    let incoming = futures_util::stream::unfold(listener, |listener| async {
        let accepted = listener.accept().await;
        let wire = accepted.map(|(stream, peer)| Wire::new(stream, peer.to_string()));
        Some((wire, listener))
    });
    let unserve = CancellationToken::new();
    let serving = peer::serve(incoming, id, key, Arc::new(Host(pair.clone())), unserve.clone());
    let mut server = tokio::spawn(serving);
    if standing.history.last().is_none() && machine.name == "north-a" {
        pair.promote(true).await?;
    }
    let turn = tokio::select! {
        turn = pair.turned() => turn,
        () = scripts(machine, &site, rng) => unreachable!("scripts go on for ever"),
    };
    unserve.cancel();
    if tokio::time::timeout(STOP_TIMEOUT, &mut server).await.is_err() {
        server.abort();
        let _ = server.await;
    }
    agent.stop().await;
    unlink.cancel();
    Ok(turn)
}

/// What is sent here, whichever of the two this machine is.
async fn scripts(machine: &Machine, site: &Arc<Site>, mut rng: StdRng) {
    loop {
        tokio::time::sleep(Duration::from_millis(rng.random_range(50..1_500))).await;
        if turmoil::sim_elapsed().unwrap_or_default() > SENDING {
            return somebody_forces_it(machine, site).await;
        }
        let (site, outside, trace) = (site.clone(), machine.outside.clone(), machine.trace.clone());
        let (id, is_call) = (Uuid::from_u128(rng.random()), rng.random_bool(0.4));
        let name = machine.name;
        tokio::spawn(async move {
            let message = match is_call {
                true => call(MessageId(id)),
                false => notification(NotificationId(id), 0),
            };
            let sent = site.send(message).await;
            if !sent.is_ok_and(|sent| sent.accepted || sent.status == Some(OperationStatus::Delivered)) {
                return;
            }
            trace.say(format!("{name} accepted {id}, a call: {is_call}"));
            match is_call {
                true => outside.calls.lock().unwrap().push(MessageId(id)),
                false => outside.notifications.lock().unwrap().push(NotificationId(id)),
            }
        });
    }
}

/// Where both machines may have missed what the other made, because central was started anew meanwhile, a person has to decide.
async fn somebody_forces_it(machine: &Machine, site: &Arc<Site>) {
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let Some(pair) = site.pair() else { continue };
        let (now, standing) = (turmoil::sim_elapsed().unwrap_or_default(), pair.standing());
        if now > SENDING + SEEN_BY_SOMEBODY && standing.role == Role::Active && standing.stale {
            let done = pair.promote(true).await;
            machine
                .trace
                .say(format!("{} is forced: {}", machine.name, done.is_ok()));
        }
    }
}

fn call(id: MessageId) -> Outgoing {
    let payload = CallPayload {
        method: "POST".into(),
        path: "/orders".into(),
        ..Default::default()
    };
    Outgoing {
        category: Category::ExternalSystem,
        target: "erp".into(),
        summary: Some(payload.summary()),
        payload: payload::text(&payload),
        origin: Origin::default(),
        options: SendOptions {
            message_id: Some(id),
            max_retries: Some(0),
            retry_interval: Some(Duration::from_secs(1)),
            ..SendOptions::default()
        },
    }
}
