//! What is not to be asked for just now, narrower than a lane; and rows that come again at their time.

use crate::harness::*;
use domain::{Clock, RecipientState, Status, Target, settle::RecipientUpdate};
use store::outbox::{Cause, MAX_PAUSES, NewPause, Recorded};

fn pause(key: i64, seconds: u32) -> NewPause {
    NewPause {
        key,
        wait: seconds * SECOND,
        reason: "RATE_LIMITED".into(),
    }
}

pub async fn pauses_of_a_lane_are_told_with_a_version_that_every_claim_knows(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send_many(lane, 3).await;
    assert_eq!(t.claim_one(lane).await.pauses_version, 0);
    let paused = vec![pause(7, 60), pause(-8, 5)];
    t.store.add_pauses(lane, paused).await.unwrap();
    // Never shorter.
    t.store.add_pauses(lane, vec![pause(7, 1)]).await.unwrap();
    let mut found = t.store.pauses(lane).await.unwrap();
    found.until.sort_unstable();
    let now = t.clock.now();
    assert_eq!(found.until, [(-8, now + 5 * SECOND), (7, now + 60 * SECOND)]);
    assert_eq!(t.claim(lane, 1).await[0].pauses_version, found.version);
    t.clock.advance(5 * SECOND);
    assert_eq!(t.store.pauses(lane).await.unwrap().until.len(), 1);
    let other = t.provider(TENANT, "other").await.lane;
    assert_eq!(t.store.pauses(other).await.unwrap(), Default::default());
}

pub async fn more_pauses_than_are_told_apart_pause_the_lane(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    let most = i64::try_from(MAX_PAUSES).unwrap();
    let many = (0..most).map(|key| pause(key, 60)).collect();
    t.store.add_pauses(lane, many).await.unwrap();
    t.store.add_pauses(lane, vec![pause(most, 30)]).await.unwrap();
    let found = t.store.pauses(lane).await.unwrap();
    assert_eq!(found.until.len() as u64, MAX_PAUSES);
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(30 * SECOND);
    assert_eq!(t.claim(lane, 1).await.len(), 1);
    // Those whose time is up make room.
    t.clock.advance(30 * SECOND);
    t.store.add_pauses(lane, vec![pause(most, 60)]).await.unwrap();
    assert_eq!(t.store.pauses(lane).await.unwrap().until.len(), 1);
}

pub async fn a_postponed_row_comes_again_at_its_time_and_counts_nothing(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    assert_eq!(t.record(postpone(&claimed, MINUTE)).await, Recorded::Done);
    let row = t.get(id).await;
    assert_eq!((row.status, row.retry_count), (Status::Pending, 0));
    assert_eq!(row.last_code.as_deref(), Some("OUTSIDE_HOURS"));
    assert_eq!(row.next_attempt_at, Some(t.clock.now() + MINUTE));
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(MINUTE);
    let again = t.claim_one(lane).await;
    assert_eq!((again.attempts, again.interruptions), (0, 0));
    t.record(delivered(&again)).await;
    assert_eq!(t.status(id).await, Status::Delivered);
}

pub async fn what_is_noted_while_a_row_is_being_sent_is_known_to_the_next_claim(t: &TestStore) {
    let lane = t.lane("mail").await;
    let two = ["a", "b"].map(String::from).to_vec();
    let submission = saying(mail(), |c| c.target = Target::Recipients(two));
    t.accept(lane, submission).await;
    let claimed = t.claim_one(lane).await;
    let noted = |state, tried| RecipientUpdate {
        address: "a".into(),
        state,
        provider_message_id: None,
        cause: Some(Cause::new("AMBIGUOUS", "asked")),
        tried,
        wait: Some(SECOND),
    };
    let note = |updates| t.store.note_recipients(claimed.lease, "mail", updates);
    assert!(note(vec![noted(RecipientState::Ambiguous, false)]).await.unwrap());
    assert!(note(vec![noted(RecipientState::Open, true)]).await.unwrap());
    assert!(note(vec![noted(RecipientState::Ambiguous, false)]).await.unwrap());
    t.clock.advance(LEASE);
    let again = t.claim_one(lane).await;
    let known = &again.known[0];
    assert_eq!(
        (known.state, known.tries, known.provider.as_deref()),
        (RecipientState::Ambiguous, 1, Some("mail"))
    );
    assert_eq!(known.not_before, Some(t.clock.now() - LEASE + SECOND));
    // Who lost the row changes nothing.
    assert!(!note(vec![noted(RecipientState::Open, true)]).await.unwrap());
    assert_eq!(t.get(claimed.id).await.recipients[0].tries, 1);
}

pub async fn the_only_recipient_of_a_row_stands_where_the_row_stands(t: &TestStore) {
    let lane = t.lane("mail").await;
    let to = |to: &[&str]| {
        let to = to.iter().map(ToString::to_string).collect();
        saying(mail(), |c| c.target = Target::Recipients(to))
    };
    let id = t.accept(lane, to(&["a"])).await;
    let only = t.get(id).await.only_recipient().unwrap();
    assert_eq!((only.address.as_str(), only.state), ("a", RecipientState::Open));
    t.record(park(&t.claim_one(lane).await)).await;
    let only = t.get(id).await.only_recipient().unwrap();
    assert_eq!(
        (only.state, only.tries, only.provider.as_deref()),
        (RecipientState::Failed, 1, Some("mail"))
    );
    assert_eq!(only.provider_code.as_deref(), Some("5.1.1"));
    let several = t.accept(lane, to(&["a", "b"])).await;
    assert_eq!(t.get(several).await.only_recipient(), None);
}
