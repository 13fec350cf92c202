use super::*;
use crate::Timestamp;
use ReceiptState::{Accepted, Delivered, Failed, Read};
use proptest::prelude::*;

fn result(state: RecipientState, generation: i32, receipt: Option<ReceiptState>) -> RecipientResult {
    RecipientResult {
        address: "+919876543210".into(),
        state,
        generation,
        provider_message_id: None,
        code: None,
        provider_code: None,
        error: None,
        at: Timestamp::EPOCH,
        receipt,
        provider: None,
        tries: 0,
        not_before: None,
    }
}

fn standing(place: Place) -> Standing<'static> {
    Standing {
        place,
        generation: 1,
        recipient: None,
        overall: None,
    }
}

const DELIVERED: Place = Place::Ended(Status::Delivered);
const PARKED: Place = Place::Ended(Status::Parked);
const DISCARDED: Place = Place::Ended(Status::Discarded);

fn has(state: ReceiptState) -> Effect {
    Effect::Has {
        state,
        then_later: false,
    }
}

#[test]
fn what_a_receipt_comes_to_depends_on_where_its_notification_stands() {
    let waiting = Place::Waiting { leased: false };
    let leased = Place::Waiting { leased: true };
    let under_way = |state| Effect::Has {
        state,
        then_later: true,
    };
    #[rustfmt::skip]
    let table = [
        (DELIVERED, 1, Delivered, has(Delivered)),
        (DELIVERED, 1, Failed,    Effect::Failed),
        (PARKED,    1, Accepted,  has(Accepted)),
        (PARKED,    1, Read,      has(Read)),
        (PARKED,    1, Failed,    Effect::Failed),
        (DISCARDED, 1, Read,      Effect::Note(Read)),
        (DISCARDED, 1, Failed,    Effect::Note(Failed)),
        (waiting,   1, Delivered, has(Delivered)),
        (waiting,   1, Failed,    Effect::Tell),
        (leased,    1, Delivered, under_way(Delivered)),
        (leased,    1, Failed,    Effect::Later),
        // Of an earlier generation: it is proof that the recipient has it, and no reason to park.
        (waiting,   0, Delivered, has(Accepted)),
        (PARKED,    0, Read,      has(Accepted)),
        (DELIVERED, 0, Failed,    Effect::Tell),
        // That the service had taken it was known when it was sent again.
        (waiting,   0, Accepted,  Effect::Nothing),
        (leased,    0, Accepted,  Effect::Nothing),
        (PARKED,    0, Accepted,  Effect::Nothing),
        (DISCARDED, 0, Accepted,  Effect::Nothing),
        // Of one that has not begun.
        (DELIVERED, 2, Read,      Effect::Nothing),
    ];
    for (place, generation, state, effect) in table {
        assert_eq!(
            standing(place).effect(generation, state),
            effect,
            "{place:?} {generation} {state}"
        );
    }
}

#[test]
fn one_recipients_failure_after_its_acceptance_counts_while_others_are_waited_for() {
    let accepted = result(RecipientState::Accepted, 1, None);
    let one = Standing {
        recipient: Some(&accepted),
        ..standing(Place::Waiting { leased: false })
    };
    assert_eq!(one.effect(1, Failed), Effect::Failed);
    let open = result(RecipientState::Open, 1, None);
    let other = Standing {
        recipient: Some(&open),
        ..one
    };
    assert_eq!(other.effect(1, Failed), Effect::Tell);
}

#[test]
fn who_took_it_in_an_earlier_generation_is_told_of_as_before() {
    let accepted = result(RecipientState::Accepted, 0, Some(Delivered));
    let one = Standing {
        recipient: Some(&accepted),
        ..standing(PARKED)
    };
    assert_eq!(one.effect(0, Read), has(Read));
    assert_eq!(one.effect(0, Accepted), has(Delivered));
    assert_eq!(
        one.effect(0, Failed),
        Effect::Tell,
        "it would be sent again with the others"
    );
}

#[test]
fn a_notification_is_as_far_as_its_slowest_recipient_and_failed_with_the_first_who_failed() {
    let of = |results: &[RecipientResult]| overall(results);
    let took = |receipt| result(RecipientState::Accepted, 0, receipt);
    assert_eq!(of(&[took(None), took(None)]), None);
    assert_eq!(of(&[took(Some(Read)), took(None)]), Some(Accepted));
    assert_eq!(of(&[took(Some(Read)), took(Some(Delivered))]), Some(Delivered));
    let failed = result(RecipientState::Failed, 0, Some(Failed));
    assert_eq!(of(&[took(Some(Read)), failed]), Some(Failed));
    let never = result(RecipientState::Failed, 0, None);
    assert_eq!(of(&[took(Some(Read)), never]), Some(Read));
}

#[test]
fn a_correlation_reads_as_it_is_written_and_nothing_else_is_one() {
    let id = NotificationId::mint();
    for recipient in [None, Some("+919876543210"), Some("a.b@c.example")] {
        let correlation = Correlation {
            id,
            generation: 3,
            recipient: recipient.map(str::to_owned),
        };
        assert_eq!(correlation.to_string().parse(), Ok(correlation));
    }
    for other in [
        "",
        "x",
        &id.to_string(),
        &format!("{id}.-1"),
        &format!("{id}.x.y"),
        "1.2.3",
    ] {
        assert_eq!(other.parse::<Correlation>(), Err(NotOurs), "{other}");
    }
}

proptest! {
    /// One recipient of one notification that was delivered, whatever order its receipts come in, and however often.
    #[test]
    fn in_whatever_order_receipts_come_the_best_news_stands(told in prop::collection::vec(0..4usize, 1..12)) {
        let mut known = result(RecipientState::Accepted, 1, None);
        let mut place = DELIVERED;
        for state in told.iter().map(|i| ReceiptState::ALL[*i]) {
            let now = Standing { place, generation: 1, recipient: Some(&known), overall: None };
            match now.effect(1, state) {
                Effect::Has { state, .. } => {
                    known = result(RecipientState::Accepted, 1, Some(state));
                    place = DELIVERED;
                }
                Effect::Failed => {
                    known = result(RecipientState::Failed, 1, Some(Failed));
                    place = PARKED;
                }
                Effect::Nothing => {}
                other => prop_assert!(false, "{other:?}"),
            }
        }
        let best = told.iter().map(|i| ReceiptState::ALL[*i]).max();
        prop_assert_eq!(known.receipt, best);
        prop_assert_eq!(known.state == RecipientState::Failed, best == Some(Failed));
    }
}
