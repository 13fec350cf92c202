//! What is old goes, and nothing else.

use crate::harness::*;
use domain::{AuditKind, Clock, Status};
use store::{
    jobs::{NewJob, Progress},
    maintenance::{Purged, Retention},
    outbox::Ingested,
    query::{AuditFilter, Filter, KpiAsk, Page},
};
use uuid::Uuid;

const KEEP: Retention = Retention {
    events: DAY,
    terminal: DAY,
    audit: DAY.saturating_mul(365),
    spent_keys: None,
    stats: DAY.saturating_mul(31),
    transcripts: DAY.saturating_mul(365),
};

async fn purge(t: &TestStore, keep: &Retention, chunk: u32) -> Purged {
    t.store.purge_chunk(keep, chunk).await.unwrap()
}

pub async fn what_waits_is_never_purged(t: &TestStore) {
    let lane = t.lane("mail").await;
    let pending = t.send(lane).await;
    let claimed = t.claim_one(lane).await;
    let retrying = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, DAY * 9_999)).await;
    t.clock.advance(DAY * 5_000);
    assert_eq!(purge(t, &KEEP, 100).await.notifications, 0);
    assert_eq!(t.status(pending).await, Status::Pending);
    assert_eq!(t.status(retrying).await, Status::Retrying);
    t.record(delivered(&claimed)).await;
    assert_eq!(
        purge(t, &KEEP, 100).await.notifications,
        0,
        "it has only just ended"
    );
    t.clock.advance(DAY);
    assert_eq!(
        purge(t, &KEEP, 100).await.notifications,
        0,
        "exactly at the time is not past it"
    );
    t.clock.advance(SECOND);
    assert_eq!(purge(t, &KEEP, 100).await.notifications, 1);
}

pub async fn a_purge_goes_in_chunks_oldest_first(t: &TestStore) {
    let lane = t.lane("mail").await;
    let mut ids = vec![];
    for i in 0..7 {
        ids.push(if i % 2 == 0 {
            t.delivered(lane).await
        } else {
            t.parked(lane).await
        });
        t.clock.advance(SECOND);
    }
    let last_end = t.clock.now() - SECOND;
    t.clock.advance(DAY);
    let first = purge(t, &KEEP, 3).await;
    assert_eq!(first.notifications, 3);
    assert_eq!(first.oldest_left, Some(last_end - 3 * SECOND));
    for (i, id) in ids.iter().enumerate() {
        assert_eq!(t.store.get(TENANT, *id).await.unwrap().is_some(), i >= 3);
    }
    assert_eq!(purge(t, &KEEP, 3).await.notifications, 3);
    let last = purge(t, &KEEP, 3).await;
    assert_eq!((last.notifications, last.oldest_left), (1, None));
    assert_eq!(purge(t, &KEEP, 3).await.notifications, 0);
}

pub async fn a_purged_id_is_still_a_duplicate(t: &TestStore) {
    let lane = t.lane("mail").await;
    let one = mail();
    t.accept(lane, one.clone()).await;
    t.record(delivered(&t.claim_one(lane).await)).await;
    t.clock.advance(2 * DAY);
    assert_eq!(purge(t, &KEEP, 10).await.notifications, 1);
    assert_eq!(t.store.get(TENANT, one.id).await.unwrap(), None);
    let answers = t.ingest(lane, vec![mail(), one, mail()]).await;
    let spent = matches!(&answers[1], Ingested::Duplicate { status: None, .. });
    assert!(spent, "{answers:?}");
    assert_eq!(
        (&answers[0], &answers[2]),
        (&Ingested::Accepted, &Ingested::Accepted)
    );
    assert_eq!(t.claim(lane, 10).await.len(), 2);
}

pub async fn spent_keys_go_after_their_own_time(t: &TestStore) {
    let lane = t.lane("mail").await;
    let one = mail();
    t.accept(lane, one.clone()).await;
    t.record(delivered(&t.claim_one(lane).await)).await;
    t.clock.advance(2 * DAY);
    let keep = Retention {
        spent_keys: Some(10 * DAY),
        ..KEEP
    };
    assert_eq!(purge(t, &keep, 10).await.notifications, 1);
    t.clock.advance(10 * DAY);
    assert_eq!(purge(t, &keep, 10).await.spent_keys, 0);
    t.clock.advance(SECOND);
    assert_eq!(purge(t, &keep, 10).await.spent_keys, 1);
    assert_eq!(t.ingest_one(lane, one).await, Ingested::Accepted);
}

pub async fn everything_that_hangs_on_a_notification_goes_with_it(t: &TestStore) {
    let lane = t.lane("mail").await;
    let id = t.send(lane).await;
    let mut record = park(&t.claim_one(lane).await);
    record.recipients = vec![domain::settle::RecipientUpdate {
        address: "a@example.com".into(),
        state: domain::RecipientState::Failed,
        provider_message_id: None,
        cause: None,
        tried: true,
        wait: None,
    }];
    t.record(record).await;
    t.clock.advance(2 * DAY);
    assert_eq!(purge(t, &KEEP, 10).await.notifications, 1);
    assert_eq!(t.store.attempts(TENANT, id).await.unwrap(), None);
    let page = Page {
        limit: 10,
        after: None,
    };
    let log = t
        .store
        .audit(TENANT, &AuditFilter::default(), page)
        .await
        .unwrap()
        .rows;
    let kinds: Vec<_> = log.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [AuditKind::Purged, AuditKind::ProviderChanged]);
    assert_eq!(log[0].actor, "system");
}

pub async fn audit_rows_and_stats_go_after_their_own_time(t: &TestStore) {
    let lane = t.lane("mail").await;
    let waiting = t.send(lane).await;
    t.record(retry(&t.claim_one(lane).await, DAY * 9_999)).await;
    t.clock.advance(40 * DAY);
    let keep = Retention {
        audit: 30 * DAY,
        ..KEEP
    };
    let purged = purge(t, &keep, 1).await;
    assert_eq!(purged.audit_rows, 1, "at most a chunk at a time");
    let purged = purge(t, &keep, 100).await;
    assert_eq!(purged.audit_rows, 1, "the provider made and the attempt");
    assert_eq!(t.status(waiting).await, Status::Retrying);
    let first = purged.stats_rows;
    assert_eq!(purge(t, &keep, 100).await.stats_rows, 0);
    assert!(first <= 2);
    let ask = KpiAsk {
        stuck_after: DAY,
        delivered_window: DAY,
    };
    assert_eq!(t.store.kpis(Some(TENANT), ask).await.unwrap().queue_depth, 1);
}

pub async fn what_would_go_is_counted_up_to_the_bound(t: &TestStore) {
    let lane = t.lane("mail").await;
    for _ in 0..5 {
        t.delivered(lane).await;
    }
    t.send(lane).await;
    let ended = t.clock.now();
    assert_eq!(t.store.purgeable(&KEEP, 100).await.unwrap().notifications, 0);
    t.clock.advance(DAY + SECOND);
    let all = t.store.purgeable(&KEEP, 100).await.unwrap();
    assert_eq!((all.notifications, all.oldest_left), (5, Some(ended)));
    assert_eq!(t.store.purgeable(&KEEP, 3).await.unwrap().notifications, 3);
}

pub async fn a_purged_notification_is_gone_from_every_page(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.parked(lane).await;
    t.clock.advance(2 * DAY);
    purge(t, &KEEP, 10).await;
    let filters = [vec![], vec![Status::Parked], vec![Status::Delivered]];
    for status in filters {
        let filter = Filter {
            status,
            ..Filter::default()
        };
        let page = Page {
            limit: 10,
            after: None,
        };
        assert_eq!(t.store.list(TENANT, &filter, page).await.unwrap().rows, []);
    }
    let ask = KpiAsk {
        stuck_after: DAY,
        delivered_window: DAY,
    };
    assert_eq!(t.store.kpis(Some(TENANT), ask).await.unwrap().parked_count, 0);
}

pub async fn bulk_actions_that_ended_go_after_their_time_and_no_others(t: &TestStore) {
    let new = || NewJob {
        id: Uuid::new_v4(),
        tenant: TENANT,
        action: "retry".into(),
        filter: "{}".into(),
        actor: admin(),
        total: 1,
        reason: None,
    };
    let done = t.store.create_job(new()).await.unwrap();
    t.store.claim_job("n1", MINUTE).await.unwrap().unwrap();
    let finished = Progress {
        finished: true,
        ..Progress::default()
    };
    t.store
        .job_progress(done.id, "n1", &finished, MINUTE)
        .await
        .unwrap();
    let open = t.store.create_job(new()).await.unwrap();
    t.clock.advance(DAY);
    assert_eq!(purge(t, &KEEP, 10).await.jobs, 0);
    t.clock.advance(SECOND);
    assert_eq!(t.store.purgeable(&KEEP, 10).await.unwrap().jobs, 1);
    assert_eq!(purge(t, &KEEP, 10).await.jobs, 1);
    assert_eq!(t.store.job(TENANT, done.id).await.unwrap(), None);
    assert!(
        t.store.job(TENANT, open.id).await.unwrap().is_some(),
        "it has not ended"
    );
}

pub async fn an_event_goes_after_its_notifications_and_its_id_stays_spent(t: &TestStore) {
    let lane = t.lane("mail").await;
    let new = super::events::event("1");
    t.store.emit(vec![new.clone()]).await.unwrap();
    let waits = super::events::event("2");
    t.store.emit(vec![waits.clone()]).await.unwrap();
    let row = t.store.due_events(None, 10).await.unwrap().rows.remove(0);
    let notification = super::events::notification(lane);
    let id = notification.submission.id;
    let work = super::events::publish_now(t, &row, vec![notification]);
    t.store.publish_events(vec![work]).await.unwrap();
    t.clock.advance(2 * DAY);
    let keep = Retention {
        terminal: HOUR,
        ..KEEP
    };
    assert_eq!(purge(t, &keep, 10).await.events, 0, "its notification waits");
    let claimed = t.claim_one(lane).await;
    t.record(delivered(&claimed)).await;
    t.clock.advance(2 * HOUR);
    assert_eq!(t.store.purgeable(&keep, 10).await.unwrap().events, 0);
    let purged = purge(t, &keep, 10).await;
    assert_eq!(
        (purged.notifications, purged.events),
        (1, 1),
        "it goes with the last of them"
    );
    assert_eq!(t.store.get(TENANT, id).await.unwrap(), None);
    assert_eq!(t.store.schedule(TENANT, new.id).await.unwrap(), None);
    assert!(
        t.store.event(TENANT, waits.id).await.unwrap().is_some(),
        "what is pending stays"
    );
    assert!(t.store.emit(vec![new]).await.unwrap()[0].duplicate);
}

pub async fn events_that_failed_or_were_deferred_go_after_their_time(t: &TestStore) {
    use store::events::{EventEnd, SettleEvent};
    let ends = [
        EventEnd::Failed,
        EventEnd::Deferred,
        EventEnd::Wait(365 * DAY),
        EventEnd::Retry(365 * DAY),
    ];
    let new: Vec<_> = ends.iter().map(|_| super::events::event("1")).collect();
    t.store.emit(new.clone()).await.unwrap();
    let rows = t.store.due_events(None, 10).await.unwrap().rows;
    let settle = rows.iter().zip(ends).map(|(row, to)| SettleEvent {
        seq: row.seq,
        to,
        error: "no".into(),
    });
    t.store.settle_events(settle.collect()).await.unwrap();
    t.clock.advance(DAY);
    assert_eq!(purge(t, &KEEP, 10).await.events, 0, "not before it is over");
    t.clock.advance(HOUR);
    assert_eq!(purge(t, &KEEP, 10).await.events, 2);
    let mut left = vec![];
    for event in &new {
        left.push(t.store.event(TENANT, event.id).await.unwrap().is_some());
    }
    assert_eq!(left, [false, false, true, true], "what is pending stays");
    let again = t.store.emit(new).await.unwrap();
    assert!(again.iter().all(|one| one.duplicate), "their ids stay spent");
}
