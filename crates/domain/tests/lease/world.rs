//! Two machines and central, and everything that can happen to them.

mod asking;
mod meeting;

use crate::rules::{Limits, Rules};
use asking::Message;
pub use asking::Wants;
use domain::pair::{Giver, Leases, Rank, WitnessRow};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// So many steps of time.
    Pass(u8),
    AskStandby(usize),
    AskWitness(usize, Wants),
    /// One of the messages under way comes; the others may overtake it.
    Comes(usize),
    /// It never does: whoever asked gives up.
    Lost(usize),
    /// At once begun and ended.
    Attempt(usize),
    /// Begun, and under way from here on.
    Begin(usize),
    /// The machines talk: the lower one steps down, or the standby gets a whole copy.
    Meet,
    Handover,
    Crash(usize),
    LoseDisk(usize),
    /// Central's database is put back to what it was in the beginning.
    Restore,
    /// This machine, which is the standby, is answered and fetches nothing any more, for longer than it may.
    Lag(usize),
    /// The other machine is switched off, and a person has this one go on without any lease.
    Force(usize),
    /// A person has this machine, which is active, go on without any lease, and the other one runs.
    ForceWrongly(usize),
    /// It is switched on again, at the earliest when central has heard of that.
    Start(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Machine {
    /// Of its file.
    id: u128,
    leases: Leases,
    active: bool,
    /// The turns its file has seen, its own or followed one last.
    seen: Vec<Rank>,
    stale: bool,
    /// The other may have its turn.
    followed: bool,
    /// The other's file when they last met.
    met: u128,
    /// Nothing is missing in its copy, as its file has it.
    caught_up: bool,
    /// It has lacked something for longer than it may, and has given no lease for that.
    lags: bool,
    refused: bool,
    /// The other has attempted something since it refused a lease for that.
    lacks: bool,
    /// Its file began empty, and nobody has vouched for it.
    joined: bool,
    /// Central has confirmed its turn since the other's file was this one.
    vouches: Option<u128>,
    off: bool,
    /// A person has said that the other does not run.
    sole: bool,
    /// Central has heard of its turn since.
    told: bool,
    /// An attempt is under way.
    attempting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    left: Limits,
    /// Steps of the clocks of both machines and of central.
    rates: [u8; 3],
    machines: [Machine; 2],
    witness: WitnessRow,
    database: u8,
    messages: Vec<Message>,
    /// The turn in which something that both know was attempted last, and by whom.
    attempted: Option<(usize, Rank)>,
    pub attempted_unseen: bool,
    /// A person was wrong about the other machine: whatever is repeated from here on is by their word.
    misled: bool,
}

fn turn(counter: u64, id: u128) -> Rank {
    (counter, Uuid::from_u128(id))
}

fn first_witness() -> WitnessRow {
    WitnessRow {
        rank: turn(1, 1),
        holder: None,
        left: Duration::ZERO,
        database: "0".into(),
        doubt: false,
    }
}

impl World {
    /// With every combination of clocks of which some run a tenth faster than others.
    pub fn begun(rules: Rules, limits: Limits) -> Vec<Self> {
        let machine = |id, active| Machine {
            id,
            leases: Leases::after_quiet(rules.terms(), Duration::ZERO),
            active,
            seen: vec![turn(1, 1)],
            stale: false,
            followed: true,
            met: 3 - id,
            caught_up: true,
            lags: false,
            refused: false,
            lacks: false,
            joined: false,
            vouches: None,
            off: false,
            sole: false,
            told: false,
            attempting: false,
        };
        let rates = (1..7).map(|n| [n & 1, n >> 1 & 1, n >> 2 & 1].map(|fast| 10 + fast));
        rates
            .map(|rates| Self {
                left: limits,
                rates,
                machines: [machine(1, true), machine(2, false)],
                witness: first_witness(),
                database: 0,
                messages: vec![],
                attempted: None,
                attempted_unseen: false,
                misled: false,
            })
            .collect()
    }

    pub fn leases_overlap(&self) -> bool {
        self.machines
            .iter()
            .all(|machine| machine.leases.held().is_some())
    }

    /// While an attempt of one machine is under way the other may begin one.
    pub fn attempts_overlap(&self) -> bool {
        let [a, b] = &self.machines;
        let both = |one: &Machine, other: &Machine| one.attempting && other.leases.held().is_some();
        both(a, b) || both(b, a)
    }

    /// Its quiet time is longer than a lease: nothing that it promised before it lost its disk lasts.
    pub fn new_disk_gives(&self) -> bool {
        let [a, b] = &self.machines;
        b.id > 2
            && !b.leases.promised().is_zero()
            && a.leases.held().is_some_and(|held| held.by == Giver::Standby)
    }

    /// The one by a person's word, the other by a turn that central gave it since.
    pub fn both_act(&self) -> bool {
        let [a, b] = &self.machines;
        a.active && b.active && (a.sole ^ b.sole) && a.leases.held().or(b.leases.held()).is_some()
    }

    pub fn attempted_by(&self, machine: usize) -> bool {
        self.attempted.is_some_and(|(by, _)| by == machine)
    }

    /// In a turn that only the witness can have given.
    pub fn attempted_alone(&self, machine: usize) -> bool {
        self.attempted
            .is_some_and(|(by, rank)| by == machine && rank.0 > 1)
    }

    pub fn events(&self, events: &mut Vec<Event>) {
        let left = self.left;
        events.extend((left.steps > 0).then_some(Event::Pass(1)));
        events.extend((left.leaps > 0).then_some(Event::Pass(10)));
        for message in 0..self.messages.len() {
            events.extend([Event::Comes(message), Event::Lost(message)]);
        }
        events.push(Event::Meet);
        events.extend((left.handovers > 0).then_some(Event::Handover));
        events.extend((left.restores > 0).then_some(Event::Restore));
        for (n, machine) in self.machines.iter().enumerate() {
            if machine.off {
                events.push(Event::Start(n));
                continue;
            }
            let asks = left.questions > 0 && !machine.seen.is_empty();
            events.extend((asks && machine.active && !machine.sole).then_some(Event::AskStandby(n)));
            events.extend(
                self.wants(n)
                    .filter(|_| asks)
                    .map(|wants| Event::AskWitness(n, wants)),
            );
            let may = machine.active && machine.is_covered();
            events.extend(may.then_some(Event::Attempt(n)));
            events.extend((may && left.attempts > 0).then_some(Event::Begin(n)));
            events.extend((left.forces > 0).then_some(Event::Force(n)));
            let goes_on = machine.active && !machine.sole && left.wrong_words > 0;
            events.extend(goes_on.then_some(Event::ForceWrongly(n)));
            events.extend((left.crashes > 0).then_some(Event::Crash(n)));
            events.extend((left.lost_disks > 0).then_some(Event::LoseDisk(n)));
            events.extend((left.lags > 0 && !machine.active).then_some(Event::Lag(n)));
        }
    }

    /// False where it changes nothing.
    pub fn happens(&mut self, rules: Rules, event: Event) -> bool {
        let changes = self.comes_about(rules, event);
        for machine in &mut self.machines {
            machine.attempting &= machine.is_covered() || !rules.cuts;
        }
        changes
    }

    fn comes_about(&mut self, rules: Rules, event: Event) -> bool {
        match event {
            Event::Pass(steps) => self.pass(steps),
            Event::AskStandby(n) => self.ask_standby(n),
            Event::AskWitness(n, wants) => self.ask_witness(n, wants),
            Event::Comes(message) => {
                let message = self.messages.remove(message);
                self.comes(rules, message)
            }
            Event::Lost(message) => {
                let message = self.messages.remove(message);
                self.lost(&message)
            }
            Event::Attempt(n) => self.attempt(rules, n),
            Event::Begin(n) => {
                self.left.attempts -= 1;
                self.attempt(rules, n);
                !std::mem::replace(&mut self.machines[n].attempting, true)
            }
            Event::Meet => self.meet(rules),
            Event::Handover => self.handover(rules),
            Event::Crash(n) => {
                self.left.crashes -= 1;
                self.crash(rules, n)
            }
            Event::LoseDisk(n) => {
                self.left.lost_disks -= 1;
                self.crash(rules, n);
                let machine = &mut self.machines[n];
                machine.id += 2;
                (machine.active, machine.seen) = (false, vec![]);
                (machine.stale, machine.vouches) = (false, None);
                machine.joined = true;
                machine.catches_up();
                machine.caught_up = false;
                true
            }
            Event::Restore => self.restore(rules),
            Event::Lag(n) => {
                self.left.lags -= 1;
                !std::mem::replace(&mut self.machines[n].lags, true)
            }
            Event::Force(n) => self.force(rules, n),
            Event::ForceWrongly(n) => self.force_wrongly(n),
            Event::Start(n) => self.start(rules, n),
        }
    }

    fn pass(&mut self, steps: u8) -> bool {
        match steps {
            1 => self.left.steps -= 1,
            _ => self.left.leaps -= 1,
        }
        let by = |rate: u8| Duration::from_millis(u64::from(rate) * u64::from(steps));
        for (machine, rate) in self.machines.iter_mut().zip(self.rates) {
            machine.leases.pass(by(rate), by(rate));
        }
        self.witness.left = self.witness.left.saturating_sub(by(self.rates[2]));
        true
    }

    fn attempt(&mut self, rules: Rules, n: usize) -> bool {
        let machine = &self.machines[n];
        if self.misled || (rules.stale && machine.stale) {
            return false;
        }
        let unseen = |(_, rank): (usize, Rank)| !machine.seen.contains(&rank);
        // What a forced machine may repeat, a person has decided.
        self.attempted_unseen |= !machine.sole && (self.attempted.is_some_and(unseen) || machine.lacks);
        let now = Some((n, machine.rank()));
        let other = &mut self.machines[1 - n];
        let lacks = (other.refused || other.off) && !std::mem::replace(&mut other.lacks, true);
        std::mem::replace(&mut self.attempted, now) != now || lacks
    }
}

impl Machine {
    /// Nothing that the other has is missing any more.
    fn catches_up(&mut self) {
        (self.caught_up, self.lags, self.refused, self.lacks) = (true, false, false, false);
    }

    fn steps_down(&mut self) {
        self.leases.renounce();
        (self.active, self.vouches) = (false, None);
    }

    /// By a lease, or a person's word.
    fn is_covered(&self) -> bool {
        self.sole || self.leases.held().is_some()
    }

    fn rank(&self) -> Rank {
        self.seen.last().copied().unwrap_or((0, Uuid::nil()))
    }
}
