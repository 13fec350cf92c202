//! Two machines and central, and everything that can happen to them.

use domain::pair::{
    Follower, Giver, LeaseAnswer, LeaseAsk, Leases, Rank, Terms, Wanted, WitnessRow, witness,
};
use std::time::Duration;
use uuid::Uuid;

/// Which rules are in force.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// A giver counts a tenth longer, and a margin.
    pub margin: bool,
    /// Nothing is asked or promised right after a start.
    pub quiet: bool,
    /// A stale machine attempts nothing that it inherited.
    pub stale: bool,
    pub notices_restore: bool,
}

impl Rules {
    pub const ALL: Self = Self {
        margin: true,
        quiet: true,
        stale: true,
        notices_restore: true,
    };

    /// A tenth of a lease is a step of time, nearly: a clock that runs faster is a whole step ahead at its end.
    fn terms(self) -> Terms {
        let lease = Duration::from_millis(110);
        match self.margin {
            true => Terms {
                lease,
                margin: Duration::from_millis(4),
                drift: 10,
            },
            false => Terms {
                lease,
                margin: Duration::ZERO,
                drift: 0,
            },
        }
    }
}

/// How often things happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// A tenth of a lease, or nearly all of it.
    pub steps: u8,
    pub leaps: u8,
    pub questions: u8,
    pub handovers: u8,
    pub crashes: u8,
    pub lost_disks: u8,
    pub restores: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1,
            leaps: 2,
            questions: 3,
            handovers: 0,
            crashes: 0,
            lost_disks: 0,
            restores: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// So many steps of time.
    Pass(u8),
    AskStandby(usize),
    AskWitness(usize),
    /// One of the messages under way comes; the others may overtake it.
    Comes(usize),
    /// It never does: whoever asked gives up.
    Lost(usize),
    Attempt(usize),
    /// The machines talk: the lower one steps down, or the standby gets a whole copy.
    Meet,
    Handover,
    Crash(usize),
    LoseDisk(usize),
    /// Central's database is put back to what it was in the beginning.
    Restore,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Message {
    ToStandby {
        from: usize,
        number: u64,
        rank: Rank,
    },
    Promised {
        to: usize,
        number: u64,
    },
    ToWitness {
        from: usize,
        number: u64,
        ask: Ask,
    },
    Granted {
        to: usize,
        number: u64,
        rank: Rank,
        stale: bool,
    },
}

/// What of a question to the witness changes here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Ask {
    rank: Rank,
    holds: bool,
    renews: bool,
    stale: bool,
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
            })
            .collect()
    }

    pub fn leases_overlap(&self) -> bool {
        self.machines
            .iter()
            .all(|machine| machine.leases.held().is_some())
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
            let asks = left.questions > 0 && !machine.seen.is_empty();
            events.extend((asks && machine.active).then_some(Event::AskStandby(n)));
            events.extend(asks.then_some(Event::AskWitness(n)));
            events.extend((machine.active && machine.leases.held().is_some()).then_some(Event::Attempt(n)));
            events.extend((left.crashes > 0).then_some(Event::Crash(n)));
            events.extend((left.lost_disks > 0).then_some(Event::LoseDisk(n)));
        }
    }

    /// False where it changes nothing.
    pub fn happens(&mut self, rules: Rules, event: Event) -> bool {
        match event {
            Event::Pass(steps) => self.pass(steps),
            Event::AskStandby(n) => self.ask_standby(n),
            Event::AskWitness(n) => self.ask_witness(n),
            Event::Comes(message) => {
                let message = self.messages.remove(message);
                self.comes(rules, message)
            }
            Event::Lost(message) => {
                let message = self.messages.remove(message);
                self.lost(&message)
            }
            Event::Attempt(n) => self.attempt(rules, n),
            Event::Meet => self.meet(),
            Event::Handover => self.handover(),
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
                true
            }
            Event::Restore => self.restore(rules),
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

    fn says(&mut self, message: Message) -> bool {
        self.messages.push(message);
        self.messages.sort();
        true
    }

    fn ask_standby(&mut self, n: usize) -> bool {
        let machine = &mut self.machines[n];
        let Some(number) = machine.leases.ask(Giver::Standby) else {
            return false;
        };
        self.left.questions -= 1;
        let rank = machine.rank();
        self.says(Message::ToStandby {
            from: n,
            number,
            rank,
        })
    }

    fn ask_witness(&mut self, n: usize) -> bool {
        let machine = &mut self.machines[n];
        let Some(number) = machine.leases.ask(Giver::Witness) else {
            return false;
        };
        self.left.questions -= 1;
        let ask = Ask {
            rank: machine.rank(),
            holds: machine.leases.held().is_some(),
            renews: machine.active && !machine.followed,
            stale: machine.stale,
        };
        self.says(Message::ToWitness { from: n, number, ask })
    }

    fn comes(&mut self, rules: Rules, message: Message) -> bool {
        match message {
            Message::ToStandby { from, number, rank } => {
                let standby = &mut self.machines[1 - from];
                let own = Follower {
                    follows: !standby.active && !standby.seen.is_empty(),
                    rank: standby.rank(),
                    caught_up: true,
                };
                match standby.leases.promise(rank, rules.terms().lease, own) {
                    Ok(_) => self.says(Message::Promised { to: from, number }),
                    Err(_) => self.gives_up(from, number),
                }
            }
            Message::Promised { to, number } => {
                let lease = rules.terms().lease;
                self.machines[to].leases.granted(number, lease);
                true
            }
            Message::ToWitness { from, number, ask } => self.witness_is_asked(rules, from, number, ask),
            Message::Granted {
                to,
                number,
                rank,
                stale,
            } => {
                let machine = &mut self.machines[to];
                if machine.leases.granted(number, rules.terms().lease) && machine.rank() != rank {
                    machine.seen.push(rank);
                    (machine.active, machine.followed) = (true, false);
                    machine.stale |= stale;
                }
                true
            }
        }
    }

    fn witness_is_asked(&mut self, rules: Rules, from: usize, number: u64, ask: Ask) -> bool {
        let machine = &self.machines[from];
        let asked = LeaseAsk {
            node: Uuid::from_u128(machine.id),
            rank: ask.rank,
            lease: rules.terms().lease,
            holds: ask.holds,
            caught_up: !ask.stale,
            wanted: match ask.renews {
                true => Wanted::Renewal,
                false => Wanted::NewTurn,
            },
        };
        let new = Uuid::from_u128(machine.id + 10 * u128::from(self.database));
        let database = self.database.to_string();
        let (row, said) = witness::answer(rules.terms(), Some(&self.witness), &database, &asked, new);
        if let Some(row) = row {
            self.witness = row;
        }
        match said {
            LeaseAnswer::Granted { rank, stale, .. } => self.says(Message::Granted {
                to: from,
                number,
                rank,
                stale,
            }),
            _ => self.gives_up(from, number),
        }
    }

    fn gives_up(&mut self, machine: usize, number: u64) -> bool {
        self.machines[machine].leases.gave_up(number);
        true
    }

    fn lost(&mut self, message: &Message) -> bool {
        match *message {
            Message::ToStandby { from, number, .. } | Message::ToWitness { from, number, .. } => {
                self.gives_up(from, number)
            }
            Message::Promised { to, number } | Message::Granted { to, number, .. } => {
                self.gives_up(to, number)
            }
        }
    }

    fn attempt(&mut self, rules: Rules, n: usize) -> bool {
        let machine = &self.machines[n];
        if rules.stale && machine.stale {
            return false;
        }
        let unseen = |(_, rank): (usize, Rank)| !machine.seen.contains(&rank);
        self.attempted_unseen |= self.attempted.is_some_and(unseen);
        let now = Some((n, machine.rank()));
        std::mem::replace(&mut self.attempted, now) != now
    }

    fn meet(&mut self) -> bool {
        let [a, b] = &self.machines;
        let winner = match (a.active, b.active) {
            (true, true) => usize::from(b.rank() > a.rank()),
            (true, false) => 0,
            (false, true) => 1,
            (false, false) => return false,
        };
        let other = self.machines[1 - winner].clone();
        if other.rank() > self.machines[winner].rank() {
            let machine = &mut self.machines[winner];
            machine.active = false;
            machine.leases.renounce();
            return true;
        }
        let before = self.machines.clone();
        let machine = &mut self.machines[winner];
        // A machine that lost its disk tells nothing, and neither does one that has copied from this one since.
        let learns = !other.seen.is_empty() && !other.seen.contains(&machine.rank());
        let new = other.seen.into_iter().filter(|rank| !machine.seen.contains(rank));
        // What only the other had seen is handed in; its own turn stays the last.
        let unseen: Vec<_> = new.collect();
        machine.seen.splice(0..0, unseen);
        (machine.stale, machine.followed) = (machine.stale && !learns, true);
        let (seen, stale) = (machine.seen.clone(), machine.stale);
        let loser = &mut self.machines[1 - winner];
        if loser.active {
            loser.leases.renounce();
        }
        (loser.active, loser.stale, loser.seen) = (false, stale, seen);
        self.machines != before
    }

    /// The active one begins nothing more and says so; the standby, which has everything, takes over.
    fn handover(&mut self) -> bool {
        let from = usize::from(self.machines[1].active);
        let [a, b] = &self.machines;
        if a.active == b.active || a.seen != b.seen {
            return false;
        }
        self.left.handovers -= 1;
        let old = &mut self.machines[from];
        old.leases.renounce();
        old.active = false;
        let counter = old.rank().0 + 1;
        let new = &mut self.machines[1 - from];
        new.leases.released();
        new.seen.push(turn(counter, 100 + new.id));
        (new.active, new.followed) = (true, true);
        true
    }

    fn crash(&mut self, rules: Rules, n: usize) -> bool {
        let quiet = match rules.quiet {
            true => Leases::started(rules.terms()),
            false => Leases::after_quiet(rules.terms(), Duration::ZERO),
        };
        let machine = &mut self.machines[n];
        (machine.leases, machine.followed) = (quiet, true);
        self.messages.retain(|message| match message {
            Message::ToStandby { from, .. } | Message::ToWitness { from, .. } => *from != n,
            Message::Promised { to, .. } | Message::Granted { to, .. } => *to != n,
        });
        true
    }

    /// Whoever was connected has to connect anew: no question of before comes.
    fn restore(&mut self, rules: Rules) -> bool {
        self.left.restores -= 1;
        self.witness = first_witness();
        if rules.notices_restore {
            self.database += 1;
        }
        let (gone, stay) = std::mem::take(&mut self.messages)
            .into_iter()
            .partition(|message| matches!(message, Message::ToWitness { .. }));
        self.messages = stay;
        let gone: Vec<Message> = gone;
        for message in gone {
            self.lost(&message);
        }
        true
    }
}

impl Machine {
    fn rank(&self) -> Rank {
        self.seen.last().copied().unwrap_or((0, Uuid::nil()))
    }
}
