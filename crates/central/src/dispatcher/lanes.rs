//! Which lanes may be claimed from, and how much. In memory only; what all nodes must agree on (holds, pauses)
//! is in the store, and here merely remembered so that it is not asked for in vain.
//!
//! Always true: lanes take turns; a lane never has more claimed than its window, or twice that when it is wide open and
//! alone; lanes whose far end fails together never use more than a quarter of the permits, and those that have not been
//! heard of yet, each with one attempt, never more than half; no number of tenants, however slow their far ends, leaves
//! nothing for the next one ([`Tenants`]).

use super::{gate::Gate, tenants::Tenants};
use domain::{
    LaneId, Limits, OnAmbiguous, TenantId, Timestamp,
    window::{Rate, Standing, Window},
};
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use store::outbox::{LaneWaiting, LaneWant};

#[derive(Debug)]
pub(super) struct Lane {
    /// Whose it is; a lane that nothing is known of yet counts as the first tenant's.
    tenant: TenantId,
    window: Window,
    /// Claimed and not yet finished.
    sending: usize,
    queued: bool,
    /// Had no room when its turn came, or little: queue it again when one of its attempts is over.
    wants_room: bool,
    /// Until then it is not claimed from for a few places only.
    patient_until: Option<Timestamp>,
    limits: Option<Limits>,
    /// Where its attempts are made.
    gate: Arc<Gate>,
    /// What its rows have weighed lately, in bytes each.
    weight: usize,
    /// A claim that is lost in a crash does no harm, so it may be made before there is a place for the row.
    may_claim_ahead: bool,
    rate: Option<Rate>,
    /// For rate-limited lanes: until when this node is the one that claims.
    owned_until: Option<Timestamp>,
    held: bool,
    next_probe: Option<Timestamp>,
    probing: bool,
    not_before: Option<Timestamp>,
    /// This node cannot use it (no key for its secrets).
    skipped: bool,
    timer: Option<Timestamp>,
}

impl Lane {
    fn new() -> Self {
        Self {
            tenant: TenantId::DEFAULT,
            window: Window::default(),
            sending: 0,
            queued: false,
            wants_room: false,
            patient_until: None,
            limits: None,
            gate: Arc::new(Gate::new(1)),
            weight: 0,
            may_claim_ahead: false,
            rate: None,
            owned_until: None,
            held: false,
            next_probe: None,
            probing: false,
            not_before: None,
            skipped: false,
            timer: None,
        }
    }

    fn size(&self) -> usize {
        let concurrency = self.limits.as_ref().map_or(1, |l| l.concurrency);
        self.window.size(concurrency)
    }

    /// Rows to have ready for when places come free, so that a far end that is quick does not wait for the store. Not for
    /// few places: claims are cheap there, and order is kept.
    fn ahead(&self) -> usize {
        let concurrency = self.limits.as_ref().map_or(1, |l| l.concurrency) as usize;
        let answering = self.window.standing() == Standing::Answering;
        let wide_open = answering && self.size() == concurrency && self.rate.is_none();
        let worth_it = self.may_claim_ahead && concurrency >= FEW;
        if wide_open && worth_it { concurrency } else { 0 }
    }

    /// How much may be claimed, and how much more makes a claim worth its price: it costs the store as much as thirty
    /// rows do.
    fn room(&self, alone: bool) -> (usize, usize) {
        let (size, ahead) = (self.size(), if alone { self.ahead() } else { 0 });
        let enough = if ahead > 0 { size } else { size / 4 };
        ((size + ahead).saturating_sub(self.sending), enough.max(1))
    }
}

#[derive(Debug)]
pub(super) struct Lanes {
    permits: usize,
    lanes: HashMap<LaneId, Lane>,
    ready: VecDeque<LaneId>,
    /// Wait for a place among those that failing or new lanes share, or that their tenant may have.
    crowded_out: VecDeque<LaneId>,
    /// When to look at a lane again: once for each at most, or a busy lane with long delays would fill it.
    timers: BTreeSet<(Timestamp, LaneId)>,
    sending: usize,
    /// Of those, what lanes have under way whose far end fails, and that have not been heard of yet.
    failing: usize,
    new: usize,
    tenants: Tenants,
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
}

/// The most bytes of content one claim is meant to bring. Rows are heavy one by one, not by surprise: a lane's first claims
/// are small.
const BYTES_PER_CLAIM: usize = 16 << 20;
/// With fewer places than this a lane is not claimed from ahead of them.
const FEW: usize = 16;
/// The most lanes one claim asks for.
const LANES_PER_CLAIM: usize = 256;
/// How long a lane with little room waits for more of it.
const A_MOMENT: Duration = Duration::from_millis(5);

impl Lanes {
    pub fn new(permits: usize) -> Self {
        Self {
            permits,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            crowded_out: VecDeque::new(),
            timers: BTreeSet::new(),
            sending: 0,
            failing: 0,
            new: 0,
            tenants: Tenants::new(permits),
        }
    }

    /// What lanes of this standing have under way, and the most they may have; none if nothing bounds them.
    fn shared(&mut self, standing: Standing) -> Option<(&mut usize, usize)> {
        match standing {
            Standing::Answering => None,
            Standing::Failing => Some((&mut self.failing, (self.permits / 4).max(1))),
            Standing::New => Some((&mut self.new, (self.permits / 2).max(1))),
        }
    }

    fn lane(&mut self, id: LaneId) -> &mut Lane {
        self.lanes.entry(id).or_insert_with(Lane::new)
    }

    /// The lane may have something due.
    pub fn enqueue(&mut self, id: LaneId) {
        let lane = self.lane(id);
        if !lane.queued {
            lane.queued = true;
            self.ready.push_back(id);
        }
    }

    /// Look at the lane again at this time, or earlier if that was planned already.
    pub fn at(&mut self, id: LaneId, when: Timestamp) {
        let lane = self.lane(id);
        if lane.timer.is_some_and(|planned| planned <= when) {
            return;
        }
        if let Some(later) = lane.timer.replace(when) {
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
            self.lane(id).timer = None;
            self.enqueue(id);
        }
    }

    /// Takes over what the store says about a lane with rows in it.
    pub fn seen(&mut self, waiting: &LaneWaiting, now: Timestamp) {
        let lane = self.lane(waiting.lane);
        lane.held = waiting.held;
        lane.next_probe = waiting.next_probe;
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
        let lane = self.lane(id);
        let (before, sending) = (std::mem::replace(&mut lane.tenant, tenant), lane.sending);
        if before != tenant {
            self.tenants.over(before, sending);
            self.tenants.started(tenant, sending);
        }
        let lane = self.lane(id);
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

    /// Rate-limited lanes whose turn it is and that this node does not own, or not for much longer.
    pub fn unowned_ready(&self, now: Timestamp) -> Vec<LaneId> {
        let ready = self.ready.iter().copied().take(LANES_PER_CLAIM);
        ready
            .filter(|id| {
                let lane = self.lanes.get(id);
                lane.is_some_and(|l| l.rate.is_some() && l.owned_until.is_none_or(|until| until <= now))
            })
            .collect()
    }

    /// `until`: this node claims from the lane until then. None: another one does; ask again later.
    pub fn owned(&mut self, id: LaneId, until: Option<Timestamp>, ask_again: Timestamp) {
        self.lane(id).owned_until = until;
        if until.is_none() {
            self.unqueue(id);
            self.at(id, ask_again);
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
        self.lane(id).queued = false;
        self.ready.retain(|other| *other != id);
    }

    /// What to claim now, at most `most` rows. Room is reserved; [`Lanes::claimed`] gives back what was not used.
    pub fn plan(&mut self, now: Timestamp, batch: usize, most: usize) -> Plan {
        let mut free = self.tenants.places().saturating_sub(self.sending).min(most);
        let turns = self.ready.len();
        let share = (self.permits.saturating_sub(self.sending).min(most) / turns.max(1)).max(1);
        // Who is alone need not leave any for others.
        let batch = if turns == 1 { usize::MAX } else { batch };
        let mut plan = Plan::default();
        for _ in 0..turns {
            if free == 0 || plan.wants.len() >= LANES_PER_CLAIM {
                break;
            }
            let Some(id) = self.ready.pop_front() else { break };
            let lane = self.lane(id);
            lane.queued = false;
            if lane.skipped {
                continue;
            }
            if lane.held {
                if lane.next_probe.is_some_and(|probe| probe <= now) && !lane.probing {
                    lane.probing = true;
                    lane.next_probe = None;
                    plan.probes.push(id);
                }
                continue;
            }
            if let Some(until) = lane.not_before.filter(|until| *until > now) {
                self.at(id, until);
                continue;
            }
            let (mut room, enough) = lane.room(turns == 1);
            if room == 0 {
                lane.wants_room = true;
                continue;
            }
            if room < enough {
                // A far end that is quick makes more room at once; one that is slow must not keep back what could go.
                let until = *lane.patient_until.get_or_insert(now + A_MOMENT);
                if now < until {
                    lane.wants_room = true;
                    self.at(id, until);
                    continue;
                }
            }
            lane.patient_until = None;
            if let Some(rate) = &mut lane.rate {
                room = room.min(rate.available(now));
                if room == 0 {
                    let next = rate.next();
                    self.at(id, next);
                    continue;
                }
            }
            let (standing, tenant) = (lane.window.standing(), lane.tenant);
            let light_enough = (BYTES_PER_CLAIM / lane.weight.max(1)).max(1);
            room = room.min(self.tenants.room(tenant, self.sending));
            if let Some((under_way, most)) = self.shared(standing) {
                room = room.min(most.saturating_sub(*under_way));
            }
            if room == 0 {
                self.lane(id).queued = true;
                self.crowded_out.push_back(id);
                continue;
            }
            let n = room.min(free).min(batch).min(share.max(1)).min(light_enough);
            let lane = self.lane(id);
            if let Some(rate) = &mut lane.rate {
                rate.take(n);
            }
            lane.sending += n;
            self.sending += n;
            self.tenants.started(tenant, n);
            free -= n;
            if let Some((under_way, _)) = self.shared(standing) {
                *under_way += n;
            }
            plan.wants.push(LaneWant {
                lane: id,
                n: u32::try_from(n).unwrap_or(u32::MAX),
            });
        }
        plan
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
    }

    /// So many rows came with so many bytes of content.
    pub fn weighed(&mut self, id: LaneId, rows: usize, bytes: usize) {
        let lane = self.lane(id);
        lane.weight = (lane.weight / 2).max(bytes.checked_div(rows).unwrap_or(0));
    }

    /// A probe's claim is back.
    pub fn probe_claimed(&mut self, id: LaneId, got: bool) {
        let lane = self.lane(id);
        lane.probing = got;
        if got {
            lane.sending += 1;
            let (standing, tenant) = (lane.window.standing(), lane.tenant);
            self.sending += 1;
            self.tenants.started(tenant, 1);
            if let Some((under_way, _)) = self.shared(standing) {
                *under_way += 1;
            }
        }
    }

    /// One attempt of the lane is over.
    pub fn finished(&mut self, id: LaneId, behaviour: Behaviour) {
        let lane = self.lane(id);
        let concurrency = lane.limits.as_ref().map_or(1, |l| l.concurrency);
        let before = lane.window.standing();
        match behaviour {
            Behaviour::Answered => lane.window.answered(concurrency),
            Behaviour::Silent => lane.window.did_not_answer(),
            Behaviour::NotAsked => {}
        }
        let (now, sending) = (lane.window.standing(), lane.sending);
        if let Some((under_way, _)) = self.shared(before) {
            *under_way = under_way.saturating_sub(sending);
        }
        if let Some((under_way, _)) = self.shared(now) {
            *under_way += sending;
        }
        self.give_back(id, 1);
    }

    pub fn probe_over(&mut self, id: LaneId, held: bool, next_probe: Option<Timestamp>) {
        let lane = self.lane(id);
        lane.probing = false;
        self.held(id, held, next_probe);
    }

    pub fn held(&mut self, id: LaneId, held: bool, next_probe: Option<Timestamp>) {
        let lane = self.lane(id);
        lane.held = held;
        lane.next_probe = next_probe;
        match (held, next_probe) {
            (false, _) => self.enqueue(id),
            (true, Some(when)) => self.at(id, when),
            (true, None) => {}
        }
    }

    pub fn paused(&mut self, id: LaneId, until: Timestamp) {
        let lane = self.lane(id);
        lane.not_before = Some(lane.not_before.map_or(until, |known| known.max(until)));
        self.at(id, until);
    }

    fn give_back(&mut self, id: LaneId, n: usize) {
        if n == 0 {
            return;
        }
        let lane = self.lane(id);
        lane.sending = lane.sending.saturating_sub(n);
        let (standing, tenant) = (lane.window.standing(), lane.tenant);
        let wants_room = std::mem::take(&mut lane.wants_room);
        self.sending = self.sending.saturating_sub(n);
        self.tenants.over(tenant, n);
        if let Some((under_way, _)) = self.shared(standing) {
            *under_way = under_way.saturating_sub(n);
        }
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
        self.sending
    }

    pub fn has_room(&self) -> bool {
        self.sending < self.tenants.places()
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub wants: Vec<LaneWant>,
    pub probes: Vec<LaneId>,
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
