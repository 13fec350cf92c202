//! One run: a site that sends, a central that stores, and somebody who pulls cables.

use crate::{
    central::{Database, PORT, central},
    clock::SimClock,
    trace::{History, Trace},
};
use async_trait::async_trait;
use domain::{Content, Jitter, NotificationId, SiteId, Target, site::Category};
use link::{Address, LinkClient, LinkState, Options, Uplink, transport::Dial, transport::Io};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use site::{Agent, Commands, Handlers, Outgoing, SendOptions, Settings, Site, payload};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use store::{
    Buffer,
    buffer::{MessageId, Options as BufferOptions, Origin},
};
use testkit::Folder;
use tokio_util::sync::CancellationToken;
use turmoil::{Builder, Sim, net::TcpStream};
use uuid::Uuid;

/// Trouble until then; afterwards everything has to arrive.
const TROUBLE: Duration = Duration::from_secs(90);
const SETTLE_TIMEOUT: Duration = Duration::from_secs(180);
const TICK: Duration = Duration::from_millis(5);

/// What the scripts at the site know: what they were told was accepted.
#[derive(Debug, Clone, Default)]
struct Accepted(Arc<Mutex<Vec<NotificationId>>>);

pub fn run(seed: u64) -> History {
    let folder = Folder::of_this_test();
    let trace = Trace::default();
    let database = Database::default();
    let accepted = Accepted::default();
    let mut sim = Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(TROUBLE + SETTLE_TIMEOUT * 2)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(4096)
        .build();
    {
        let (database, trace) = (database.clone(), trace.clone());
        sim.host("central", move || central(database.clone(), trace.clone()));
    }
    {
        let (path, trace, accepted) = (folder.path().join("sf.db"), trace.clone(), accepted.clone());
        let lives = Arc::new(Mutex::new(0u64));
        sim.host("site", move || {
            let life = {
                let mut lives = lives.lock().unwrap();
                *lives += 1;
                *lives
            };
            let rng = StdRng::seed_from_u64(seed.wrapping_mul(1_000).wrapping_add(life));
            a_site(path.clone(), rng, accepted.clone(), trace.clone())
        });
    }
    let verdict = drive(&mut sim, seed, &database, &accepted, &trace);
    drop(sim);
    History {
        lines: trace.lines(),
        verdict: verdict.and_then(|()| left_behind(folder.path(), &accepted, &database)),
    }
}

/// Steps through the simulation, making trouble on the way, until everything has arrived.
fn drive(
    sim: &mut Sim<'_>,
    seed: u64,
    database: &Database,
    accepted: &Accepted,
    trace: &Trace,
) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut next = Duration::from_millis(rng.random_range(200..3_000));
    let mut calm = false;
    loop {
        sim.step().map_err(|e| e.to_string())?;
        let now = sim.elapsed();
        if now < TROUBLE {
            if now >= next {
                trouble(sim, &mut rng, database, trace, now);
                next = now + Duration::from_millis(rng.random_range(300..8_000));
            }
            continue;
        }
        if !calm {
            calm = true;
            heal(sim, trace, now);
        }
        let all = accepted.0.lock().unwrap().clone();
        if now > TROUBLE + Duration::from_secs(1) && all.iter().all(|id| database.has(*id)) {
            return Ok(());
        }
        if now > TROUBLE + SETTLE_TIMEOUT {
            let missing = all.iter().filter(|id| !database.has(**id)).count();
            return Err(format!(
                "{missing} of {} accepted notifications are not at central",
                all.len()
            ));
        }
    }
}

fn note(trace: &Trace, now: Duration, what: &str) {
    trace.say(format!("-- {what} ({} ms)", now.as_millis()));
}

fn trouble(sim: &mut Sim<'_>, rng: &mut StdRng, database: &Database, trace: &Trace, now: Duration) {
    match rng.random_range(0..9) {
        0 => {
            note(trace, now, "the cable is pulled");
            sim.partition("site", "central");
        }
        1 => {
            note(trace, now, "what central says gets lost");
            sim.partition_oneway("central", "site");
        }
        2 => {
            note(trace, now, "what the site says gets lost");
            sim.partition_oneway("site", "central");
        }
        3 => {
            note(trace, now, "everything is held up");
            sim.hold("site", "central");
        }
        4 | 5 => {
            note(trace, now, "the network is well again");
            sim.release("site", "central");
            sim.repair("site", "central");
        }
        6 => {
            note(trace, now, "central is killed and started again");
            sim.crash("central");
            sim.bounce("central");
        }
        7 => {
            note(trace, now, "the agent is killed and started again");
            sim.crash("site");
            sim.bounce("site");
        }
        _ => {
            sim.crash("central");
            let lost = database.lose_last(rng.random_range(1..40));
            note(
                trace,
                now,
                &format!("central is put back to a copy without the last {lost} rows"),
            );
            sim.bounce("central");
        }
    }
}

fn heal(sim: &mut Sim<'_>, trace: &Trace, now: Duration) {
    note(trace, now, "calm");
    sim.release("site", "central");
    sim.repair("site", "central");
}

/// What is in the file after the end must fit: nothing is parked, nothing accepted is in neither place.
fn left_behind(folder: &Path, accepted: &Accepted, database: &Database) -> Result<(), String> {
    let options = BufferOptions {
        inline: true,
        ..BufferOptions::at(folder.join("sf.db"))
    };
    let buffer = Buffer::open(&options, Arc::new(SimClock)).map_err(|e| e.to_string())?;
    let depth = buffer.depth();
    if depth.all_parked() > 0 {
        return Err(format!(
            "{} were parked, though nothing was refused",
            depth.all_parked()
        ));
    }
    let accepted = accepted.0.lock().unwrap().len();
    if accepted < 50 || database.len() < accepted {
        return Err(format!(
            "{accepted} accepted, {} at central: too little happened",
            database.len()
        ));
    }
    Ok(())
}

/// The agent, and the scripts that send through it.
async fn a_site(path: PathBuf, mut rng: StdRng, accepted: Accepted, trace: Trace) -> turmoil::Result {
    trace.say("the agent starts");
    let clock = Arc::new(SimClock);
    let options = BufferOptions {
        inline: true,
        ..BufferOptions::at(path)
    };
    let buffer = Arc::new(Buffer::open(&options, clock.clone())?);
    let site = Site::new(
        Settings::of(SiteId::new("north")),
        buffer,
        Handlers::default(),
        clock.clone(),
    );
    let central = Address {
        tls: false,
        host: "central".into(),
        port: PORT,
    };
    let dice = Mutex::new(StdRng::seed_from_u64(rng.next_u64()));
    let link = LinkClient::new(Options {
        insecure: true,
        dial: Arc::new(SimDial),
        clock,
        jitter: Arc::new(move || Jitter(dice.lock().unwrap().random())),
        ..Options::new(SiteId::new("north"), "key".to_owned().into(), vec![central])
    });
    site.connect(Arc::new(link.clone()));
    tokio::spawn(
        link.clone()
            .run(Arc::new(Commands(site.clone())), CancellationToken::new()),
    );
    tokio::spawn(watch_link(link, trace.clone()));
    let _agent = Agent::start(site.clone()).await?;
    for n in 0u32.. {
        tokio::time::sleep(Duration::from_millis(rng.random_range(1..900))).await;
        if turmoil::sim_elapsed().unwrap_or_default() > TROUBLE {
            break;
        }
        for _ in 0..rng.random_range(1..6) {
            let id = NotificationId(Uuid::from_u128(rng.random()));
            if site.send(notification(id, n)).await.is_ok() {
                accepted.0.lock().unwrap().push(id);
                trace.say(format!("accepted {id}"));
            }
        }
    }
    std::future::pending().await
}

pub fn notification(id: NotificationId, n: u32) -> Outgoing {
    let payload = payload::NotificationPayload {
        content: Content {
            target: Target::List("ops".into()),
            subject: format!("n{n}"),
            body: "x".into(),
            ..Content::default()
        },
        ..Default::default()
    };
    Outgoing {
        category: Category::Notification,
        target: "ops".into(),
        payload: payload::text(&payload),
        summary: None,
        origin: Origin::default(),
        options: SendOptions {
            message_id: Some(MessageId(id.0)),
            ..SendOptions::default()
        },
    }
}

async fn watch_link(link: LinkClient, trace: Trace) {
    let mut state = link.state();
    loop {
        let said = match &*state.borrow_and_update() {
            LinkState::Up { central, .. } => format!("the link is up, epoch {}", central.epoch),
            LinkState::Down { why, .. } => format!("the link is down: {why}"),
        };
        trace.say(said);
        if state.changed().await.is_err() {
            return;
        }
    }
}

pub struct SimDial;

#[async_trait]
impl Dial for SimDial {
    async fn dial(&self, to: &Address) -> io::Result<Box<dyn Io>> {
        Ok(Box::new(TcpStream::connect((to.host.as_str(), to.port)).await?))
    }
}
