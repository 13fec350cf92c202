//! Which lanes may be claimed from, and how much. In memory only; what all nodes must agree on (holds, pauses)
//! is in the store, and here merely remembered so that it is not asked for in vain.
//!
//! Always true: lanes take turns; a lane never has more claimed than its window, or twice that when it is wide open and
//! alone; lanes whose far end fails together never use more than a quarter of the permits, and those that have not been
//! heard of yet, each with one attempt, never more than half; no number of tenants, however slow their far ends, leaves
//! nothing for the next one ([`super::tenants`]).

mod lane;
mod plan;
mod under_way;

pub(super) use under_way::take;

use super::gate::Gate;
use domain::{
    LaneId, Limits, OnAmbiguous, TenantId, Timestamp,
    window::{Rate, Standing},
};
use lane::Lane;
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use store::outbox::{LaneWaiting, LaneWant, Owned};
use under_way::UnderWay;

#[derive(Debug)]
pub(super) struct Lanes {
    lanes: HashMap<LaneId, Lane>,
    ready: VecDeque<LaneId>,
    /// Wait for a place among those that failing or new lanes share, or that their tenant may have.
    crowded_out: VecDeque<LaneId>,
    /// When to look at a lane again: once for each at most, or a busy lane with long delays would fill it.
    timers: BTreeSet<(Timestamp, LaneId)>,
    under_way: UnderWay,
}

/// How the far end behaved in one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It answered, whatever it said about the message.
    Answered,
    /// It did not answer, or refused everybody.
    Silent,
    /// Nothing was sent.
    NotAsked,
    /// Nothing was sent, because it was not the time for it: the next row is not the worse for that.
    Spared,
    /// Nothing was sent, because we refused it ourselves: a far end that nobody has asked yet has not failed, so the next
    /// rows need not come one by one, and one that has failed is no better for it.
    Refused,
}

impl Behaviour {
    fn asked(self) -> bool {
        matches!(self, Behaviour::Answered | Behaviour::Silent)
    }
}

/// The most lanes one claim asks for.
const LANES_PER_CLAIM: usize = 256;

impl Lanes {
    pub fn new(permits: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            crowded_out: VecDeque::new(),
            timers: BTreeSet::new(),
            under_way: UnderWay::new(permits),
        }
    }

    fn lane(&mut self, id: LaneId) -> &mut Lane {
        self.lanes.entry(id).or_insert_with(Lane::new)
    }

    /// The lane may have something due.
    pub fn enqueue(&mut self, id: LaneId) {
        let lane = self.lane(id);
        if !lane.turn.queued {
            lane.turn.queued = true;
            self.ready.push_back(id);
        }
    }

    /// Look at the lane again at this time, or earlier if that was planned already.
    pub fn at(&mut self, id: LaneId, when: Timestamp) {
        let lane = self.lane(id);
        if lane.turn.timer.is_some_and(|planned| planned <= when) {
            return;
        }
        if let Some(later) = lane.turn.timer.replace(when) {
            self.timers.remove(&(later, id));
        }
        self.timers.insert((when, id));
    }

    pub fn next_timer(&self) -> Option<Timestamp> {
        self.timers.first().map(|(when, _)| *when)
    }

    pub fn fire_timers(&mut self, now: Timestamp) {
        while let Some((when, id)) = self.timers.first().copied() {
            if when > now {
                return;
            }
            self.timers.pop_first();
            self.lane(id).turn.timer = None;
            self.enqueue(id);
        }
    }

    /// Takes over what the store says about a lane with rows in it.
    pub fn seen(&mut self, waiting: &LaneWaiting, now: Timestamp) {
        let lane = self.lane(waiting.lane);
        if waiting.held || waiting.not_before.is_some_and(|until| until > now) {
            // Another node may have been told: what waits here for a place goes back.
            lane.gate.shut();
        }
        lane.hold.held = waiting.held;
        lane.hold.next_probe = waiting.next_probe;
        lane.not_before = waiting.not_before;
        let look = match (waiting.held, waiting.next_probe) {
            (true, None) => return,
            (true, Some(probe)) => probe,
            (false, _) => waiting
                .next_due
                .max(waiting.not_before.unwrap_or(waiting.next_due)),
        };
        if look <= now {
            self.enqueue(waiting.lane)
        } else {
            self.at(waiting.lane, look)
        }
    }

    pub fn is_held(&self, id: LaneId) -> bool {
        self.lanes.get(&id).is_some_and(|lane| lane.hold.held)
    }

    pub fn is_known(&self, id: LaneId) -> bool {
        self.lanes.get(&id).is_some_and(|lane| lane.limits.is_some())
    }

    pub fn set_limits(
        &mut self,
        id: LaneId,
        tenant: TenantId,
        limits: &Limits,
        on_ambiguous: OnAmbiguous,
        now: Timestamp,
    ) {
        let Self { lanes, under_way, .. } = self;
        let lane = lanes.entry(id).or_insert_with(Lane::new);
        under_way.moves(&mut lane.count, tenant, lane.window.standing());
        lane.may_claim_ahead = on_ambiguous == OnAmbiguous::Resend;
        if lane.limits.as_ref() == Some(limits) {
            return;
        }
        lane.gate.resize(limits.concurrency.max(1) as usize);
        lane.rate = limits.per_second.map(|per_second| Rate::new(per_second, now));
        lane.limits = Some(limits.clone());
    }

    pub fn gate(&mut self, id: LaneId) -> Arc<Gate> {
        self.lane(id).gate.clone()
    }

    /// The process is stopping: what waits for a place goes back.
    pub fn close_gates(&self) {
        self.lanes.values().for_each(|lane| lane.gate.close());
    }

    /// Lanes whose turn it is but whose limits are not known yet.
    pub fn unknown_ready(&self) -> Vec<LaneId> {
        self.ready
            .iter()
            .copied()
            .take(LANES_PER_CLAIM)
            .filter(|id| !self.is_known(*id))
            .collect()
    }

    /// Lanes with limits over all nodes whose turn it is and that this node does not own, or not for much longer.
    pub fn unowned_ready(&self, now: Timestamp) -> Vec<LaneId> {
        let ready = self.ready.iter().copied().take(LANES_PER_CLAIM);
        ready
            .filter(|id| {
                let lane = self.lanes.get(id);
                lane.is_some_and(|l| l.has_one_owner() && l.owned_until.is_none_or(|until| until <= now))
            })
            .collect()
    }

    /// Who claims from the lane; to be asked again after a while.
    pub fn owned(&mut self, id: LaneId, owned: Owned, now: Timestamp, ask_after: Duration) {
        let lane = self.lane(id);
        let was_ours = lane.owned_until.is_some();
        lane.owned_until = (owned != Owned::ByAnother).then_some(now + ask_after);
        match owned {
            Owned::ByAnother => {
                self.unqueue(id);
                self.at(id, now + ask_after);
            }
            Owned::First => {}
            Owned::Still if was_ours => {}
            // What another node, or this one before it was started again, has let through lately is not known here.
            Owned::Still | Owned::TakenOver => {
                if let Some(rate) = &mut lane.rate {
                    rate.empty(now);
                }
            }
        }
    }

    /// A row of the lane has become so many requests more than it was planned as.
    pub fn asks_more(&mut self, id: LaneId, more: usize) {
        if let Some(rate) = &mut self.lane(id).rate {
            rate.take(more);
        }
    }

    pub fn skip(&mut self, id: LaneId) {
        self.lane(id).skipped = true;
    }

    /// The directory changed: what could not be used may be usable now.
    pub fn reconsider_skipped(&mut self) {
        let skipped: Vec<_> = self
            .lanes
            .iter()
            .filter(|(_, l)| l.skipped)
            .map(|(id, _)| *id)
            .collect();
        for id in skipped {
            self.lane(id).skipped = false;
            self.enqueue(id);
        }
    }

    fn unqueue(&mut self, id: LaneId) {
        self.lane(id).turn.queued = false;
        self.ready.retain(|other| *other != id);
    }

    /// The claim is back: `got` of the `n` rows that room was reserved for.
    pub fn claimed(&mut self, want: LaneWant, got: usize) {
        let n = want.n as usize;
        self.give_back(want.lane, n.saturating_sub(got));
        if let Some(rate) = &mut self.lane(want.lane).rate {
            rate.give_back(n.saturating_sub(got));
        }
        if got >= n {
            self.enqueue(want.lane);
        }
        if let Some(until) = self.lane(want.lane).owned_until.filter(|_| got > 0) {
            // It stays ours while something of it is under way.
            self.at(want.lane, until);
        }
    }

    /// So many rows came with so many bytes of content.
    pub fn weighed(&mut self, id: LaneId, rows: usize, bytes: usize) {
        let lane = self.lane(id);
        lane.weight = (lane.weight / 2).max(bytes.checked_div(rows).unwrap_or(0));
    }

    /// A probe's claim is back.
    pub fn probe_claimed(&mut self, id: LaneId, got: bool) {
        let Self { lanes, under_way, .. } = self;
        let lane = lanes.entry(id).or_insert_with(Lane::new);
        lane.hold.probing = got;
        under_way.enter(&mut lane.count, usize::from(got));
    }

    /// One attempt of the lane is over.
    pub fn finished(&mut self, id: LaneId, behaviour: Behaviour) {
        let Self { lanes, under_way, .. } = self;
        let lane = lanes.entry(id).or_insert_with(Lane::new);
        match behaviour {
            Behaviour::Answered => lane.window.answered(lane.concurrency()),
            Behaviour::Silent => lane.window.did_not_answer(),
            Behaviour::NotAsked => {}
            Behaviour::Spared => lane.window.answered(lane.concurrency()),
            Behaviour::Refused if lane.window.standing() == Standing::New => {
                lane.window.answered(lane.concurrency());
            }
            Behaviour::Refused => {}
        }
        if let (false, Some(rate)) = (behaviour.asked(), &mut lane.rate) {
            rate.give_back(1);
        }
        let tenant = lane.count.tenant();
        under_way.moves(&mut lane.count, tenant, lane.window.standing());
        self.give_back(id, 1);
    }

    pub fn probe_over(&mut self, id: LaneId, held: bool, next_probe: Option<Timestamp>) {
        let lane = self.lane(id);
        lane.hold.probing = false;
        self.held(id, held, next_probe);
    }

    pub fn held(&mut self, id: LaneId, held: bool, next_probe: Option<Timestamp>) {
        let lane = self.lane(id);
        if held {
            lane.gate.shut();
        }
        lane.hold.held = held;
        lane.hold.next_probe = next_probe;
        match (held, next_probe) {
            (false, _) => self.enqueue(id),
            (true, Some(when)) => self.at(id, when),
            (true, None) => {}
        }
    }

    pub fn paused(&mut self, id: LaneId, until: Timestamp) {
        let lane = self.lane(id);
        // Also what a claim has brought since the attempt that was told so: nobody hears their own announcement.
        lane.gate.shut();
        lane.not_before = Some(lane.not_before.map_or(until, |known| known.max(until)));
        self.at(id, until);
    }

    fn give_back(&mut self, id: LaneId, n: usize) {
        if n == 0 {
            return;
        }
        let Self { lanes, under_way, .. } = self;
        let lane = lanes.entry(id).or_insert_with(Lane::new);
        under_way.leave(&mut lane.count, n);
        let wants_room = std::mem::take(&mut lane.turn.wants_room);
        if wants_room {
            self.enqueue(id);
        }
        // Somebody who was crowded out may fit now; the plan decides.
        while let Some(waiting) = self.crowded_out.pop_front() {
            self.ready.push_back(waiting);
        }
    }

    pub fn anything_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub fn sending(&self) -> usize {
        self.under_way.all()
    }

    pub fn has_room(&self) -> bool {
        self.under_way.free() > 0
    }
}

#[cfg(test)]
mod histories;
#[cfg(test)]
mod tests;
