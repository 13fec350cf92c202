//! One run of a pair: two machines that take in, central that witnesses, and somebody who pulls the cables between any two of them.

use crate::{
    central::{Database, central},
    machine::{self, Machine, Outside, SENDING},
    trace::{History, Trace},
};
use domain::pair::{Role, Row, Table};
use futures_util::FutureExt;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use site::Agent;
use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use store::Buffer;
use testkit::Folder;
use turmoil::{Builder, Sim};

/// Until everything is in order again: leases have to end, and whoever waits for a retry has to be asked.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(600);
const TICK: Duration = Duration::from_millis(5);
/// How often it is looked whether everything is in order.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const CABLES: [(&str, &str); 3] = [
    ("north-a", "north-b"),
    ("north-a", "central"),
    ("north-b", "central"),
];

pub fn run(seed: u64) -> History {
    let folder = Folder::of_this_test();
    let (trace, database, outside) = (Trace::default(), Database::default(), Outside::default());
    let mut sim = Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(SENDING + SETTLE_TIMEOUT * 2)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(4096)
        .build();
    {
        let (database, trace) = (database.clone(), trace.clone());
        sim.host("central", move || central(database.clone(), trace.clone()));
    }
    let live = [("north-a", "north-b"), ("north-b", "north-a")].map(|(name, other)| {
        let machine = Machine {
            name,
            other,
            file: folder.path().join(format!("{name}.db")),
            outside: outside.clone(),
            trace: trace.clone(),
            live: Arc::new(Mutex::new(Weak::new())),
        };
        let (live, lives) = (machine.live.clone(), Mutex::new(0u64));
        sim.host(name, move || {
            let mut lives = lives.lock().unwrap();
            *lives += 1;
            let of_life = seed.wrapping_mul(1_000).wrapping_add(*lives);
            let rng =
                StdRng::seed_from_u64(of_life ^ (name.len() as u64) << 32 ^ u64::from(name.as_bytes()[6]));
            machine::run(machine.clone(), rng)
        });
        live
    });
    let verdict = drive(
        &mut sim,
        seed,
        &Watched {
            live,
            database,
            outside,
        },
        &trace,
    );
    drop(sim);
    History {
        lines: trace.lines(),
        verdict,
    }
}

/// What is looked at from outside.
struct Watched {
    live: [Arc<Mutex<Weak<Agent>>>; 2],
    database: Database,
    outside: Outside,
}

fn drive(sim: &mut Sim<'_>, seed: u64, watched: &Watched, trace: &Trace) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(seed);
    // The two have to find each other first.
    let mut next = Duration::from_secs(15);
    let mut calm = false;
    let mut look = Duration::ZERO;
    loop {
        sim.step().map_err(|e| e.to_string())?;
        let now = sim.elapsed();
        if now < SENDING {
            if now >= next {
                trouble(sim, &mut rng, trace, now);
                next = now + Duration::from_millis(rng.random_range(300..9_000));
            }
            continue;
        }
        if !std::mem::replace(&mut calm, true) {
            trace.say("-- calm");
            CABLES.iter().for_each(|cable| heal(sim, *cable));
        }
        if now < look {
            continue;
        }
        look = now + LOOK_EVERY;
        match watched.is_in_order() {
            Ok(()) => return watched.enough_happened(),
            Err(why) if now > SENDING + SETTLE_TIMEOUT => return Err(why),
            Err(_) => {}
        }
    }
}

fn heal(sim: &Sim<'_>, (one, other): (&str, &str)) {
    sim.release(one, other);
    sim.repair(one, other);
}

fn trouble(sim: &mut Sim<'_>, rng: &mut StdRng, trace: &Trace, now: Duration) {
    let cable @ (one, other) = CABLES[rng.random_range(0..CABLES.len())];
    let said = match rng.random_range(0..10) {
        0 | 1 => {
            sim.partition(one, other);
            format!("{one} and {other} are cut off from each other")
        }
        2 => {
            sim.partition_oneway(one, other);
            format!("what {one} says to {other} gets lost")
        }
        3 => {
            sim.partition_oneway(other, one);
            format!("what {other} says to {one} gets lost")
        }
        4 => {
            sim.hold(one, other);
            format!("everything between {one} and {other} is held up")
        }
        5..=7 => {
            heal(sim, cable);
            format!("{one} and {other} hear each other again")
        }
        8 => {
            let killed = ["north-a", "north-b"][rng.random_range(0..2)];
            sim.crash(killed);
            sim.bounce(killed);
            format!("{killed} is killed and started again")
        }
        _ => {
            sim.crash("central");
            sim.bounce("central");
            "central is killed and started again".into()
        }
    };
    trace.say(format!("-- {said} ({} ms)", now.as_millis()));
}

/// Buffers that run inline answer at once.
fn contents(buffer: &Buffer) -> Option<Vec<(Table, Vec<Row>)>> {
    let table = |table| {
        let part = buffer.copy_part(table, None, usize::MAX).now_or_never()?.ok()?;
        part.next.is_none().then_some((table, part.rows))
    };
    Table::ALL.into_iter().map(table).collect()
}

impl Watched {
    /// One is active, the other has the same rows, and everything that was accepted is at its place.
    fn is_in_order(&self) -> Result<(), String> {
        let live = self.live.each_ref().map(|live| live.lock().unwrap().upgrade());
        let [Some(a), Some(b)] = live else {
            return Err("one of them does not run".into());
        };
        let standing = |agent: &Arc<Agent>| agent.site.buffer.standing().ok_or("no standing");
        let (of_a, of_b) = (standing(&a)?, standing(&b)?);
        let (active, standby, copy) = match (of_a.role, of_b.role) {
            (Role::Active, Role::Standby) => (a, b, &of_b),
            (Role::Standby, Role::Active) => (b, a, &of_a),
            roles => return Err(format!("the two are {roles:?}")),
        };
        if !copy.caught_up || of_a.history != of_b.history {
            return Err(format!("the copy is behind: {of_a:?}, {of_b:?}"));
        }
        // Nothing is asked here that looks at a clock: outside of its host there is another one.
        let waiting = active.site.buffer.depth().waiting();
        if waiting > 0 {
            return Err(format!(
                "{waiting} wait at the active one: {:?}",
                active.loops.reports()
            ));
        }
        let own = standby.site.pair().map_or(0, |pair| pair.own_rows());
        if own > 0 {
            return Err(format!("{own} are the standby's own"));
        }
        let notifications = self.outside.notifications.lock().unwrap();
        let lost = notifications.iter().filter(|id| !self.database.has(**id)).count();
        let made = self.outside.made.lock().unwrap();
        let calls = self.outside.calls.lock().unwrap();
        let unmade: Vec<_> = calls.iter().filter(|id| !made.contains(id)).collect();
        let parked = |id| active.site.buffer.message(id).now_or_never();
        let gone = unmade
            .iter()
            .filter(|id| !matches!(parked(***id), Some(Ok(Some(_)))));
        let gone = gone.count();
        if lost + gone > 0 {
            return Err(format!(
                "{lost} notifications and {gone} calls that were accepted are nowhere"
            ));
        }
        let (here, there) = (contents(&active.site.buffer), contents(&standby.site.buffer));
        if here.is_none() || here != there {
            return Err("the two files differ".into());
        }
        Ok(())
    }

    fn enough_happened(&self) -> Result<(), String> {
        let (notifications, calls) = (
            self.outside.notifications.lock().unwrap().len(),
            self.outside.calls.lock().unwrap().len(),
        );
        match notifications > 20 && calls > 10 {
            true => Ok(()),
            false => Err(format!(
                "{notifications} notifications, {calls} calls: too little happened"
            )),
        }
    }
}
