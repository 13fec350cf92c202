use super::*;

fn place(seq: i64) -> Cursor {
    Cursor {
        at: Timestamp::EPOCH,
        seq,
    }
}

/// Reads as the databases do: steps of candidates from `count` down to 1, of which `passes` are wanted.
fn page(limit: u32, after: i64, passes: impl Fn(i64) -> bool) -> (Vec<i64>, Option<i64>, usize) {
    let mut paging = Paging::new(&Page { limit, after: None });
    let (mut from, mut read) = (after, 0);
    'full: loop {
        let step = paging.step();
        let candidates: Vec<i64> = (1..from).rev().take(step).collect();
        read += candidates.len();
        for seq in &candidates {
            if paging.take(place(*seq), passes(*seq).then_some(*seq)) {
                break 'full;
            }
            from = *seq;
        }
        if candidates.len() < step {
            break;
        }
    }
    let (rows, next) = paging.finish();
    (rows, next.map(|cursor| cursor.seq), read)
}

#[test]
fn a_full_page_reads_one_candidate_more_and_goes_on_after_its_last_row() {
    assert_eq!(page(3, 11, |_| true), (vec![10, 9, 8], Some(8), 4));
    assert_eq!(page(3, 4, |_| true), (vec![3, 2, 1], None, 3));
    assert_eq!(
        page(0, 3, |_| true),
        (vec![2], Some(2), 2),
        "no page is empty by request"
    );
}

#[test]
fn a_page_that_reached_the_bound_goes_on_where_it_stopped_looking() {
    let bound = i64::from(SCAN_BOUND);
    let (rows, next, read) = page(5, 3 * bound + 1, |_| false);
    assert_eq!((rows, next), (vec![], Some(2 * bound + 1)));
    assert_eq!(read, SCAN_BOUND as usize + 1);
    let (rows, next, _) = page(5, bound + 1, |seq| seq == 1);
    assert_eq!(
        (rows, next),
        (vec![1], None),
        "what is just within it is found, and is the end"
    );
    let (_, next, read) = page(u32::MAX, 3 * bound, |_| true);
    assert_eq!((next, read), (Some(2 * bound), SCAN_BOUND as usize + 1));
}

#[test]
fn a_page_begins_before_the_end_of_the_time_asked_for_and_after_the_last_page() {
    let at = |millis, seq| Cursor {
        at: Timestamp::from_millis(millis),
        seq,
    };
    let to = Some(Timestamp::from_millis(10));
    assert_eq!(Cursor::newest(None, None), Cursor::END);
    assert_eq!(Cursor::newest(to, None), at(10, i64::MIN));
    assert_eq!(Cursor::newest(to, Some(at(9, 7))), at(9, 7));
    assert_eq!(Cursor::newest(to, Some(at(11, 7))), at(10, i64::MIN));
}
