//! Link and forwarder on a simulated network with partitions, slow and lost messages, crashes on both sides and a
//! central that is put back to an older copy. One seed is one history: a failing one is printed and replays with
//! `WAYPOST_SEED=n`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod central;
mod chaos;
mod clock;
mod trace;

use chaos::run;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// 30 by default, 2,000 at full size, one when it is named.
fn seeds() -> Vec<u64> {
    if let Ok(seed) = std::env::var("WAYPOST_SEED") {
        return vec![seed.parse().expect("WAYPOST_SEED is a number")];
    }
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => (0..2_000).collect(),
        _ => (0..30).collect(),
    }
}

#[test]
fn whatever_the_network_does_every_accepted_notification_is_at_central_once() {
    let seeds = seeds();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(vec![]);
    let worker = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::SeqCst)) {
            let history = run(*seed);
            if let Err(why) = &history.verdict {
                let said = format!(
                    "seed {seed}: {why}\nreplay with WAYPOST_SEED={seed}; the last of what happened:\n{}",
                    history.tail(60)
                );
                failed.lock().unwrap().push(said);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} seeds failed\n{}",
        failed.len(),
        failed.join("\n\n")
    );
}

#[test]
fn one_seed_is_one_history() {
    for seed in [3, 7] {
        let (first, second) = (run(seed), run(seed));
        assert_eq!(first.lines.len(), second.lines.len(), "seed {seed}");
        for (a, b) in first.lines.iter().zip(&second.lines) {
            assert_eq!(a, b, "seed {seed}");
        }
    }
}
