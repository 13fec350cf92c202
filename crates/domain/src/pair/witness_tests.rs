use super::*;

const LEASE: Duration = Duration::from_secs(10);
const KEPT: Duration = Duration::from_secs(14);
const QUIET: Duration = Duration::from_secs(69);

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn terms() -> Terms {
    Terms::of(super::super::lease::LONGEST_LEASE)
}

fn row(counter: u64, holder: Option<u128>, left: Duration) -> WitnessRow {
    WitnessRow {
        rank: (counter, id(counter.into())),
        holder: holder.map(id),
        left,
        database: "db".into(),
        doubt: false,
    }
}

fn ask(node: u128, counter: u64, wanted: Wanted) -> LeaseAsk {
    LeaseAsk {
        node: id(node),
        rank: (counter, id(counter.into())),
        seen: (counter.saturating_sub(9)..=counter)
            .map(|n| (n, id(n.into())))
            .collect(),
        lease: LEASE,
        holds: false,
        caught_up: true,
        question: Uuid::nil(),
        wanted,
    }
}

fn asked(row: &WitnessRow, ask: &LeaseAsk) -> (Option<WitnessRow>, LeaseAnswer) {
    answer(terms(), Some(row), "db", ask, id(99))
}

#[test]
fn a_site_that_is_new_here_gets_nothing_until_no_lease_of_before_can_run() {
    let (written, said) = answer(terms(), None, "db", &ask(1, 4, Wanted::NewTurn), id(99));
    let why = NotGiven::Quiet;
    assert_eq!(said, LeaseAnswer::Refused { why, left: QUIET });
    let mut row = written.unwrap();
    assert_eq!((row.left, row.holder, row.doubt), (QUIET, None, true));
    row.left = Duration::from_millis(1);
    assert!(matches!(
        asked(&row, &ask(1, 4, Wanted::NewTurn)).1,
        LeaseAnswer::Refused { .. }
    ));
    row.left = Duration::ZERO;
    let (_, said) = asked(&row, &ask(1, 4, Wanted::NewTurn));
    let rank = (5, id(99));
    assert_eq!(
        said,
        LeaseAnswer::Granted {
            rank,
            lease: LEASE,
            stale: true
        },
        "what was given before is not known here"
    );
}

#[test]
fn whoever_takes_over_gets_a_turn_above_all_others_once_the_other_holds_nothing() {
    let taken = row(4, Some(1), Duration::from_secs(1));
    let (written, said) = asked(&taken, &ask(2, 4, Wanted::NewTurn));
    assert_eq!(written, None);
    assert_eq!(
        said,
        LeaseAnswer::Refused {
            why: NotGiven::Taken,
            left: taken.left
        }
    );
    let (written, said) = asked(&row(4, Some(1), Duration::ZERO), &ask(2, 4, Wanted::NewTurn));
    let rank = (5, id(99));
    assert_eq!(
        said,
        LeaseAnswer::Granted {
            rank,
            lease: LEASE,
            stale: false
        }
    );
    let written = written.unwrap();
    assert_eq!(
        (written.rank, written.holder, written.left),
        (rank, Some(id(2)), KEPT)
    );
}

#[test]
fn who_has_not_seen_the_last_turn_is_stale_and_who_has_seen_a_later_one_is_not() {
    let stale = |counter, caught_up| {
        let ask = LeaseAsk {
            caught_up,
            ..ask(2, counter, Wanted::NewTurn)
        };
        match asked(&row(5, Some(1), Duration::ZERO), &ask).1 {
            LeaseAnswer::Granted { rank, stale, .. } => (rank.0, stale),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stale(4, true), (6, true), "it was left behind");
    assert_eq!(stale(5, true), (6, false));
    assert_eq!(stale(5, false), (6, true), "its copy was not whole");
    assert_eq!(stale(7, true), (8, false), "a handover that central did not see");
}

#[test]
fn a_higher_counter_without_the_last_turn_is_not_fresh() {
    let alone = LeaseAsk {
        seen: vec![(4, id(4)), (6, id(77))],
        rank: (6, id(77)),
        ..ask(2, 6, Wanted::NewTurn)
    };
    let (_, said) = asked(&row(5, Some(1), Duration::ZERO), &alone);
    assert!(
        matches!(
            said,
            LeaseAnswer::Granted {
                rank: (7, _),
                stale: true,
                ..
            }
        ),
        "it raised the counter while it was cut off: {said:?}"
    );
}

#[test]
fn a_damaged_counter_moves_nothing_and_leaves_later_turns_possible() {
    let why = NotGiven::FarAhead;
    let refused = LeaseAnswer::Refused {
        why,
        left: Duration::ZERO,
    };
    let known = row(5, Some(1), Duration::ZERO);
    for counter in [5 + MOST_UNHEARD_TURNS + 1, HIGHEST_COUNTER, u64::MAX] {
        for holds in [false, true] {
            for wanted in [Wanted::Renewal, Wanted::NewTurn, Wanted::Known] {
                let damaged = LeaseAsk {
                    rank: (counter, id(7)),
                    holds,
                    ..ask(2, 5, wanted)
                };
                for database in ["db", "restored"] {
                    let said = answer(terms(), Some(&known), database, &damaged, id(99));
                    assert_eq!(said, (None, refused));
                }
            }
        }
    }
    let unknown = ask(2, HIGHEST_COUNTER / 2 + 1, Wanted::NewTurn);
    assert_eq!(answer(terms(), None, "db", &unknown, id(99)), (None, refused));
    let (_, said) = asked(&known, &ask(2, 5, Wanted::NewTurn));
    assert!(
        matches!(
            said,
            LeaseAnswer::Granted {
                rank: (6, _),
                stale: false,
                ..
            }
        ),
        "{said:?}"
    );
    let last = row(HIGHEST_COUNTER, Some(1), Duration::ZERO);
    let (written, _) = asked(&last, &ask(2, 5, Wanted::NewTurn));
    assert_eq!(written.unwrap().rank.0, HIGHEST_COUNTER, "it does not overflow");
}

#[test]
fn a_renewal_stays_in_its_turn() {
    let (written, said) = asked(
        &row(5, Some(1), Duration::from_secs(3)),
        &ask(1, 5, Wanted::Renewal),
    );
    let rank = (5, id(5));
    assert_eq!(
        said,
        LeaseAnswer::Granted {
            rank,
            lease: LEASE,
            stale: false
        }
    );
    assert_eq!(written.unwrap().left, KEPT);
}

#[test]
fn a_database_that_was_put_back_gives_nothing_but_to_who_holds_a_lease() {
    let before = row(4, Some(1), Duration::ZERO);
    let elsewhere = |ask: &LeaseAsk| answer(terms(), Some(&before), "db restored", ask, id(99));
    let (written, said) = elsewhere(&ask(2, 4, Wanted::NewTurn));
    assert!(matches!(
        said,
        LeaseAnswer::Refused {
            why: NotGiven::Quiet,
            ..
        }
    ));
    let mut quiet = written.unwrap();
    assert!(quiet.doubt && quiet.left == QUIET);
    quiet.left = Duration::ZERO;
    quiet.database = "db".into();
    let (_, said) = asked(&quiet, &ask(2, 4, Wanted::NewTurn));
    assert!(
        matches!(said, LeaseAnswer::Granted { stale: true, .. }),
        "{said:?}"
    );
    let holds = LeaseAsk {
        holds: true,
        ..ask(1, 5, Wanted::Renewal)
    };
    let (written, said) = elsewhere(&holds);
    let rank = (5, id(5));
    assert_eq!(
        said,
        LeaseAnswer::Granted {
            rank,
            lease: LEASE,
            stale: false
        }
    );
    assert!(!written.unwrap().doubt);
}

#[test]
fn who_holds_a_lease_ends_the_doubt_also_while_none_is_given() {
    let quiet = WitnessRow {
        doubt: true,
        ..row(3, None, Duration::from_secs(9))
    };
    let holds = LeaseAsk {
        holds: true,
        ..ask(1, 4, Wanted::Known)
    };
    let (written, said) = asked(&quiet, &holds);
    assert!(matches!(said, LeaseAnswer::Refused { .. }));
    let written = written.unwrap();
    assert_eq!((written.rank.0, written.doubt), (4, false));
    assert_eq!(written.left, quiet.left, "others still wait");
    assert_eq!(asked(&written, &holds).0, None, "nothing is written twice");
    let (written, _) = asked(&quiet, &ask(1, 4, Wanted::NewTurn));
    assert_eq!(written, None, "who holds nothing proves nothing");
}

#[test]
fn a_turn_that_was_given_by_the_standby_becomes_known_without_a_lease() {
    let holds = |counter| LeaseAsk {
        holds: true,
        ..ask(1, counter, Wanted::Known)
    };
    let (written, said) = asked(&row(4, Some(1), Duration::ZERO), &holds(6));
    assert_eq!(said, LeaseAnswer::Known);
    assert_eq!(written.unwrap().rank, (6, id(6)));
    let (written, said) = asked(&row(6, None, Duration::ZERO), &holds(6));
    assert_eq!(
        (written, said),
        (None, LeaseAnswer::Known),
        "nothing is written twice"
    );
    let (_, said) = asked(&row(7, Some(2), Duration::ZERO), &holds(6));
    assert!(
        matches!(
            said,
            LeaseAnswer::Granted {
                rank: (8, _),
                stale: false,
                ..
            }
        ),
        "a turn that nobody took up is passed over: {said:?}"
    );
}

#[test]
fn a_lease_that_still_runs_keeps_the_other_out_when_its_holder_tells_of_a_later_turn() {
    let forced = LeaseAsk {
        holds: true,
        ..ask(1, 5, Wanted::Known)
    };
    let (written, said) = asked(&row(4, Some(1), KEPT), &forced);
    assert_eq!(said, LeaseAnswer::Known);
    let heard = written.unwrap();
    assert_eq!(heard, row(5, Some(1), KEPT));
    // It has met the holder since, and follows its turn.
    let (_, said) = asked(&heard, &ask(2, 5, Wanted::NewTurn));
    let why = NotGiven::Taken;
    assert_eq!(said, LeaseAnswer::Refused { why, left: KEPT });
}

fn question(n: u128, ask: LeaseAsk) -> LeaseAsk {
    LeaseAsk {
        question: id(n << 1),
        ..ask
    }
}

#[test]
fn an_answer_that_was_lost_is_given_again_as_it_was() {
    let before = row(4, Some(1), Duration::ZERO);
    let (written, first) = asked(&before, &question(7, ask(2, 4, Wanted::NewTurn)));
    let rank = (5, id(14));
    let given = LeaseAnswer::Granted {
        rank,
        lease: LEASE,
        stale: false,
    };
    assert_eq!(first, given);
    let lost = written.unwrap();
    let (written, again) = asked(&lost, &question(7, ask(2, 4, Wanted::NewTurn)));
    assert_eq!(again, given, "the same question");
    assert_eq!(written.unwrap().rank, rank);
    let stale = |ask: LeaseAsk| match asked(&lost, &ask).1 {
        LeaseAnswer::Granted { rank, stale, .. } => (rank.0, stale),
        other => panic!("{other:?}"),
    };
    let another = question(8, ask(2, 4, Wanted::NewTurn));
    assert_eq!(stale(another), (6, true), "its file may have been put back");
    let behind = LeaseAsk {
        caught_up: false,
        ..question(7, ask(2, 4, Wanted::NewTurn))
    };
    assert_eq!(stale(behind), (5, true), "it has fallen behind since");
}

#[test]
fn an_answer_that_was_lost_is_not_given_to_the_other_machine_or_after_somebody_elses_turn() {
    let mut lost = row(4, Some(1), Duration::ZERO);
    lost = asked(&lost, &question(7, ask(2, 4, Wanted::NewTurn))).0.unwrap();
    lost.left = Duration::ZERO;
    let (written, said) = asked(&lost, &question(7, ask(1, 4, Wanted::NewTurn)));
    assert!(
        matches!(
            said,
            LeaseAnswer::Granted {
                rank: (6, _),
                stale: true,
                ..
            }
        ),
        "{said:?}"
    );
    let mut other = written.unwrap();
    other.left = Duration::ZERO;
    let (_, said) = asked(&other, &question(7, ask(2, 4, Wanted::NewTurn)));
    assert!(
        matches!(
            said,
            LeaseAnswer::Granted {
                rank: (7, _),
                stale: true,
                ..
            }
        ),
        "{said:?}"
    );
}

#[test]
fn a_stale_machine_whose_answer_was_lost_stays_stale() {
    let unseen = row(5, Some(1), Duration::ZERO);
    let (written, said) = asked(&unseen, &question(7, ask(2, 4, Wanted::NewTurn)));
    assert!(
        matches!(said, LeaseAnswer::Granted { stale: true, .. }),
        "{said:?}"
    );
    let (_, said) = asked(&written.unwrap(), &question(7, ask(2, 4, Wanted::NewTurn)));
    assert!(
        matches!(said, LeaseAnswer::Granted { stale: true, .. }),
        "{said:?}"
    );
}

#[test]
fn who_only_looks_moves_nothing() {
    for found in [None, Some(row(5, Some(1), QUIET))] {
        for database in ["db", "another"] {
            let said = answer(
                terms(),
                found.as_ref(),
                database,
                &ask(2, 9, Wanted::Look),
                id(99),
            );
            assert_eq!(said, (None, LeaseAnswer::Known));
        }
    }
}

#[test]
fn whoever_asks_for_a_shorter_lease_keeps_the_longer_one_and_nobody_else_gets_any_meanwhile() {
    let long = row(4, Some(1), Duration::from_secs(50));
    let (written, said) = asked(&long, &ask(1, 4, Wanted::Renewal));
    assert!(matches!(said, LeaseAnswer::Granted { lease: LEASE, .. }));
    let written = written.unwrap();
    assert_eq!((written.holder, written.left), (Some(id(1)), long.left));
    let taken = asked(&written, &ask(2, 4, Wanted::NewTurn)).1;
    assert!(matches!(taken, LeaseAnswer::Refused { left, .. } if left == long.left));
    // One that is over counts for nobody.
    let over = row(4, Some(1), Duration::ZERO);
    let (written, _) = asked(&over, &ask(2, 4, Wanted::NewTurn));
    assert_eq!(written.unwrap().left, KEPT);
}

#[test]
fn a_database_that_became_another_one_is_quiet_for_as_long_as_what_it_gave_before_may_last() {
    let short = Terms::of(LEASE);
    let long = row(4, Some(1), Duration::from_secs(50));
    let quiet = answer(short, Some(&long), "another", &ask(2, 4, Wanted::NewTurn), id(99)).1;
    assert!(matches!(quiet, LeaseAnswer::Refused { left, .. } if left == long.left));
}

#[test]
fn a_lease_that_was_written_down_while_the_clock_was_a_day_ahead_keeps_nobody_out_for_a_day() {
    let ahead = row(4, Some(1), Duration::from_secs(86_400));
    let longest = Terms::of(LEASE).kept(LONGEST_LEASE);
    let refused = asked(&ahead, &ask(2, 4, Wanted::NewTurn)).1;
    assert!(matches!(refused, LeaseAnswer::Refused { left, .. } if left == longest));
    let renewed = asked(&ahead, &ask(1, 4, Wanted::Renewal)).0;
    assert_eq!(renewed.unwrap().left, longest);
}

#[test]
fn a_turn_that_a_person_forced_is_known_at_once_and_whoever_was_given_the_last_lease_is_stale_by_it() {
    let before = row(4, Some(1), KEPT);
    let forced = LeaseAsk {
        holds: true,
        ..ask(2, 5, Wanted::Known)
    };
    let (written, said) = asked(&before, &forced);
    let why = NotGiven::Taken;
    assert_eq!(said, LeaseAnswer::Refused { why, left: KEPT });
    let heard = written.unwrap();
    assert_eq!((heard.rank, heard.holder), (forced.rank, Some(id(1))));
    for wanted in [Wanted::Renewal, Wanted::NewTurn] {
        let (_, said) = asked(&heard, &ask(1, 4, wanted));
        assert!(
            matches!(said, LeaseAnswer::Granted { stale: true, .. }),
            "{said:?}"
        );
    }
}

#[test]
fn a_forced_turn_below_one_that_is_known_here_is_lifted_above_it() {
    let forced = LeaseAsk {
        holds: true,
        ..ask(2, 5, Wanted::Known)
    };
    let (written, said) = asked(&row(9, Some(1), Duration::ZERO), &forced);
    let (rank, stale) = ((10, id(99)), false);
    let lease = LEASE;
    assert_eq!(said, LeaseAnswer::Granted { rank, lease, stale });
    let (_, said) = asked(&written.unwrap(), &ask(1, 9, Wanted::Renewal));
    assert!(matches!(said, LeaseAnswer::Refused { .. }), "{said:?}");
}
