//! Taking in.

use crate::harness::*;
use domain::{
    Actor, Channel, Clock, ExecutionId, NotificationId, ProviderId, Status, Submission, Target,
    submission::Provenance,
};
use store::outbox::{Ingested, NewNotification};

pub fn duplicate(same_content: bool, status: Status) -> Ingested {
    Ingested::Duplicate {
        same_content,
        status: Some(status),
    }
}

pub async fn the_same_id_twice_is_one_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let one = mail();
    assert_eq!(t.ingest_one(lane, one.clone()).await, Ingested::Accepted);
    assert_eq!(t.ingest_one(lane, one).await, duplicate(true, Status::Pending));
    assert_eq!(t.claim(lane, 10).await.len(), 1);
}

pub async fn the_same_id_twice_in_one_batch_is_one_row(t: &TestStore) {
    let lane = t.lane("mail").await;
    let one = mail();
    let other = saying(one.clone(), |c| c.body = "something else".into());
    let answers = t
        .ingest(lane, vec![one.clone(), mail(), one.clone(), other])
        .await;
    let expected = [
        Ingested::Accepted,
        Ingested::Accepted,
        duplicate(true, Status::Pending),
        duplicate(false, Status::Pending),
    ];
    assert_eq!(answers, expected);
    assert_eq!(t.claim(lane, 10).await.len(), 2);
    assert_eq!(t.get(one.id).await.submission.content.body, one.content.body);
}

pub async fn another_tenants_id_is_no_duplicate(t: &TestStore) {
    let lane = t.lane("mail").await;
    let elsewhere = t.tenant("elsewhere").await;
    let their_lane = t.provider(elsewhere, "mail").await.lane;
    let ours = mail();
    let theirs = Submission {
        tenant: elsewhere,
        ..ours.clone()
    };
    assert_eq!(t.ingest_one(lane, ours).await, Ingested::Accepted);
    assert_eq!(t.ingest_one(their_lane, theirs).await, Ingested::Accepted);
    assert_eq!(t.claim(lane, 10).await.len(), 1);
    assert_eq!(t.claim(their_lane, 10).await.len(), 1);
}

pub async fn different_content_keeps_the_first_and_says_so(t: &TestStore) {
    let lane = t.lane("mail").await;
    let first = mail();
    let second = saying(first.clone(), |c| c.body = "something else".into());
    t.accept(lane, first.clone()).await;
    assert_eq!(
        t.ingest_one(lane, second).await,
        duplicate(false, Status::Pending)
    );
    assert_eq!(t.get(first.id).await.submission, first);
}

pub async fn a_duplicate_tells_where_the_first_stands(t: &TestStore) {
    let lane = t.lane("mail").await;
    let one = mail();
    t.accept(lane, one.clone()).await;
    let claimed = t.claim_one(lane).await;
    t.record(retry(&claimed, SECOND)).await;
    assert_eq!(
        t.ingest_one(lane, one.clone()).await,
        duplicate(true, Status::Retrying)
    );
    t.clock.advance(SECOND);
    let claimed = t.claim_one(lane).await;
    t.record(delivered(&claimed)).await;
    assert_eq!(t.ingest_one(lane, one).await, duplicate(true, Status::Delivered));
}

pub async fn what_was_taken_in_is_read_back_to_the_last_field(t: &TestStore) {
    let lane = t.lane("mail").await;
    let now = t.clock.now();
    let full = Submission {
        idempotency_key: Some("order-7".into()),
        provenance: Provenance {
            site: Some("plant-2".into()),
            instance: Some("line-4".into()),
            script: Some("alarms.lua".into()),
            execution: Some(ExecutionId::new("run-9")),
            parent_execution: Some(ExecutionId::new("run-8")),
        },
        submitted_by: Actor::new("site:plant-2"),
        site_enqueued_at: Some(now - MINUTE),
        resend_of: Some(NotificationId::mint()),
        trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            .parse()
            .ok(),
        ..saying(mail(), |c| {
            c.provider = Some(ProviderId::new("mail"));
            c.target = Target::Recipients(vec!["a@example.com".into(), "\"b\" <b@example.com>".into()]);
            c.subject = "Größe: 5 µm, 温度".into();
            c.body = "line one\r\nline two\t\u{1F525}".into();
            c.type_data = Some(r#"{"priority": "high"}"#.into());
            c.entity_type = Some("order".into());
            c.entity_id = Some("7".into());
            c.send_at = Some(now + HOUR);
            c.expires_at = Some(now + DAY);
            c.supersedes_key = Some("tank-7".into());
            c.body_html = Some("<p>hello</p>".into());
            c.rule_name = Some("level".into());
            c.rule_id = Some("r1".into());
            c.run_id = Some("u1".into());
        })
    };
    t.accept(lane, full.clone()).await;
    let read = t.get(full.id).await;
    assert_eq!(read.submission, full);
    assert_eq!(
        (read.status, read.retry_count, read.generation),
        (Status::Pending, 0, 0)
    );
    assert_eq!(read.created_at, now);
    assert_eq!(read.waiting_since, now + HOUR);
    assert_eq!(read.next_attempt_at, Some(now + HOUR));
    assert_eq!(read.provider.as_deref(), Some("mail"));

    let bare = saying(mail(), |c| {
        c.channel = Some(Channel::Webhook);
        c.target = Target::Provider;
    });
    t.accept(lane, bare.clone()).await;
    assert_eq!(t.get(bare.id).await.submission, bare);
}

pub async fn a_nul_is_refused_alone_among_five_hundred(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut batch: Vec<_> = (0..500).map(|_| mail()).collect();
    batch[317].content.body = "before\0after".into();
    let answers = t.ingest(lane, batch).await;
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(
            matches!(answer, Ingested::Refused(_)),
            i == 317,
            "{i}: {answer:?}"
        );
        assert_eq!(matches!(answer, Ingested::Accepted), i != 317, "{i}: {answer:?}");
    }
    let Ingested::Refused(words) = &answers[317] else {
        unreachable!()
    };
    assert!(
        !words.contains("instr") && !words.contains("before"),
        "for people: {words}"
    );
    assert_eq!(t.claim(lane, 1_000).await.len(), 499);
}

pub async fn an_over_long_value_is_refused_alone(t: &TestStore) {
    let lane = t.lane("mail").await;
    let long_subject = saying(mail(), |c| c.subject = "ü".repeat(1_001));
    let longest_subject = saying(mail(), |c| c.subject = "ü".repeat(1_000));
    let long_body = saying(mail(), |c| c.body = "x".repeat((1 << 20) + 1));
    let long_site = from_site(&"s".repeat(256));
    let answers = t
        .ingest(
            lane,
            vec![
                mail(),
                long_subject,
                longest_subject,
                long_body,
                long_site,
                mail(),
            ],
        )
        .await;
    let accepted: Vec<_> = answers.iter().map(|a| *a == Ingested::Accepted).collect();
    assert_eq!(accepted, [true, false, true, false, false, true]);
    assert!(
        answers
            .iter()
            .all(|a| matches!(a, Ingested::Accepted | Ingested::Refused(_)))
    );
}

pub async fn every_text_with_a_nul_is_refused(t: &TestStore) {
    let lane = t.lane("mail").await;
    let nul = || Some("a\0b".to_string());
    let bad = vec![
        saying(mail(), |c| c.subject = "a\0b".into()),
        Submission {
            idempotency_key: nul(),
            ..mail()
        },
        saying(mail(), |c| c.target = Target::List("a\0b".into())),
        saying(mail(), |c| c.target = Target::Recipients(vec!["a\0b".into()])),
        saying(mail(), |c| c.type_data = nul()),
        from_site("a\0b"),
        saying(mail(), |c| c.entity_type = nul()),
        saying(mail(), |c| c.entity_id = nul()),
        saying(mail(), |c| c.supersedes_key = nul()),
        Submission {
            submitted_by: Actor::new("a\0b"),
            ..mail()
        },
        saying(mail(), |c| c.provider = Some(ProviderId::new("a\0b"))),
        saying(mail(), |c| c.body_html = nul()),
    ];
    for (i, answer) in t.ingest(lane, bad).await.into_iter().enumerate() {
        assert!(matches!(answer, Ingested::Refused(_)), "{i}: {answer:?}");
    }
    assert_eq!(t.claim(lane, 100).await, []);
}

pub async fn the_six_characters_that_escape_a_nul_are_none(t: &TestStore) {
    let lane = t.lane("mail").await;
    let text = r"a\u0000b";
    let fine = saying(mail(), |c| {
        c.target = Target::Recipients(vec![text.into()]);
        c.body_html = Some(text.into());
    });
    t.accept(lane, fine.clone()).await;
    assert_eq!(t.get(fine.id).await.submission, fine);
}

pub async fn a_row_with_send_at_is_due_then(t: &TestStore) {
    let lane = t.lane("mail").await;
    let later = saying(mail(), |c| c.send_at = Some(t.clock.now() + HOUR));
    t.accept(lane, later).await;
    t.clock.advance(HOUR - SECOND);
    assert_eq!(t.claim(lane, 1).await, []);
    t.clock.advance(SECOND);
    t.claim_one(lane).await;
}

pub async fn a_send_at_in_the_past_is_due_now(t: &TestStore) {
    let lane = t.lane("mail").await;
    let now = t.clock.now();
    let past = saying(mail(), |c| c.send_at = Some(now - DAY));
    let id = t.accept(lane, past).await;
    assert_eq!(t.get(id).await.waiting_since, now);
    t.claim_one(lane).await;
}

pub async fn an_empty_batch_is_no_error(t: &TestStore) {
    assert_eq!(t.store.ingest(vec![]).await.unwrap(), []);
    assert_eq!(t.store.record([].into()).await.unwrap(), []);
}

pub async fn many_callers_at_once_each_get_their_own_answers(t: &TestStore) {
    let lane = t.lane("mail").await;
    let shared = mail();
    let calls = (0..50).map(|i| {
        let (store, shared) = (t.store.clone(), shared.clone());
        tokio::spawn(async move {
            let mut batch: Vec<_> = (0..i % 7 + 1).map(|_| mail()).collect();
            batch.push(shared);
            let batch: Vec<_> = batch
                .into_iter()
                .map(|submission| NewNotification { submission, lane })
                .collect();
            let n = batch.len();
            let answers = store.ingest(batch).await.unwrap();
            assert_eq!(answers.len(), n);
            assert!(answers[..n - 1].iter().all(|a| *a == Ingested::Accepted));
            answers[n - 1] == Ingested::Accepted
        })
    });
    let first = futures_util::future::join_all(calls).await;
    let accepted = first.into_iter().filter(|was| *was.as_ref().unwrap()).count();
    assert_eq!(
        accepted, 1,
        "exactly one of fifty senders of the same id was first"
    );
}
