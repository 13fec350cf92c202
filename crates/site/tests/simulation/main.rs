//! Link and forwarder on a simulated network with partitions, slow and lost messages, crashes on both sides and a
//! central that is put back to an older copy. One seed is one history: a failing one is printed and replays with
//! `WAYPOST_SEED=n`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod central;
mod chaos;
mod clock;
mod machine;
mod pair;
mod trace;

use chaos::run;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};
use trace::History;

/// So many by default and at full size, one when it is named.
fn seeds(by_default: u64, full: u64) -> Vec<u64> {
    if let Ok(seed) = std::env::var("WAYPOST_SEED") {
        return vec![seed.parse().expect("WAYPOST_SEED is a number")];
    }
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => (0..full).collect(),
        _ => (0..by_default).collect(),
    }
}

/// Every seed, on all processors; those that fail are told with the end of their story.
fn all(seeds: &[u64], run: fn(u64) -> History) {
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
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        // The scope waits for what a thread does, not for what goes with it: its temporary folders.
        for worker in workers {
            worker.join().unwrap();
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
fn whatever_the_network_does_every_accepted_notification_is_at_central_once() {
    all(&seeds(30, 2_000), run);
}

/// The ids of files and of connections are random: a seed repeats the trouble, not every answer to it.
#[test]
fn whatever_is_cut_off_both_machines_of_a_site_are_equal_when_it_has_healed_and_nothing_accepted_is_lost() {
    all(&seeds(8, 300), pair::run);
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
