//! Of which attempts it is kept what was said: of failures first, of successes as far as there is room.
//!
//! Always true: whatever is sent, one node keeps no more than [`MAX_KEPT_BYTES`] within the time they are kept, and adds no
//! more than [`ROWS_PER_SECOND`] rows a second for long, so that a drain does not pay for what nobody will open.
//! Why it is so: docs/decisions/0021-transcripts-within-a-budget.md.

use delivery::Recorder;
use domain::{LaneId, Outcome, Transcript, lock::lock};
use metrics::Counter;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// The most that one node keeps, in bytes of text.
const MAX_KEPT_BYTES: f64 = (512 << 20) as f64;
/// What of it may be used at once; the rest comes back over the time they are kept.
const BURST_BYTES: f64 = MAX_KEPT_BYTES / 8.0;
/// One lane gets no more than this of either, so that the others have something left.
const SHARE_OF_A_LANE: f64 = 0.25;
const ROWS_PER_SECOND: f64 = 100.0;
const BURST_ROWS: f64 = 2_000.0;
/// Room comes back in steps of this: of many commits a second, one has rows to add and the others none.
const REFILL_STEP: Duration = Duration::from_secs(1);
/// Lanes of which it is remembered what they have used; those that have used nothing for long are forgotten first.
const MAX_LANES: usize = 4_096;

/// How much of each bucket is left alone.
#[derive(Clone, Copy)]
struct Least {
    rows: f64,
    bytes: f64,
}

const LEFT_BY_FAILURES: Least = Least {
    rows: 0.0,
    bytes: 0.0,
};
/// Failures are what people open. A burst of successes is alike, so that a few of them tell as much as many, and a drain pays for few.
const LEFT_BY_SUCCESSES: Least = Least {
    rows: 0.9,
    bytes: 0.5,
};

/// What a node may keep.
#[derive(Debug)]
pub(super) struct TranscriptBudget {
    /// None: nothing is kept.
    room: Option<Mutex<Room>>,
    /// Looked up once, and so that a scrape shows both from the start.
    kept: Counter,
    let_go: Counter,
}

#[derive(Debug)]
struct Room {
    rows: Bucket,
    bytes: Bucket,
    lanes: HashMap<LaneId, Bucket>,
}

impl TranscriptBudget {
    /// For texts that are kept for `retention` and then go with the next purge.
    pub fn new(retention: Duration, purge_interval: Duration, now: Instant) -> Self {
        let kept_for = retention.saturating_add(purge_interval).as_secs_f64();
        let room = Room {
            rows: Bucket::full(BURST_ROWS, ROWS_PER_SECOND, now),
            bytes: Bucket::full(BURST_BYTES, (MAX_KEPT_BYTES - BURST_BYTES) / kept_for, now),
            lanes: HashMap::new(),
        };
        Self {
            room: (!retention.is_zero()).then(|| Mutex::new(room)),
            kept: counter("yes"),
            let_go: counter("no"),
        }
    }

    /// Writes an attempt down, unless nothing is ever kept.
    pub fn recorder(&self) -> Recorder {
        match self.room {
            Some(_) => Recorder::on(),
            None => Recorder::off(),
        }
    }

    /// What was said in an attempt, if it is to be kept.
    pub fn keep(
        &self,
        lane: LaneId,
        outcome: &Outcome,
        recorder: &Recorder,
        now: Instant,
    ) -> Option<Arc<Transcript>> {
        let room = self.room.as_ref().filter(|_| recorder.has_notes())?;
        let least = match outcome {
            Outcome::Delivered(_) => LEFT_BY_SUCCESSES,
            Outcome::Failed(_) | Outcome::Mixed(_) => LEFT_BY_FAILURES,
        };
        if !lock(room).has(lane, least, now) {
            self.let_go.increment(1);
            return None;
        }
        // Made readable outside the lock: this is what takes time.
        let transcript = recorder.transcript()?;
        lock(room).take(lane, transcript.size() as f64);
        self.kept.increment(1);
        Some(Arc::new(transcript))
    }
}

fn counter(kept: &'static str) -> Counter {
    metrics::counter!("waypost_transcripts_total", "kept" => kept)
}

impl Room {
    fn has(&mut self, lane: LaneId, least: Least, now: Instant) -> bool {
        if self.lanes.len() >= MAX_LANES && !self.lanes.contains_key(&lane) {
            self.lanes.retain(|_, bucket| !bucket.is_full(now));
            if self.lanes.len() >= MAX_LANES {
                return false;
            }
        }
        let of_lane = self.lanes.entry(lane).or_insert_with(|| {
            let (most, rate) = (self.bytes.most, self.bytes.per_second);
            Bucket::full(most * SHARE_OF_A_LANE, rate * SHARE_OF_A_LANE, now)
        });
        self.rows.has(least.rows, now) && self.bytes.has(least.bytes, now) && of_lane.has(least.bytes, now)
    }

    fn take(&mut self, lane: LaneId, bytes: f64) {
        self.rows.left -= 1.0;
        self.bytes.left -= bytes;
        if let Some(bucket) = self.lanes.get_mut(&lane) {
            bucket.left -= bytes;
        }
    }
}

/// Room that is used up and comes back.
#[derive(Debug)]
struct Bucket {
    /// May be a little below nothing: a text's size is known after it was let through.
    left: f64,
    most: f64,
    per_second: f64,
    since: Instant,
}

impl Bucket {
    fn full(most: f64, per_second: f64, now: Instant) -> Self {
        Self {
            left: most,
            most,
            per_second,
            since: now,
        }
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed >= REFILL_STEP {
            self.left = (self.left + passed.as_secs_f64() * self.per_second).min(self.most);
            self.since = now;
        }
    }

    /// Whether more than this share is left.
    fn has(&mut self, least: f64, now: Instant) -> bool {
        self.refill(now);
        self.left > self.most * least
    }

    fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);
    const LANE: LaneId = LaneId(1);

    fn room(now: Instant) -> Room {
        let budget = TranscriptBudget::new(7 * DAY, DAY, now);
        budget.room.unwrap().into_inner().unwrap()
    }

    /// How many of these fit before there is no room, and how many bytes they are.
    fn fill(room: &mut Room, lane: LaneId, bytes: f64, least: Least, now: Instant) -> f64 {
        let mut rows = 0.0;
        while room.has(lane, least, now) {
            room.take(lane, bytes);
            rows += 1.0;
        }
        rows
    }

    #[test]
    fn a_burst_of_successes_leaves_nearly_all_to_failures_and_a_second_brings_a_few_back() {
        let now = Instant::now();
        let mut room = room(now);
        let successes = fill(&mut room, LANE, 100.0, LEFT_BY_SUCCESSES, now);
        assert_eq!(successes, BURST_ROWS / 10.0);
        let a_moment = now + REFILL_STEP / 2;
        assert!(
            !room.has(LANE, LEFT_BY_SUCCESSES, a_moment),
            "room comes back in steps"
        );
        let later = now + REFILL_STEP;
        let successes = fill(&mut room, LANE, 100.0, LEFT_BY_SUCCESSES, later);
        assert_eq!(successes, ROWS_PER_SECOND);
        let failures = fill(&mut room, LANE, 100.0, LEFT_BY_FAILURES, later);
        assert_eq!(failures, BURST_ROWS * 0.9);
        let later = later + REFILL_STEP;
        let failures = fill(&mut room, LANE, 100.0, LEFT_BY_FAILURES, later);
        assert_eq!(failures, ROWS_PER_SECOND);
    }

    #[test]
    fn successes_that_are_large_leave_half_of_the_bytes() {
        let now = Instant::now();
        let mut room = room(now);
        let mut used = 0.0;
        for lane in 0..9 {
            used += fill(&mut room, LaneId(lane), 1e6, LEFT_BY_SUCCESSES, now) * 1e6;
        }
        assert!((used - BURST_BYTES / 2.0).abs() <= 1e6, "{used}");
    }

    #[test]
    fn whatever_is_sent_no_more_is_kept_at_a_time_than_the_bound() {
        let start = Instant::now();
        let mut room = room(start);
        let mut kept = 0.0;
        // As long as a text may be there: until the purge after its time.
        for minute in 0..(8 * 24 * 60) {
            let now = start + Duration::from_secs(60 * minute);
            for lane in 0..9 {
                kept += fill(&mut room, LaneId(lane), 30_000.0, LEFT_BY_FAILURES, now) * 30_000.0;
            }
        }
        assert!(kept <= MAX_KEPT_BYTES * 1.01, "{kept}");
        assert!(
            kept >= MAX_KEPT_BYTES * 0.9,
            "what there is room for is kept: {kept}"
        );
    }

    #[test]
    fn one_lane_cannot_use_up_the_room_of_the_others() {
        let now = Instant::now();
        let mut room = room(now);
        fill(&mut room, LANE, 32_000.0, LEFT_BY_FAILURES, now);
        let later = now + 20 * REFILL_STEP;
        assert!(!room.has(LANE, LEFT_BY_FAILURES, later), "its share is used up");
        assert!(room.has(LaneId(2), LEFT_BY_SUCCESSES, later), "another's is not");
    }

    #[test]
    fn the_lanes_that_are_remembered_have_a_bound() {
        let now = Instant::now();
        let mut room = room(now);
        for lane in 0..(2 * MAX_LANES as i64) {
            room.has(LaneId(lane), LEFT_BY_FAILURES, now);
        }
        assert!(room.lanes.len() <= MAX_LANES);
        assert!(room.has(LaneId(-1), LEFT_BY_FAILURES, now));
    }

    #[test]
    fn with_no_retention_nothing_is_written_down() {
        let now = Instant::now();
        let off = TranscriptBudget::new(Duration::ZERO, DAY, now);
        assert_eq!(off.recorder().transcript(), None);
        let on = TranscriptBudget::new(DAY, DAY, now);
        assert!(on.recorder().transcript().is_some());
        let nothing_said = on.keep(
            LANE,
            &Outcome::Delivered(domain::Accepted::default()),
            &on.recorder(),
            now,
        );
        assert_eq!(nothing_said, None);
    }
}
