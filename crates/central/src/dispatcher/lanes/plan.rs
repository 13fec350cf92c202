//! What to claim: lanes take turns, and each is asked how much room it has.

use super::{
    LANES_PER_CLAIM, Lanes,
    lane::{Closed, Lane},
};
use domain::{LaneId, Timestamp};
use store::outbox::LaneWant;

#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::dispatcher) struct Plan {
    pub wants: Vec<LaneWant>,
    pub probes: Vec<LaneId>,
}

impl Lanes {
    /// What to claim now, at most `most` rows. Room is reserved; [`Lanes::claimed`] gives back what was not used.
    pub fn plan(&mut self, now: Timestamp, batch: usize, most: usize) -> Plan {
        let mut free = self.under_way.free().min(most);
        let turns = self.ready.len();
        let share = (self.under_way.permits_left().min(most) / turns.max(1)).max(1);
        let alone = turns == 1;
        // A lane that is alone need not leave any for others.
        let batch = if alone { usize::MAX } else { batch };
        let mut plan = Plan::default();
        for _ in 0..turns {
            if free == 0 || plan.wants.len() >= LANES_PER_CLAIM {
                break;
            }
            let Some(id) = self.ready.pop_front() else { break };
            let Self { lanes, under_way, .. } = self;
            let lane = lanes.entry(id).or_insert_with(Lane::new);
            lane.turn.queued = false;
            match lane.ask(now, alone, under_way) {
                Ok(room) => {
                    let n = room.min(free).min(batch).min(share);
                    if let Some(rate) = &mut lane.rate {
                        rate.take(n);
                    }
                    under_way.enter(&mut lane.count, n);
                    free -= n;
                    plan.wants.push(LaneWant {
                        lane: id,
                        n: u32::try_from(n).unwrap_or(u32::MAX),
                    });
                }
                Err(Closed::Probe) => plan.probes.push(id),
                Err(closed) => self.comes_back(id, closed),
            }
        }
        plan
    }

    /// Sees to it that the lane has its turn again when what closed it may be over.
    fn comes_back(&mut self, id: LaneId, closed: Closed) {
        match closed {
            Closed::Skip | Closed::Probe => {}
            Closed::Until(when) => self.at(id, when),
            Closed::NoRoom => {
                let lane = self.lane(id);
                lane.turn.wants_room = true;
                if let Some(until) = lane.owned_until {
                    self.at(id, until);
                }
            }
            Closed::LittleRoom(until) => {
                self.lane(id).turn.wants_room = true;
                self.at(id, until);
            }
            Closed::CrowdedOut => {
                self.lane(id).turn.queued = true;
                self.crowded_out.push_back(id);
            }
        }
    }
}
