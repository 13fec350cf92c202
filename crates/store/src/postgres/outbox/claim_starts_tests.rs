use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn before(millis: u64) -> Timestamp {
    NOW - Duration::from_millis(millis)
}

fn crowded(waiting: &[(i64, Timestamp)]) -> ClaimStarts {
    let starts = ClaimStarts::default();
    starts.looked(
        starts.since(),
        DEAD_ROWS_WORTH_SKIPPING,
        NOW,
        waiting.iter().copied(),
    );
    starts
}

fn place(starts: &ClaimStarts, lane: i64) -> Option<Timestamp> {
    starts.places(&[lane])[0].map(|at| at.0)
}

#[test]
fn with_few_rows_that_are_gone_a_claim_begins_at_the_start() {
    let starts = crowded(&[(1, NOW)]);
    starts.looked(
        starts.since(),
        DEAD_ROWS_WORTH_SKIPPING - 1,
        NOW,
        std::iter::once((1, NOW)),
    );
    starts.claimed(starts.since(), NOW, std::iter::once((1, before(10_000))));
    assert_eq!(place(&starts, 1), None);
}

#[test]
fn a_claim_begins_where_the_last_one_ended_but_never_within_the_last_moment() {
    let starts = crowded(&[(1, before(60_000))]);
    assert_eq!(place(&starts, 1), Some(before(60_000)));
    starts.claimed(
        starts.since(),
        NOW,
        [(1, before(50_000)), (1, before(40_000))].into_iter(),
    );
    assert_eq!(place(&starts, 1), Some(before(40_000)));
    starts.claimed(starts.since(), NOW, std::iter::once((1, before(100))));
    assert_eq!(place(&starts, 1), Some(NOW - COMMIT_LAG));
    assert_eq!(place(&starts, 2), Some(NOW - COMMIT_LAG), "nothing waited there");
}

#[test]
fn what_came_back_is_looked_for_from_the_start_even_if_a_claim_was_under_way() {
    let starts = crowded(&[(1, before(60_000))]);
    let since = starts.since();
    starts.came_back();
    starts.claimed(since, NOW, std::iter::once((1, before(40_000))));
    assert_eq!(place(&starts, 1), None);
    starts.looked(since, DEAD_ROWS_WORTH_SKIPPING, NOW, std::iter::empty());
    assert_eq!(
        place(&starts, 1),
        None,
        "nor does a look that began before it know"
    );
    starts.looked(starts.since(), DEAD_ROWS_WORTH_SKIPPING, NOW, std::iter::empty());
    assert_eq!(place(&starts, 1), Some(NOW - COMMIT_LAG));
}

#[test]
fn what_was_stored_late_is_looked_for_from_the_start() {
    let starts = crowded(&[]);
    starts.stored(COMMIT_LAG - Duration::from_millis(1));
    assert_eq!(place(&starts, 1), Some(NOW - COMMIT_LAG));
    starts.stored(COMMIT_LAG);
    assert_eq!(place(&starts, 1), None);
}

#[test]
fn a_look_finds_what_claims_had_passed() {
    let starts = crowded(&[]);
    starts.looked(
        starts.since(),
        DEAD_ROWS_WORTH_SKIPPING,
        NOW,
        std::iter::once((1, before(90_000))),
    );
    assert_eq!(place(&starts, 1), Some(before(90_000)));
}
