//! What sites hand in.

use super::{Linked, everything, north};
use crate::world::TENANT;
use domain::{AuditKind, Channel, NotificationId, ProviderId, Status, Target, site::OperationStatus};
use link::{Ack, Uplink};
use store::sites::CallFilter;
use testkit::eventually;
use testkit::site::{a_forward, a_full_forward, a_telemetry};

#[tokio::test]
async fn what_a_site_hands_in_is_stored_in_the_sites_own_name() {
    let linked = Linked::new().await;
    let mut item = a_full_forward();
    // Nobody serves its type here: what is named is stored as it is.
    item.content.provider = None;
    assert_eq!(
        linked.link.submit(vec![item.clone()]).await.unwrap(),
        [Ack::Accepted]
    );
    let stored = linked.world.get(item.id).await;
    let s = stored.submission;
    assert_eq!(
        (s.submitted_by.as_str(), s.provenance.site.as_deref()),
        ("site:north", Some("north"))
    );
    assert_eq!(s.content, item.content, "to the last field");
    assert_eq!(
        (s.provenance.instance, s.provenance.script),
        (item.instance, item.script)
    );
    assert_eq!(s.provenance.execution.map(|e| e.to_string()), item.execution);
    assert_eq!(s.site_enqueued_at, Some(item.site_enqueued_at));
    let sends = linked.log(AuditKind::NotifySend).await;
    assert_eq!(
        (sends.len(), sends[0].execution.as_deref()),
        (1, Some("e1")),
        "one NotifySend with its execution"
    );
}

#[tokio::test]
async fn a_resend_after_a_lost_ack_creates_no_second_row() {
    let linked = Linked::new().await;
    let batch = vec![a_forward(), a_forward()];
    linked.network.mute_central();
    let sending = linked.link.submit(batch.clone());
    let cutting = async {
        let store = &linked.world.central.store;
        eventually("central to have it", async || {
            store.get(TENANT, batch[1].id).await.unwrap()
        })
        .await;
        linked.network.cut();
    };
    let (lost, ()) = tokio::join!(sending, cutting);
    lost.unwrap_err();
    linked.down().await;
    linked.network.mend();
    linked.up().await;
    assert_eq!(
        linked.link.submit(batch.clone()).await.unwrap(),
        [Ack::Duplicate, Ack::Duplicate]
    );
    let filter = store::query::Filter::default();
    let rows = linked
        .world
        .central
        .store
        .list(TENANT, &filter, everything())
        .await
        .unwrap()
        .rows;
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn an_id_that_is_known_with_other_content_is_refused_so_that_the_site_parks_it() {
    let linked = Linked::new().await;
    let first = a_forward();
    assert_eq!(
        linked.link.submit(vec![first.clone()]).await.unwrap(),
        [Ack::Accepted]
    );
    let mut other = first.clone();
    other.content.body = "something else altogether".into();
    let acks = linked
        .link
        .submit(vec![other, a_forward(), first.clone()])
        .await
        .unwrap();
    let Ack::Refused(why) = &acks[0] else {
        panic!("{acks:?}");
    };
    assert!(why.contains("another notification under this id"), "{why}");
    assert_eq!(acks[1..], [Ack::Accepted, Ack::Duplicate]);
    let stored = linked.world.get(first.id).await.submission.content;
    assert_eq!(stored.body, first.content.body, "the first stays as it is");
}

#[tokio::test]
async fn one_bad_item_is_refused_alone_and_in_words() {
    let linked = Linked::new().await;
    let mut blank = a_forward();
    blank.content.target = Target::List(" ".into());
    blank.content.subject = "x".repeat(2_000);
    let mut unknown = a_forward();
    unknown.content.provider = Some(ProviderId::new("nobody"));
    let acks = linked
        .link
        .submit(vec![a_forward(), blank, unknown, a_forward()])
        .await
        .unwrap();
    let words = |ack: &Ack| match ack {
        Ack::Refused(why) => why.clone(),
        other => format!("{other:?}"),
    };
    let words: Vec<_> = acks.iter().map(words).collect();
    assert_eq!((words[0].as_str(), words[3].as_str()), ("Accepted", "Accepted"));
    assert!(
        words[1].contains("subject: must be at most 1000") && words[1].contains("listName: must not"),
        "{}",
        words[1]
    );
    assert_eq!(words[2], "providerId: there is no such provider");
}

#[tokio::test]
async fn a_store_that_cannot_is_not_now_and_parks_nothing() {
    let linked = Linked::new().await;
    linked.world.central.store.close().await;
    let acks = linked.link.submit(vec![a_forward()]).await.unwrap();
    assert!(matches!(acks[0], Ack::NotNow(_)), "{acks:?}");
    assert_eq!(linked.link.telemetry(vec![a_telemetry()]).await.unwrap(), [false]);
    assert!(linked.link.status(NotificationId::mint()).await.is_err());
}

#[tokio::test]
async fn a_site_asks_about_what_it_sent_and_nothing_else() {
    let linked = Linked::new().await;
    let item = a_forward();
    linked.link.submit(vec![item.clone()]).await.unwrap();
    let status = linked.link.status(item.id).await.unwrap().unwrap();
    assert_eq!((status.status, status.retry_count), (Status::Pending, 0));
    assert_eq!(status.enqueued_at, item.site_enqueued_at);
    let others = linked.world.send(testkit::a_notification()).await;
    assert_eq!(linked.link.status(others).await.unwrap(), None);
    assert_eq!(linked.link.status(NotificationId::mint()).await.unwrap(), None);
}

#[tokio::test]
async fn telemetry_told_twice_is_kept_once() {
    let linked = Linked::new().await;
    let news = vec![a_telemetry(), a_telemetry()];
    for _ in 0..2 {
        assert_eq!(linked.link.telemetry(news.clone()).await.unwrap(), [true, true]);
    }
    let store = &linked.world.central.store;
    let calls = store
        .site_calls(TENANT, &CallFilter::default(), everything())
        .await
        .unwrap()
        .rows;
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (calls[0].site.clone(), calls[0].status),
        (north(), OperationStatus::Retrying)
    );
    assert_eq!(linked.log(AuditKind::CachedWrite).await.len(), 2);
}

#[tokio::test]
async fn recipients_for_a_type_that_has_none_are_refused_with_the_reason_and_the_site_keeps_them() {
    let linked = Linked::new().await;
    let mut named = a_forward();
    named.content.channel = Some(Channel::Webhook);
    named.content.target = Target::Recipients(vec!["a@example.com".into()]);
    let mut rubbish = a_forward();
    rubbish.content.target = Target::Recipients(vec!["rubbish".into()]);
    let answers = linked.link.submit(vec![named, rubbish]).await.unwrap();
    let why = |ack: &Ack| match ack {
        Ack::Refused(why) => why.clone(),
        other => panic!("{other:?}"),
    };
    assert!(why(&answers[0]).contains("has no recipients"), "{answers:?}");
    assert!(why(&answers[1]).starts_with("to[0]"), "{answers:?}");
}
