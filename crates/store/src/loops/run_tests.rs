use super::*;
use crate::loops::Work;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use tokio::sync::Notify;

/// Does what it is told to in its n-th sweep.
struct Scripted {
    about: About,
    wake: Arc<Notify>,
    sweeps: Arc<AtomicU32>,
    script: fn(u32) -> Swept,
}

#[async_trait]
impl Loop for Scripted {
    fn about(&self) -> About {
        self.about
    }

    async fn woken(&mut self) {
        self.wake.notified().await;
    }

    async fn sweep(&mut self) -> Swept {
        let n = self.sweeps.fetch_add(1, Ordering::SeqCst);
        (self.script)(n)
    }
}

struct World {
    loops: Loops,
    tasks: TaskTracker,
    stop: CancellationToken,
    wake: Arc<Notify>,
    sweeps: Arc<AtomicU32>,
}

const MOMENT: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

impl World {
    fn start(about: About, script: fn(u32) -> Swept) -> Self {
        let world = Self {
            loops: Loops::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            wake: Arc::default(),
            sweeps: Arc::default(),
        };
        let scripted = Scripted {
            about,
            wake: world.wake.clone(),
            sweeps: world.sweeps.clone(),
            script,
        };
        world.loops.start(&world.tasks, &world.stop, scripted);
        world.tasks.close();
        world
    }

    fn report(&self) -> crate::loops::LoopReport {
        self.loops.reports()["test"].clone()
    }

    async fn ran(&self, runs: u64) {
        while self.report().runs < runs {
            tokio::task::yield_now().await;
            tokio::time::sleep(MOMENT).await;
        }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.tasks.wait().await;
        assert_eq!(self.loops.ended(), None);
    }
}

#[tokio::test]
async fn a_loop_runs_by_its_clock_and_shows_what_it_did() {
    let world = World::start(About::every("test", "", MOMENT), |n| {
        Swept::did(format!("sweep {n}"))
    });
    world.ran(3).await;
    let report = world.report();
    assert_eq!(report.panics, 0);
    assert!(report.result.unwrap().starts_with("sweep "));
    world.stop().await;
}

#[tokio::test]
async fn what_a_loop_last_did_is_shown_also_after_runs_that_had_nothing_to_do() {
    let world = World::start(About::every("test", "", MOMENT), |n| match n {
        0 => Work::of("sent", &[(3, "schedule", "schedules")], "nothing was due").into(),
        1 => Swept::failed("no"),
        _ => Work::of("sent", &[(0, "schedule", "schedules")], "nothing was due").into(),
    });
    world.ran(1).await;
    let first = world.report().worked.unwrap();
    assert_eq!(first.did, "sent 3 schedules");
    world.ran(3).await;
    let report = world.report();
    assert_eq!(report.result.unwrap(), "nothing was due");
    assert_eq!(report.worked.unwrap(), first);
    world.stop().await;
}

#[tokio::test]
async fn a_loop_that_panics_is_counted_shown_and_started_again() {
    let world = World::start(About::every("test", "", HOUR), |n| match n {
        0 => panic!("on purpose"),
        n => Swept::did(format!("sweep {n}")),
    });
    world.ran(1).await;
    let report = world.report();
    assert_eq!((report.panics, report.runs), (1, 1));
    assert_eq!(report.result.unwrap_err(), "panicked: on purpose");
    // Sooner than in its time.
    assert!(report.next.unwrap() < report.at + HOUR);
    world.ran(2).await;
    let report = world.report();
    assert_eq!((report.panics, report.result.unwrap().as_str()), (1, "sweep 1"));
    world.stop().await;
}

#[tokio::test]
async fn a_loop_that_only_runs_when_woken_is_shown_before_it_ever_ran_and_again_in_time_after_a_failure() {
    let about = About::when_woken("test", "", MOMENT);
    let world = World::start(about, |n| match n {
        0 => Swept::failed("no"),
        _ => Swept::did("yes"),
    });
    assert_eq!((world.report().runs, world.report().next), (0, None));
    world.wake.notify_one();
    world.ran(2).await;
    let report = world.report();
    assert_eq!((report.result.unwrap().as_str(), report.next), ("yes", None));
    assert_eq!(world.sweeps.load(Ordering::SeqCst), 2);
    world.stop().await;
}

#[tokio::test]
async fn a_wake_up_does_not_cut_short_the_wait_after_something_that_would_fail_again() {
    let world = World::start(About::every("test", "", HOUR), |_| {
        Swept::failed("no").not_before(HOUR)
    });
    world.ran(1).await;
    world.wake.notify_one();
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.report().runs, 1);
    world.stop().await;
}

#[tokio::test]
async fn a_wake_up_during_a_sweep_is_not_lost() {
    let world = World::start(About::when_woken("test", "", HOUR), |_| Swept::did("woken"));
    world.wake.notify_one();
    world.ran(1).await;
    world.wake.notify_one();
    world.ran(2).await;
    world.stop().await;
}

#[tokio::test]
async fn what_waits_for_the_wake_up_may_panic_too() {
    struct Restless(u32);
    #[async_trait]
    impl Loop for Restless {
        fn about(&self) -> About {
            About::when_woken("test", "", HOUR)
        }
        async fn woken(&mut self) {
            self.0 += 1;
            assert!(self.0 > 1, "on purpose");
        }
        async fn sweep(&mut self) -> Swept {
            Swept::did("swept").not_before(HOUR)
        }
    }
    let (loops, tasks, stop) = (Loops::default(), TaskTracker::new(), CancellationToken::new());
    loops.start(&tasks, &stop, Restless(0));
    while loops.reports()["test"].result != Ok("swept".into()) {
        tokio::time::sleep(MOMENT).await;
    }
    assert_eq!(loops.reports()["test"].panics, 1);
    assert_eq!(loops.ended(), None);
}
