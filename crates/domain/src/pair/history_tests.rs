use super::*;
use proptest::prelude::*;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn history(turns: &[(u128, i64)]) -> History {
    turns.iter().fold(History::default(), |history, (n, first)| {
        history.with_turn(id(*n), 0, *first, first * 10)
    })
}

#[test]
fn a_file_that_only_lags_has_not_forked() {
    assert_eq!(
        history(&[(1, 1), (2, 50)]).fork(&history(&[(1, 1), (2, 50)])),
        Fork::None
    );
}

#[test]
fn who_missed_a_change_of_turns_forked_where_the_turn_began() {
    let after = Fork::After {
        number: 49,
        first_message: 500,
    };
    assert_eq!(history(&[(1, 1)]).fork(&history(&[(1, 1), (2, 50)])), after);
    assert_eq!(history(&[(1, 1), (2, 50)]).fork(&history(&[(1, 1)])), after);
}

#[test]
fn two_that_raised_the_counter_alone_forked_where_the_first_of_them_did() {
    let (a, b) = (history(&[(1, 1), (2, 80)]), history(&[(1, 1), (3, 50)]));
    assert_eq!(a.rank().0, b.rank().0, "counters alone prove nothing");
    let after = Fork::After {
        number: 49,
        first_message: 500,
    };
    assert_eq!(a.fork(&b), after);
}

#[test]
fn files_without_a_common_turn_are_strangers() {
    assert_eq!(history(&[(1, 1)]).fork(&history(&[(2, 1)])), Fork::Strangers);
    assert_eq!(History::default().fork(&history(&[(1, 1)])), Fork::Strangers);
}

#[test]
fn a_new_turn_is_above_every_counter_that_is_known_of() {
    let next = history(&[(1, 1)]).with_turn(id(9), 41, 5, 5);
    assert_eq!(next.rank(), (42, id(9)));
    let endless = History::default().with_turn(id(1), u64::MAX, 1, 1);
    assert_eq!(endless.rank().0, HIGHEST_COUNTER);
}

proptest! {
    #[test]
    fn both_sides_see_the_same_fork(
        common in prop::collection::vec(1i64..50, 0..6),
        ours in prop::collection::vec(50i64..99, 0..6),
        theirs in prop::collection::vec(50i64..99, 0..6),
    ) {
        let grow = |mut history: History, firsts: &[i64], side: u128| {
            let mut firsts = firsts.to_vec();
            firsts.sort_unstable();
            for (n, first) in firsts.iter().enumerate() {
                history = history.with_turn(id(side + n as u128), 0, *first, *first);
            }
            history
        };
        let common = grow(History::default(), &common, 1_000);
        let (ours, theirs) = (grow(common.clone(), &ours, 2_000), grow(common, &theirs, 3_000));
        prop_assert_eq!(ours.fork(&theirs), theirs.fork(&ours));
    }

    #[test]
    fn however_long_it_lasts_a_history_stays_short(turns in 1usize..200) {
        let long = (0..turns).fold(History::default(), |h, n| h.with_turn(id(n as u128), 0, n as i64, n as i64));
        prop_assert!(long.epochs().len() <= KEPT);
        prop_assert_eq!(long.rank().0, turns as u64);
    }
}
