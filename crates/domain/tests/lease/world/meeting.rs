//! The machines talk, hand over, crash; central's database is put back.

use super::{World, asking::Message, first_witness, turn};
use crate::rules::Rules;
use domain::pair::Leases;
use std::time::Duration;

impl World {
    pub(super) fn meet(&mut self, rules: Rules) -> bool {
        let [a, b] = &self.machines;
        if a.off || b.off {
            return false;
        }
        let winner = match (a.active, b.active) {
            (true, true) => usize::from(b.rank() > a.rank()),
            (true, false) => 0,
            (false, true) => 1,
            (false, false) => return false,
        };
        let before = self.machines.clone();
        self.machines.iter_mut().for_each(|machine| machine.sole = false);
        let other = before[1 - winner].clone();
        (self.machines[0].met, self.machines[1].met) = (before[1].id, before[0].id);
        if other.rank() > before[winner].rank() {
            self.machines[winner].steps_down();
            return true;
        }
        let machine = &mut self.machines[winner];
        // A machine that lost its disk tells nothing, and neither does one that has copied from this one since, or is stale itself.
        let lost = rules.brings_its_disk && (machine.joined || other.joined || other.stale);
        let learns = !other.seen.is_empty() && !other.seen.contains(&machine.rank()) && !lost;
        let new = other.seen.into_iter().filter(|rank| !machine.seen.contains(rank));
        // What only the other had seen is handed in; its own turn stays the last.
        let unseen: Vec<_> = new.collect();
        machine.seen.splice(0..0, unseen);
        (machine.stale, machine.followed) = (machine.stale && !learns, true);
        machine.lacks &= !learns;
        let (seen, stale, vouches) = (machine.seen.clone(), machine.stale, machine.vouches);
        let loser = &mut self.machines[1 - winner];
        if loser.active {
            loser.steps_down();
        }
        loser.joined &= vouches != Some(loser.id);
        (loser.stale, loser.seen) = (stale, seen);
        loser.catches_up();
        self.machines != before
    }

    /// The active one begins nothing more and says so; the standby, which has everything, takes over. Where neither is active, a person
    /// has the one take over that has more.
    pub(super) fn handover(&mut self, rules: Rules) -> bool {
        let [a, b] = &self.machines;
        if a.off || b.off {
            return false;
        }
        let to = match (a.active, b.active) {
            (true, true) => return false,
            (true, false) => 1,
            (false, true) => 0,
            (false, false) => usize::from(b.rank() > a.rank()),
        };
        let (old, new) = (&self.machines[1 - to], &self.machines[to]);
        if (old.active && old.seen != new.seen)
            || new.seen.is_empty()
            || (rules.confirmed && new.joined)
            || new.lags
        {
            return false;
        }
        self.left.handovers -= 1;
        let counter = old.rank().0.max(new.rank().0) + 1;
        self.machines[1 - to].steps_down();
        let new = &mut self.machines[to];
        new.leases.released();
        new.seen.push(turn(counter, 100 + new.id));
        (new.active, new.followed) = (true, true);
        true
    }

    /// The other machine is switched off, and a person says so: this one attempts everything, without a lease.
    pub(super) fn force(&mut self, rules: Rules, n: usize) -> bool {
        let [machine, other] = [&self.machines[n], &self.machines[1 - n]];
        if other.off || machine.sole || machine.seen.is_empty() {
            return false;
        }
        self.left.forces -= 1;
        self.crash(rules, 1 - n);
        self.machines[1 - n].off = true;
        let machine = &mut self.machines[n];
        if rules.forced_turn || !machine.active || machine.stale {
            machine.seen.push(turn(machine.rank().0 + 1, 200 + machine.id));
        }
        machine.leases.released();
        (machine.active, machine.sole, machine.stale) = (true, true, false);
        machine.told = false;
        machine.joined = false;
        machine.catches_up();
        true
    }

    /// The other machine runs, and knows nothing of it until the two meet.
    pub(super) fn force_wrongly(&mut self, n: usize) -> bool {
        self.left.wrong_words -= 1;
        self.misled = true;
        let machine = &mut self.machines[n];
        machine.seen.push(turn(machine.rank().0 + 1, 200 + machine.id));
        (machine.sole, machine.told) = (true, false);
        (machine.stale, machine.joined) = (false, false);
        true
    }

    /// Where central has not heard of the turn of the other by then, nobody can tell this machine of it.
    pub(super) fn start(&mut self, rules: Rules, n: usize) -> bool {
        let other = &self.machines[1 - n];
        if other.sole && !other.told {
            return false;
        }
        self.machines[n].off = false;
        self.crash(rules, n)
    }

    pub(super) fn crash(&mut self, rules: Rules, n: usize) -> bool {
        let quiet = match rules.quiet {
            true => Leases::started(rules.terms()),
            false => Leases::after_quiet(rules.terms(), Duration::ZERO),
        };
        let machine = &mut self.machines[n];
        (machine.leases, machine.followed) = (quiet, true);
        machine.attempting = false;
        self.messages.retain(|message| match message {
            Message::ToStandby { from, .. } | Message::ToWitness { from, .. } => *from != n,
            Message::Promised { to, .. } | Message::Granted { to, .. } => *to != n,
        });
        true
    }

    /// Whoever was connected has to connect anew: no question of before comes.
    pub(super) fn restore(&mut self, rules: Rules) -> bool {
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
