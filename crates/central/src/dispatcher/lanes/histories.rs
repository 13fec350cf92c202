//! Whatever happens to lanes, in whatever order: the counts are what a recount finds.

use super::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::time::Duration;

const LANES: i64 = 12;
const STEPS: usize = 400;
const SEEDS: u64 = 200;

/// What the dispatcher would know.
struct History {
    lanes: Lanes,
    random: StdRng,
    now: Timestamp,
    /// Attempts begun and not over, by lane.
    begun: Vec<LaneId>,
    claims: Vec<LaneWant>,
    probes: Vec<LaneId>,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let permits = random.random_range(1..200);
        Self {
            lanes: Lanes::new(permits),
            random,
            now: Timestamp::from_millis(1_000_000),
            begun: vec![],
            claims: vec![],
            probes: vec![],
        }
    }

    fn some_lane(&mut self) -> LaneId {
        LaneId(self.random.random_range(0..LANES))
    }

    fn some_of<T>(random: &mut StdRng, all: &mut Vec<T>) -> Option<T> {
        let i = (!all.is_empty()).then(|| random.random_range(0..all.len()))?;
        Some(all.swap_remove(i))
    }

    fn step(&mut self) {
        let lane = self.some_lane();
        match self.random.random_range(0..12) {
            0 | 1 => self.lanes.enqueue(lane),
            2 => self.limits(lane),
            3 | 4 => self.plan(),
            5 => (0..3).for_each(|_| self.claim_is_back()),
            6 => {
                if let Some(lane) = Self::some_of(&mut self.random, &mut self.probes) {
                    let got = self.random.random_bool(0.7);
                    self.lanes.probe_claimed(lane, got);
                    self.begun.extend(got.then_some(lane));
                }
            }
            7..=9 => self.attempt_is_over(),
            10 => {
                let (held, probe) = (self.random.random_bool(0.1), self.now + Duration::from_millis(3));
                self.lanes.probe_over(lane, held, Some(probe));
            }
            _ => {
                self.now = self.now + Duration::from_millis(self.random.random_range(0..20));
                self.lanes.fire_timers(self.now);
            }
        }
    }

    /// Also of another tenant than before.
    fn limits(&mut self, lane: LaneId) {
        let tenant = TenantId(self.random.random_range(1..4));
        let limits = Limits {
            concurrency: self.random.random_range(1..40),
            per_second: self.random.random_bool(0.3).then_some(50.0),
        };
        self.lanes
            .set_limits(lane, tenant, &limits, OnAmbiguous::Resend, self.now);
    }

    fn plan(&mut self) {
        let batch = self.random.random_range(1..50);
        let plan = self.lanes.plan(self.now, batch, 1_000);
        self.claims.extend(plan.wants);
        self.probes.extend(plan.probes);
    }

    fn claim_is_back(&mut self) {
        let Some(want) = Self::some_of(&mut self.random, &mut self.claims) else {
            return;
        };
        let got = self.random.random_range(0..=want.n as usize);
        self.lanes.claimed(want, got);
        self.begun.extend(std::iter::repeat_n(want.lane, got));
    }

    fn attempt_is_over(&mut self) {
        let Some(lane) = Self::some_of(&mut self.random, &mut self.begun) else {
            return;
        };
        let behaviour = match self.random.random_range(0..16) {
            0 => Behaviour::Silent,
            1 => Behaviour::NotAsked,
            2 => Behaviour::Refused,
            _ => Behaviour::Answered,
        };
        self.lanes.finished(lane, behaviour);
    }

    fn check(&self) {
        let counts = self.lanes.lanes.values().map(|lane| &lane.count);
        self.lanes.under_way.assert_adds_up(counts);
        let reserved: usize = self.claims.iter().map(|want| want.n as usize).sum();
        assert_eq!(self.lanes.sending(), reserved + self.begun.len());
    }
}

#[test]
fn in_every_history_the_counts_are_what_a_recount_finds() {
    let mut begun = 0;
    for seed in 0..SEEDS {
        let mut history = History::new(seed);
        for step in 0..STEPS {
            history.step();
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| history.check()));
            assert!(checked.is_ok(), "seed {seed}, step {step}");
            begun = begun.max(history.begun.len());
        }
        while !history.claims.is_empty() {
            history.claim_is_back();
        }
        while !history.begun.is_empty() {
            history.attempt_is_over();
        }
        history.check();
        assert_eq!(history.lanes.sending(), 0, "seed {seed}");
    }
    assert!(begun > 20, "the histories are about something: {begun}");
}
