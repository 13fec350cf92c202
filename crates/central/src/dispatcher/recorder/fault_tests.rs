//! A fault of this program while it concludes an attempt or writes one down costs that attempt alone: the task goes on.

use super::*;
use crate::dispatcher::{attempt::AttemptResult, fault::tests::finished};
use domain::{
    Clock, Timestamp,
    settle::{Cause, Ended},
};
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::TempStore;

/// A clock that panics while it is told to.
#[derive(Debug, Default)]
struct Faulty(AtomicBool);

impl Clock for Faulty {
    fn now(&self) -> Timestamp {
        assert!(!self.0.load(Ordering::SeqCst), "on purpose");
        Timestamp::EPOCH
    }
}

struct World {
    recorder: Arc<Recorder>,
    clock: Arc<Faulty>,
    feedback: mpsc::UnboundedReceiver<Feedback>,
    _temp: TempStore,
}

impl World {
    fn new() -> Self {
        let temp = TempStore::open();
        let faulty = Arc::new(Faulty::default());
        let clock = Arc::new(StoreClock::new(faulty.clone()));
        let (told, feedback) = mpsc::unbounded_channel();
        let recorder = Recorder {
            store: temp.store.clone(),
            signals: temp.store.clone(),
            suppressions: temp.store.clone(),
            clock: clock.clone(),
            changes: Changes::default(),
            leases: Arc::default(),
            feedback: told,
            blocked: watch::channel(false).0,
            judge: Judge::new(clock),
            tracer: Tracer::default(),
        };
        Self {
            recorder: Arc::new(recorder),
            clock: faulty,
            feedback,
            _temp: temp,
        }
    }

    fn fails(&self, fails: bool) {
        self.clock.0.store(fails, Ordering::SeqCst);
    }

    /// How many rows were let go of, and how many were lost.
    async fn recorded(&mut self) -> (u64, u64) {
        loop {
            let told = self.feedback.recv().await.expect("the recorder goes on");
            if let Feedback::Recorded { tally, .. } = told {
                return (tally.released, tally.lost);
            }
        }
    }
}

/// Asks for the time when it is concluded.
fn postponed() -> Finished {
    Finished {
        result: AttemptResult::Postponed {
            until: Timestamp::EPOCH,
            cause: Cause::new("LATER", "not now"),
        },
        ..finished()
    }
}

#[tokio::test]
async fn a_panic_while_concluding_parks_that_attempt_and_the_next_is_concluded() {
    let world = World::new();
    let (finished, attempts) = mpsc::unbounded_channel();
    let (concluded, mut conclusions) = mpsc::unbounded_channel();
    tokio::spawn(world.recorder.clone().conclude(attempts, concluded));
    let mut next = async |fails| {
        world.fails(fails);
        finished.send(postponed()).unwrap();
        let conclusion: Conclusion = conclusions.recv().await.expect("the task goes on");
        conclusion.record.expect("a record").ended
    };
    assert!(matches!(next(true).await, Ended::Park { cause } if cause.code == "INTERNAL"));
    assert!(matches!(next(false).await, Ended::Postpone { .. }));
}

#[tokio::test]
async fn a_panic_while_writing_down_loses_that_batch_and_the_next_is_written_down() {
    let mut world = World::new();
    let (concluded, conclusions) = mpsc::unbounded_channel();
    tokio::spawn(world.recorder.clone().run(conclusions));
    for (fails, expected) in [(true, (0, 1)), (false, (1, 0))] {
        world.fails(false);
        let conclusion = world.recorder.judge.conclude(finished());
        world
            .recorder
            .leases
            .held([conclusion.lease].into_iter(), Instant::now());
        world.fails(fails);
        concluded.send(conclusion).unwrap();
        assert_eq!(world.recorded().await, expected);
        assert_eq!(world.recorder.leases.count(), 0, "nobody renews it any more");
    }
}
