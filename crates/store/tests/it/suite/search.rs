//! Looking for a notification by what people have of it.

use super::query::{ids, walk};
use crate::harness::*;
use domain::{NotificationId, RecipientState, Status, settle::RecipientUpdate};
use store::query::Filter;

pub async fn the_keyword_is_found_in_any_case(t: &TestStore) {
    let lane = t.lane("mail").await;
    let about = |subject: &str| saying(mail(), |c| c.subject = subject.into());
    let id = t.accept(lane, about("Überlauf in Tank 7 (100 %_)")).await;
    t.accept(lane, about("all is well")).await;
    for word in ["überlauf", "ÜBERLAUF", "tank 7", "%_", "7 ("] {
        let filter = Filter {
            keyword: Some(word.into()),
            ..Filter::default()
        };
        assert_eq!(ids(t, filter).await, [id], "{word}");
    }
}

pub async fn words_are_found_in_any_order_in_subject_address_and_providers_id(t: &TestStore) {
    let lane = t.lane("mail").await;
    let sent = saying(mail(), |c| {
        c.subject = "Pump 7 is empty".into();
        c.target = domain::Target::Recipients(vec!["ann@example.com".into()]);
    });
    let id = t.accept(lane, sent).await;
    let claimed = t.claim_one(lane).await;
    t.record(delivered(&claimed)).await;
    let other = t
        .accept(lane, saying(mail(), |c| c.subject = "Pump 8 is full".into()))
        .await;
    let asked = |words: &str| Filter {
        keyword: Some(words.into()),
        ..Filter::default()
    };
    // "remote-1" is what the far end called it.
    for words in [
        "empty pump",
        "ANN@example.com",
        "ann@ 7",
        "Remote-1",
        "remote-1 pump",
    ] {
        assert_eq!(ids(t, asked(words)).await, [id], "{words}");
    }
    assert_eq!(ids(t, asked("pump is")).await, [other, id]);
    assert_eq!(ids(t, asked("pump empty bob@example.com")).await, []);
}

pub async fn ids_that_begin_alike_are_found_by_their_beginning(t: &TestStore) {
    let lane = t.lane("mail").await;
    let numbered = |n: u128| domain::Submission {
        id: NotificationId(uuid::Uuid::from_u128((0xabcd_ef01 << 96) + n)),
        ..mail()
    };
    let (one, two) = (
        t.accept(lane, numbered(1)).await,
        t.accept(lane, numbered(2)).await,
    );
    t.send_many(lane, 3).await;
    let within = |text: &str| Filter {
        ids: domain::IdRange::of(text),
        ..Filter::default()
    };
    assert_eq!(ids(t, within("abcdef01")).await, [two, one]);
    assert_eq!(ids(t, within(&one.to_string())).await, [one]);
    assert_eq!(walk(t, &within("ABCDEF01"), 1).await, [two, one]);
    assert_eq!(ids(t, within("abcdef02")).await, []);
    let parked = Filter {
        status: vec![Status::Parked],
        ..within("abcdef01")
    };
    assert_eq!(ids(t, parked).await, [], "the other filters hold");
}

pub async fn what_the_provider_called_it_for_any_recipient_is_found(t: &TestStore) {
    let lane = t.lane("mail").await;
    let three = ["+31", "+32", "+33"].map(String::from).to_vec();
    let sent = saying(mail(), |c| c.target = domain::Target::Recipients(three));
    let id = t.accept(lane, sent).await;
    t.send(lane).await;
    let asked = |words: &str| Filter {
        keyword: Some(words.into()),
        ..Filter::default()
    };
    let claimed = t.claim_one(lane).await;
    let mut record = retry(&claimed, SECOND);
    record.recipients = vec![
        told("+31", Some("SM1")),
        told("+32", Some("SM2")),
        told("+33", None),
    ];
    t.record(record).await;
    assert_eq!(ids(t, asked("sm2")).await, [id], "while one is still open");
    t.clock.advance(SECOND);
    let claimed = t.claim(lane, 2).await.into_iter().find(|row| row.id == id);
    let mut record = delivered(&claimed.unwrap());
    record.recipients = vec![told("+33", Some("SM3"))];
    t.record(record).await;
    for words in ["SM1", "sm2 +31", "SM3"] {
        assert_eq!(ids(t, asked(words)).await, [id], "{words}");
    }
    assert_eq!(ids(t, asked("SM4")).await, []);
}

fn told(address: &str, message_id: Option<&str>) -> RecipientUpdate {
    RecipientUpdate {
        address: address.into(),
        state: message_id.map_or(RecipientState::Open, |_| RecipientState::Accepted),
        provider_message_id: message_id.map(str::to_owned),
        cause: None,
        tried: true,
        wait: None,
    }
}
