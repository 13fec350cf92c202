use super::*;
use domain::{Channel, Timestamp};

#[test]
fn every_word_is_somewhere_in_any_case_and_order() {
    let words = |text: &str| {
        Keywords::of(&Filter {
            keyword: Some(text.into()),
            ..Filter::default()
        })
    };
    let texts = [
        Some("Pump 7 IST LEER"),
        Some("[\"ann@example.com\"]"),
        None,
        None,
        Some("4XmQ 5YnR"),
    ];
    for found in ["pump", "leer pump", "ANN@example", "4xmq 7 ann@", "5ynr", "  "] {
        assert!(words(found).are_in(texts), "{found}");
    }
    for missing in ["pumps", "pump bob@", "8"] {
        assert!(!words(missing).are_in(texts), "{missing}");
    }
}

#[test]
fn a_filter_is_served_by_the_index_with_the_fewest_candidates() {
    let filter = |status: &[Status]| Filter {
        status: status.to_vec(),
        ..Filter::default()
    };
    let unfinished = |waiting, parked| ListIndex::Unfinished { waiting, parked };
    for (filter, index) in [
        (filter(&[]), ListIndex::Time),
        (filter(&[Status::Pending]), unfinished(true, false)),
        (
            filter(&[Status::Parked, Status::Retrying]),
            unfinished(true, true),
        ),
        (filter(&[Status::Parked, Status::Delivered]), ListIndex::Time),
        (
            Filter {
                stuck_after: Some(Duration::ZERO),
                ..filter(&[Status::Parked, Status::Delivered])
            },
            ListIndex::Stuck(Duration::ZERO),
        ),
        (
            Filter {
                by: TextFilters {
                    entity_type: Some("order".into()),
                    execution_id: Some("run".into()),
                    ..TextFilters::default()
                },
                ..filter(&[Status::Delivered])
            },
            ListIndex::Execution("run"),
        ),
        (
            Filter {
                by: TextFilters {
                    entity_type: Some("order".into()),
                    entity_id: Some("7".into()),
                    execution_id: Some("run".into()),
                    ..TextFilters::default()
                },
                ..filter(&[])
            },
            ListIndex::Entity {
                kind: "order",
                id: "7",
            },
        ),
    ] {
        assert_eq!(ListIndex::serving(&filter), index, "{filter:?}");
    }
}

#[test]
fn an_index_answers_alone_only_what_it_knows_of() {
    let now = Some(Timestamp::EPOCH);
    let range = Filter {
        from: now,
        to: now,
        ..Filter::default()
    };
    let run = Filter {
        by: TextFilters {
            execution_id: Some("run".into()),
            ..TextFilters::default()
        },
        ..Filter::default()
    };
    let alone = |filter: &Filter| ListIndex::serving(filter).answers_alone(filter);
    for filter in [Filter::default(), range.clone(), run.clone()] {
        assert!(alone(&filter), "{filter:?}");
    }
    let asks_for_more = [
        Filter {
            status: vec![Status::Delivered],
            ..range.clone()
        },
        Filter {
            keyword: Some("pump".into()),
            ..range
        },
        Filter {
            from: now,
            ..run.clone()
        },
        Filter {
            channel: Some(Channel::Sms),
            ..run
        },
    ];
    for filter in asks_for_more {
        assert!(!alone(&filter), "{filter:?}");
    }
}
