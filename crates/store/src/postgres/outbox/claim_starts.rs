//! Where in each lane's order a claim begins while the queue is full of rows that are gone.
//!
//! PostgreSQL keeps a deleted row for as long as anybody has a transaction open that might see it: a report that runs for
//! ten minutes, a dump, a forgotten session. A claim would walk over all of them to reach the first row that is left. So
//! while there are many, it begins where the last one ended, less a moment for what is committed late.
//!
//! Always true: with few such rows a claim begins at the start; what this node itself stored or gave back is found by its
//! next claim; whatever else comes before that place (a row whose lease ended, one that another node gave back, a commit of
//! another node that took longer than [`COMMIT_LAG`]) is found by the next look at all lanes, which begins at the start.

use crate::postgres::types::At;
use domain::{Timestamp, lock::lock};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// So many rows that are gone take a claim some ten milliseconds.
const DEAD_ROWS_WORTH_SKIPPING: i64 = 50_000;
/// What is due now is due from the start of the transaction that stores it, and that may take so long until it is seen.
const COMMIT_LAG: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(in crate::postgres) struct ClaimStarts(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Goes up when something came back.
    returns: u64,
    /// None while there are few rows that are gone.
    places: Option<Places>,
}

/// Before these, nothing is left to be claimed.
#[derive(Debug, Default)]
struct Places {
    of_lane: HashMap<i64, Timestamp>,
    elsewhere: Option<Timestamp>,
}

/// How often something had come back when a statement began: what it found says nothing about what came back since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::postgres) struct Since(u64);

impl ClaimStarts {
    pub fn since(&self) -> Since {
        Since(self.lock().returns)
    }

    /// Where a claim from each of these lanes begins.
    pub fn places(&self, lanes: &[i64]) -> Vec<Option<At>> {
        let inner = self.lock();
        let place = |lane| {
            let places = inner.places.as_ref()?;
            places.of_lane.get(lane).copied().or(places.elsewhere).map(At)
        };
        lanes.iter().map(place).collect()
    }

    /// All lanes were looked at: in these something waits, from then on; in the others nothing does.
    pub fn looked(
        &self,
        since: Since,
        gone: i64,
        now: Timestamp,
        waiting: impl Iterator<Item = (i64, Timestamp)>,
    ) {
        let mut inner = self.lock();
        let settled = now - COMMIT_LAG;
        inner.places = (gone >= DEAD_ROWS_WORTH_SKIPPING).then(|| match inner.returns == since.0 {
            true => Places {
                of_lane: waiting.map(|(lane, from)| (lane, from.min(settled))).collect(),
                elsewhere: Some(settled),
            },
            false => Places::default(),
        });
    }

    /// These rows were claimed, the oldest of their lanes.
    pub fn claimed(&self, since: Since, now: Timestamp, rows: impl Iterator<Item = (i64, Timestamp)>) {
        let mut inner = self.lock();
        if inner.returns != since.0 {
            return;
        }
        let Some(places) = &mut inner.places else { return };
        for (lane, due_at) in rows {
            let reached = due_at.min(now - COMMIT_LAG);
            let place = places.of_lane.entry(lane).or_insert(reached);
            *place = reached.max(*place);
        }
    }

    /// New rows are there, so long after their transaction began.
    pub fn stored(&self, after: Duration) {
        if after >= COMMIT_LAG {
            self.came_back();
        }
    }

    /// Something is due again that was claimed before.
    pub fn came_back(&self) {
        let mut inner = self.lock();
        inner.returns += 1;
        if let Some(places) = &mut inner.places {
            *places = Places::default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
    }
}

#[cfg(test)]
#[path = "claim_starts_tests.rs"]
mod tests;
