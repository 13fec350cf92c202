use super::*;

const LONG: Option<Duration> = Some(Duration::from_secs(3_600));
const WELL: Plight = Plight {
    role: Role::Active,
    no_room_for: None,
    no_central_for: None,
    followed: true,
    changed_ago: LONG,
    refused_ago: None,
};

fn wants(plight: Plight) -> Option<Relief> {
    wants_relief(&ReliefTerms::default(), &plight)
}

fn secs(n: u64) -> Option<Duration> {
    Some(Duration::from_secs(n))
}

#[test]
fn trouble_that_lasts_makes_an_active_machine_hand_over_and_a_moment_does_not() {
    let full = |no_room_for| wants(Plight { no_room_for, ..WELL });
    assert_eq!([None, secs(9)].map(full), [None, None]);
    assert_eq!(full(secs(10)), Some(Relief::NoRoom));
    let cut = |no_central_for| {
        wants(Plight {
            no_central_for,
            ..WELL
        })
    };
    assert_eq!([None, secs(29)].map(cut), [None, None]);
    assert_eq!(cut(secs(30)), Some(Relief::NoCentral));
}

#[test]
fn nobody_hands_over_again_before_a_rest_or_without_somebody_who_follows() {
    let full = Plight {
        no_room_for: LONG,
        no_central_for: LONG,
        ..WELL
    };
    assert_eq!(wants(full), Some(Relief::NoRoom));
    for (plight, relief) in [
        (
            Plight {
                changed_ago: secs(599),
                ..full
            },
            None,
        ),
        (
            Plight {
                changed_ago: secs(600),
                ..full
            },
            Some(Relief::NoRoom),
        ),
        (
            Plight {
                changed_ago: None,
                ..full
            },
            Some(Relief::NoRoom),
        ),
        (
            Plight {
                refused_ago: secs(59),
                ..full
            },
            None,
        ),
        (
            Plight {
                refused_ago: secs(60),
                ..full
            },
            Some(Relief::NoRoom),
        ),
        (
            Plight {
                followed: false,
                ..full
            },
            None,
        ),
        (
            Plight {
                role: Role::Standby,
                ..full
            },
            None,
        ),
    ] {
        assert_eq!(wants(plight), relief, "{plight:?}");
    }
}

#[test]
fn a_standby_takes_over_only_where_it_has_what_the_other_lacks() {
    let well = Reliever {
        fresh: true,
        has_room: true,
        has_central: true,
    };
    let cut = Reliever {
        has_central: false,
        ..well
    };
    let full = Reliever {
        has_room: false,
        ..well
    };
    let behind = Reliever { fresh: false, ..well };
    for why in [Relief::NoRoom, Relief::NoCentral] {
        assert_eq!(refuses_relief(why, &well), None);
        assert!(refuses_relief(why, &full).is_some());
        assert!(refuses_relief(why, &behind).is_some());
    }
    assert_eq!(refuses_relief(Relief::NoRoom, &cut), None, "it takes messages in");
    assert!(refuses_relief(Relief::NoCentral, &cut).is_some());
}
