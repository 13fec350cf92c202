//! Where looks begin, by a clock that is moved.

use super::*;

/// An outbox as the loops look at it.
struct World {
    looks: Looks<i64>,
    now: Instant,
    /// How long the database works on a look from the start, and on one that goes further back.
    took: Duration,
}

impl World {
    /// Everything up to this place was seen, long ago.
    fn at(place: i64) -> Self {
        let mut world = Self {
            looks: Looks::default(),
            now: Instant::now(),
            took: Duration::from_millis(1),
        };
        for _ in 0..6 {
            world.look(true, &[]);
            world.looks.found(Some(place), Some(place), false);
            world.pass(1_000);
        }
        world.look(true, &[]);
        world
    }

    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn look(&mut self, first: bool, running: &[i64]) -> Option<i64> {
        let look = self.looks.next(self.now, first);
        self.looks.answered(look, running, self.took, self.now);
        look.after
    }

    /// A poll: the places that it began at.
    fn poll(&mut self, running: &[i64]) -> Vec<Option<i64>> {
        let mut began = vec![self.look(true, running)];
        while self.looks.is_due_again(self.now) {
            began.push(self.look(false, running));
        }
        began
    }

    /// So many were found, the last of them at this place, and no more are there.
    fn found(&mut self, place: i64) {
        self.looks.found(Some(place), Some(place), false);
    }
}

#[test]
fn a_look_from_the_start_comes_within_a_second_and_takes_no_more_than_its_share() {
    let due = |took: u64, passed: u64| {
        let mut world = World::at(5);
        world.looks.start_over();
        world.took = Duration::from_millis(took);
        assert_eq!(world.look(false, &[]), None);
        world.pass(passed);
        world.look(false, &[]).is_none()
    };
    assert!(
        !due(1, 749) && due(1, 750),
        "with the longest pause a second is not over"
    );
    assert!(
        !due(200, 3_999) && due(200, 4_000),
        "it costs more, so it comes less often"
    );
    assert!(!due(60_000, 29_999) && due(60_000, 30_000), "but it comes");
}

#[test]
fn a_look_that_finds_more_than_it_takes_goes_on_behind_its_own_last_row() {
    let mut world = World::at(1_000);
    world.looks.start_over();
    assert_eq!(world.look(true, &[]), None);
    for last in [50, 450, 850] {
        world.looks.found(Some(last), Some(last), true);
        let goes_on = Look {
            after: Some(last),
            goes_back: false,
        };
        assert_eq!(world.looks.next(world.now, false), goes_on);
    }
    world.looks.found(Some(1_250), Some(1_250), true);
    assert_eq!(world.look(false, &[]), Some(1_250), "it has come to what is new");
    world.looks.start_over();
    world.look(false, &[]);
    world.looks.found(Some(70), Some(70), false);
    assert_eq!(world.look(false, &[]), Some(1_250), "it found all there was");
}

#[test]
fn a_walk_from_the_start_that_takes_longer_than_its_rest_comes_to_the_place() {
    let mut world = World::at(1_000);
    world.looks.start_over();
    assert_eq!(world.look(true, &[]), None);
    for last in [200, 400, 600, 800] {
        world.looks.found(Some(last), Some(last), true);
        world.pass(60_000);
        assert_eq!(world.look(true, &[]), Some(last));
    }
    world.looks.found(Some(1_000), Some(1_000), true);
    assert_eq!(
        world.look(false, &[]),
        None,
        "it is there, and the next one is due"
    );
    world.looks.found(Some(200), Some(200), true);
    world.looks.start_over();
    assert_eq!(world.look(false, &[]), None, "nobody knows what became of it");
}

#[test]
fn what_is_tried_again_keeps_nothing_new_waiting() {
    let mut world = World::at(1_000);
    world.looks.start_over();
    world.look(true, &[]);
    // In the order of an outbox it stands behind all that is new, and its place says nothing about that.
    world.looks.found(None, Some(2_000), true);
    assert_eq!(world.look(false, &[]), Some(1_000));
}

#[test]
fn a_commit_a_little_after_its_neighbours_is_found_by_the_next_quick_look() {
    let mut world = World::at(99);
    world.looks.rest_from_start();
    // 100 is taken and not committed.
    world.poll(&[]);
    world.found(101);
    world.pass(30);
    let began = world.look(true, &[]);
    assert!(began.is_some_and(|after| after < 100), "{began:?}");
    assert_eq!(
        world.look(false, &[]),
        Some(101),
        "in a sweep it goes on behind what is being written"
    );
    for _ in 0..5 {
        world.pass(1_000);
        world.poll(&[]);
    }
    assert_eq!(
        world.poll(&[]),
        [Some(101)],
        "where nothing comes nothing is looked at twice"
    );
}

#[test]
fn what_a_transaction_wrote_that_was_open_for_ten_minutes_is_looked_for_at_the_poll_after_its_commit() {
    let mut world = World::at(100);
    let (open, stays) = (7, 3);
    // Each look from the start walks over what was published since: such looks have become rare.
    world.took = Duration::from_secs(2);
    let mut place = 100;
    for _ in 0..3_000 {
        let began = world.poll(&[stays, open]);
        assert_eq!(began.len(), 1, "while it is open nothing is to be found");
        place += 200;
        world.found(place);
        world.pass(200);
    }
    world.looks.rest_from_start();
    let began = world.poll(&[stays]);
    assert_eq!(began.len(), 2, "noticed, and looked for at once");
    assert_eq!(began[1], Some(100), "from where the outbox stood as it began");
    world.found(place);
    assert_eq!(world.poll(&[stays]).len(), 1, "once");
}

#[test]
fn a_transaction_that_was_open_before_the_first_look_may_have_written_anywhere() {
    let mut world = World::at(100);
    world.looks = Looks::default();
    world.poll(&[7]);
    world.found(100);
    world.looks.rest_from_start();
    for _ in 0..3 {
        world.pass(1_000);
        world.poll(&[7]);
    }
    assert_eq!(world.poll(&[]), [Some(100), None]);
}

#[test]
fn a_short_transaction_costs_no_look_of_its_own() {
    let mut world = World::at(100);
    world.looks.rest_from_start();
    for n in 0..100 {
        // One more of them each time, each of them for two polls.
        let began = world.poll(&[n, n + 1]);
        assert_eq!(began.len(), 1, "{began:?}");
        world.found(100 + n);
        world.pass(200);
    }
}

#[test]
fn transactions_that_end_all_the_time_get_no_more_than_a_share_of_it() {
    let mut world = World::at(100);
    world.looks.rest_from_start();
    world.took = Duration::from_millis(100);
    let (mut place, mut further_back) = (100, 0);
    for n in 0..1_000 {
        // Two and a half seconds each, and one ends with every poll.
        let running: Vec<i64> = (n..n + 125).collect();
        let began = world.poll(&running);
        // Fifty come in a second; a quick look begins at most two seconds ago.
        further_back += began.iter().filter(|after| **after < Some(place - 110)).count();
        place += 1;
        world.found(place);
        world.pass(20);
    }
    assert!((20..=50).contains(&further_back), "in 20 s: {further_back}");
}

/// What a database answers that gives looks from before this place up, after so long.
fn poll_where_too_far_back_fails(
    world: &mut World,
    too_far: i64,
    waited: u64,
    running: &[i64],
) -> Option<i64> {
    let look = world.looks.next(world.now, true);
    let fails = look.after < Some(too_far);
    world.pass(if fails { waited } else { 1 });
    match fails {
        true => world.looks.failed(look, Duration::from_millis(waited)),
        false => world.looks.answered(look, running, world.took, world.now),
    }
    look.after
}

#[test]
fn a_look_from_the_start_that_is_given_up_lets_quick_looks_find_what_is_new() {
    let mut world = World::at(1_000);
    world.looks.start_over();
    let began = world.now;
    let (mut failed, mut quick) = (0, 0);
    while world.now.duration_since(began) < Duration::from_secs(3_600) {
        match poll_where_too_far_back_fails(&mut world, 500, 15_000, &[]) {
            None => failed += 1,
            Some(_) => quick += 1,
        }
        world.pass(200);
    }
    assert!((20..=30).contains(&failed), "it is tried again: {failed}");
    assert!(quick > 10_000, "what is new has most of the time: {quick}");
    assert!(poll_where_too_far_back_fails(&mut world, 0, 0, &[]).is_some());
    world.pass(120_000);
    assert_eq!(world.look(true, &[]), None);
    world.pass(750);
    assert_eq!(world.look(true, &[]), None, "as before, once it is answered");
}

#[test]
fn while_looks_from_the_start_are_given_up_what_a_transaction_wrote_late_is_found_as_ever() {
    let mut world = World::at(1_000);
    let poll = |world: &mut World, running: &[i64]| {
        let began = poll_where_too_far_back_fails(world, 500, 15_000, running);
        world.pass(1_000);
        began
    };
    for _ in 0..5 {
        world.looks.start_over();
        poll(&mut world, &[7]);
        poll(&mut world, &[7]);
    }
    world.found(2_000);
    for _ in 0..5 {
        poll(&mut world, &[7]);
    }
    assert_eq!(poll(&mut world, &[]), Some(2_000));
    assert_eq!(poll(&mut world, &[]), Some(1_000), "where it began");
}

#[test]
fn a_transaction_too_far_back_for_a_look_of_its_own_keeps_no_other_waiting() {
    let mut world = World::at(1_000);
    let poll = |world: &mut World, running: &[i64]| {
        let began = poll_where_too_far_back_fails(world, 1_500, 15_000, running);
        world.pass(1_000);
        began
    };
    world.looks.rest_from_start();
    world.look(true, &[7]);
    world.found(2_000);
    for _ in 0..5 {
        world.pass(1_000);
        world.look(true, &[7]);
    }
    poll(&mut world, &[7, 8]);
    world.found(3_000);
    for _ in 0..5 {
        poll(&mut world, &[7, 8]);
    }
    poll(&mut world, &[8]);
    assert_eq!(poll(&mut world, &[8]), Some(1_000), "it is given up");
    for _ in 0..20 {
        assert_eq!(poll(&mut world, &[8]), Some(3_000), "what is new goes on");
    }
    poll(&mut world, &[]);
    assert_eq!(poll(&mut world, &[]), Some(2_000), "the other's");
}

#[test]
fn an_outage_is_not_held_against_looks_from_the_start() {
    let mut world = World::at(1_000);
    world.looks.start_over();
    for began in [None, Some(1_000), Some(1_000), Some(1_000)] {
        let look = world.looks.next(world.now, true);
        assert_eq!(look.after, began);
        world.pass(15_000);
        world.looks.failed(look, Duration::from_secs(15));
    }
    assert_eq!(world.look(true, &[]), Some(1_000));
    assert_eq!(world.look(true, &[]), None);
}

#[test]
fn what_became_of_nothing_is_found_by_quick_looks() {
    let mut world = World::at(1_000);
    world.look(true, &[]);
    world.found(1_100);
    world.pass(600);
    world.look(false, &[]);
    world.found(1_200);
    world.looks.take_back();
    assert_eq!(world.look(true, &[]), None);
    world.looks.rest_from_start();
    assert_eq!(world.look(true, &[]), Some(1_000));
}
