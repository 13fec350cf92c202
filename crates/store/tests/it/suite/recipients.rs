//! What each recipient said.

use crate::harness::*;
use RecipientState::{Accepted, Failed, Open};
use domain::{Clock, RecipientState, Target, recipient::open_targets, settle::RecipientUpdate};
use store::{
    operator::Acted,
    outbox::{Cause, Claimed, Recorded},
};

fn said(address: &str, state: RecipientState) -> RecipientUpdate {
    let accepted = state == RecipientState::Accepted;
    RecipientUpdate {
        address: address.into(),
        state,
        provider_message_id: accepted.then(|| format!("id of {address}")),
        cause: (!accepted).then(|| Cause {
            provider_code: Some("4.2.1".into()),
            ..Cause::new("SMTP_450", "try again")
        }),
        tried: true,
        wait: (state == RecipientState::Open).then_some(SECOND),
    }
}

async fn to_three(t: &TestStore) -> Claimed {
    let lane = t.lane("mail").await;
    let three = ["a", "b", "c"].map(String::from).to_vec();
    let submission = saying(mail(), |c| c.target = Target::Recipients(three));
    t.accept(lane, submission).await;
    t.claim_one(lane).await
}

fn states(known: &[domain::RecipientResult]) -> Vec<(&str, RecipientState, i32)> {
    known
        .iter()
        .map(|r| (r.address.as_str(), r.state, r.generation))
        .collect()
}

pub async fn recipients_keep_what_each_of_them_said(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = retry(&claimed, SECOND);
    record.recipients = vec![said("a", Accepted), said("b", Open), said("c", Failed)];
    t.record(record).await;
    t.clock.advance(SECOND);
    let again = t.claim_one(claimed.lane).await;
    assert_eq!(
        states(&again.known),
        [("a", Accepted, 0), ("b", Open, 0), ("c", Failed, 0)]
    );
    assert_eq!(again.known[0].provider_message_id.as_deref(), Some("id of a"));
    assert_eq!(again.known[1].code.as_deref(), Some("SMTP_450"));
    assert_eq!(again.known[1].provider_code.as_deref(), Some("4.2.1"));
    assert_eq!(again.known[2].error.as_deref(), Some("try again"));
    assert_eq!(again.known[0].at, t.clock.now() - SECOND);

    let mut record = park(&again);
    record.recipients = vec![said("b", Accepted)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Accepted, 0), ("c", Failed, 0)]
    );
}

pub async fn who_accepted_is_never_downgraded(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = retry(&claimed, SECOND);
    record.recipients = vec![said("a", Accepted), said("b", Open)];
    t.record(record).await;
    t.clock.advance(SECOND);
    let again = t.claim_one(claimed.lane).await;
    let mut record = retry(&again, SECOND);
    record.recipients = vec![said("a", Failed), said("b", Failed)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(states(&row.recipients), [("a", Accepted, 0), ("b", Failed, 0)]);
    assert_eq!(row.recipients[0].provider_message_id.as_deref(), Some("id of a"));
}

pub async fn a_lost_lease_still_adds_who_accepted(t: &TestStore) {
    let first = to_three(t).await;
    t.clock.advance(LEASE);
    let second = t.claim_one(first.lane).await;
    let mut record = retry(&second, SECOND);
    record.recipients = vec![said("a", Failed), said("b", Open), said("c", Accepted)];
    t.record(record).await;
    let mut late = retry(&first, HOUR);
    late.recipients = vec![said("a", Accepted), said("b", Failed), said("c", Failed)];
    assert_eq!(t.record(late).await, Recorded::LostLease { completed: false });
    let row = t.get(first.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Open, 0), ("c", Accepted, 0)]
    );
}

pub async fn a_requeue_opens_only_who_failed(t: &TestStore) {
    let claimed = to_three(t).await;
    let mut record = park(&claimed);
    record.recipients = vec![said("a", Accepted), said("b", Failed), said("c", Accepted)];
    t.record(record).await;
    let ask = [(claimed.id, claimed.lane)];
    assert_eq!(
        t.store.requeue(TENANT, &ask, &admin()).await.unwrap(),
        [Acted::Done]
    );
    let again = t.claim_one(claimed.lane).await;
    assert_eq!((again.generation, again.attempts), (1, 0));
    let list = ["a", "b", "c"].map(String::from).to_vec();
    assert_eq!(open_targets(list, &again.known, again.generation), ["b"]);
    let mut record = park(&again);
    record.recipients = vec![said("b", Failed)];
    t.record(record).await;
    let row = t.get(claimed.id).await;
    assert_eq!(
        states(&row.recipients),
        [("a", Accepted, 0), ("b", Failed, 1), ("c", Accepted, 0)]
    );
}
