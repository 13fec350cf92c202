//! Questions and answers, which come late, in another order or never.

use super::World;
use crate::rules::Rules;
use domain::pair::{Follower, Giver, LeaseAnswer, LeaseAsk, NoPromise, Rank, Wanted, witness};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Message {
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
        ask: Ask,
        rank: Rank,
        stale: bool,
    },
}

/// A question to the witness, and what the asker was then.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ask {
    active: bool,
    rank: Rank,
    seen: Vec<Rank>,
    holds: bool,
    wants: Wants,
    caught_up: bool,
    stale: bool,
    /// The other machine's file, as the asker knows it while it asks.
    met: u128,
}

/// What is wanted of the witness, in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wants {
    Renewal,
    Turn,
    Known,
}

impl World {
    /// A standby takes over; an active one leaves the other behind, or goes on in its turn where the other does not have it or follows; one
    /// whose standby gave the lease, or that needs none, tells of its turn.
    pub(super) fn wants(&self, n: usize) -> impl Iterator<Item = Wants> {
        let (machine, other) = (&self.machines[n], &self.machines[1 - n]);
        let is_fetched_from = !other.active && !other.off && other.rank() == machine.rank();
        let renews = machine.active && !machine.sole && (!machine.followed || is_fetched_from);
        let held = machine.leases.held();
        let tells = machine.sole || held.is_some_and(|held| held.by == Giver::Standby);
        let turn = (!machine.active || (machine.followed && !machine.sole)).then_some(Wants::Turn);
        let known = (machine.active && tells).then_some(Wants::Known);
        [renews.then_some(Wants::Renewal), turn, known]
            .into_iter()
            .flatten()
    }

    fn says(&mut self, message: Message) -> bool {
        self.messages.push(message);
        self.messages.sort();
        true
    }

    pub(super) fn ask_standby(&mut self, n: usize) -> bool {
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

    pub(super) fn ask_witness(&mut self, n: usize, wants: Wants) -> bool {
        let machine = &mut self.machines[n];
        let Some(number) = machine.leases.ask(Giver::Witness) else {
            return false;
        };
        self.left.questions -= 1;
        let ask = Ask {
            active: machine.active,
            rank: machine.rank(),
            seen: machine.seen.clone(),
            holds: machine.sole || machine.leases.held().is_some(),
            wants,
            caught_up: machine.active || machine.caught_up,
            stale: machine.stale,
            met: machine.met,
        };
        self.says(Message::ToWitness { from: n, number, ask })
    }

    pub(super) fn comes(&mut self, rules: Rules, message: Message) -> bool {
        match message {
            Message::ToStandby { from, number, .. } if self.machines[1 - from].off => {
                self.gives_up(from, number)
            }
            Message::ToStandby { from, number, rank } => {
                let standby = &mut self.machines[1 - from];
                let own = Follower {
                    follows: !standby.active && !standby.seen.is_empty(),
                    rank: standby.rank(),
                    caught_up: standby.caught_up && !standby.lags,
                    confirmed: !(rules.confirmed && standby.joined),
                };
                match standby.leases.promise(rank, rules.terms().lease, own) {
                    Ok(_) => self.says(Message::Promised { to: from, number }),
                    Err(why) => {
                        if why == NoPromise::Behind {
                            standby.refused = true;
                            standby.caught_up &= !rules.marks_lag;
                        }
                        self.gives_up(from, number)
                    }
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
                ask,
                rank,
                stale,
            } => self.turn_is_granted(rules, (to, number), ask, rank, stale),
        }
    }

    fn turn_is_granted(
        &mut self,
        rules: Rules,
        (to, number): (usize, u64),
        ask: Ask,
        rank: Rank,
        stale: bool,
    ) -> bool {
        let machine = &mut self.machines[to];
        let same = (ask.active, ask.rank) == (machine.active, machine.rank());
        if rules.same_as_asked && !same {
            // It has handed over or followed somebody since: what was given is for a file that stands elsewhere.
            return self.gives_up(to, number);
        }
        // The turn is on the disk before the lease counts, also where that is over already.
        if machine.rank() != rank {
            machine.seen.push(rank);
            (machine.active, machine.followed) = (true, false);
            machine.stale |= stale && !machine.sole;
            machine.joined &= machine.stale;
            (machine.caught_up, machine.lags, machine.refused) = (true, false, false);
        }
        if machine.leases.granted(number, rules.terms().lease) {
            (machine.joined, machine.vouches) = (machine.joined && machine.stale, Some(ask.met));
        }
        true
    }

    fn witness_is_asked(&mut self, rules: Rules, from: usize, number: u64, ask: Ask) -> bool {
        let machine = &self.machines[from];
        let asked = LeaseAsk {
            node: Uuid::from_u128(machine.id),
            rank: ask.rank,
            seen: ask.seen.clone(),
            lease: rules.terms().lease,
            holds: ask.holds,
            caught_up: ask.caught_up && !ask.stale,
            // The same while its file is where it was: whoever was answered is in another turn.
            question: match rules.same_question {
                true => Uuid::from_u128(1_000 * machine.id + 100 * u128::from(ask.rank.0) + 2),
                false => Uuid::nil(),
            },
            wanted: match ask.wants {
                Wants::Renewal => Wanted::Renewal,
                Wants::Turn => Wanted::NewTurn,
                Wants::Known => Wanted::Known,
            },
        };
        let new = Uuid::from_u128(machine.id + 10 * u128::from(self.database));
        let database = self.database.to_string();
        let (row, said) = witness::answer(rules.terms(), Some(&self.witness), &database, &asked, new);
        if let Some(row) = row {
            self.witness = row;
        }
        if said == LeaseAnswer::Known && !rules.goes_on_counting {
            (self.witness.holder, self.witness.left) = (None, Duration::ZERO);
        }
        let heard = self.witness.rank == ask.rank || matches!(said, LeaseAnswer::Granted { .. });
        let machine = &mut self.machines[from];
        machine.told |= machine.sole && machine.rank() == ask.rank && heard;
        match said {
            LeaseAnswer::Granted { rank, stale, .. } => self.says(Message::Granted {
                to: from,
                number,
                ask,
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

    pub(super) fn lost(&mut self, message: &Message) -> bool {
        match *message {
            Message::ToStandby { from, number, .. } | Message::ToWitness { from, number, .. } => {
                self.gives_up(from, number)
            }
            Message::Promised { to, number } | Message::Granted { to, number, .. } => {
                self.gives_up(to, number)
            }
        }
    }
}
