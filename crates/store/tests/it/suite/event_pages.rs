//! Events and schedules as they are looked for: pages, by id, and whose they are.

use super::events::{due, emit, event, publish_now, schedule, waiting};
use crate::harness::*;
use domain::{AuditKind, Clock, EventId, EventStatus, LeaseToken, ScheduleStatus, TenantId};
use store::{
    events::{
        Event, EventEnd, EventFilter, NewEvent, NewSchedule, PublishEvent, ScheduleFilter, SettleEvent,
    },
    query::{AuditFilter, Page, SCAN_BOUND},
};

pub async fn pages_of_events_and_schedules_stay_within_the_tenant(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    for n in 0..5 {
        waiting(t, &n.to_string(), DAY).await;
    }
    emit(
        t,
        vec![NewEvent {
            tenant: "elsewhere".into(),
            ..event("9")
        }],
    )
    .await;
    emit(
        t,
        vec![NewEvent {
            tenant: "nowhere".into(),
            ..event("8")
        }],
    )
    .await;
    let filter = EventFilter::default();
    let page = |after| Page { limit: 2, after };
    let (mut seen, mut after) = (vec![], None);
    loop {
        let found = t.store.events(Some(TENANT), &filter, page(after)).await.unwrap();
        seen.extend(found.rows.into_iter().map(|e| e.entity_id));
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
    let count = async |tenant: Option<TenantId>, filter: EventFilter| {
        let found = t
            .store
            .events(
                tenant,
                &filter,
                Page {
                    limit: 100,
                    after: None,
                },
            )
            .await
            .unwrap();
        found.rows.len()
    };
    assert_eq!(count(Some(elsewhere), EventFilter::default()).await, 1);
    assert_eq!(count(None, EventFilter::default()).await, 7);
    let pending = EventFilter {
        status: Some(EventStatus::Pending),
        ..EventFilter::default()
    };
    assert_eq!(count(None, pending.clone()).await, 2);
    let across = EventFilter {
        across: true,
        ..pending
    };
    assert_eq!(count(Some(elsewhere), across).await, 1);
    let of_entity = ScheduleFilter {
        entity: Some(("booking".into(), "3".into())),
        ..ScheduleFilter::default()
    };
    let found = async |tenant, filter: &ScheduleFilter| {
        let page = Page {
            limit: 3,
            after: None,
        };
        t.store.schedules(tenant, filter, page).await.unwrap()
    };
    assert_eq!(found(TENANT, &of_entity).await.rows.len(), 1);
    assert_eq!(found(elsewhere, &of_entity).await.rows.len(), 0);
    let all = found(TENANT, &ScheduleFilter::default()).await;
    assert_eq!((all.rows.len(), all.next.is_some()), (3, true));
}

pub async fn an_event_is_found_by_its_id_whoever_it_belongs_to(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let of = |tenant: &str, one: &NewEvent| NewEvent {
        tenant: tenant.into(),
        ..one.clone()
    };
    let (twice, nobodys) = (event("1"), event("2"));
    let others = (0..20).map(|n| of(&format!("t{n}"), &event("3")));
    let mut all: Vec<_> = others.collect();
    all.extend([
        of("nowhere", &nobodys),
        of("default", &twice),
        of("elsewhere", &twice),
    ]);
    emit(t, all).await;
    let found = async |id| -> Vec<_> {
        let found = t.store.events_by_id(id, 5).await.unwrap();
        found.into_iter().map(|e| (e.tenant, e.tenant_name)).collect()
    };
    assert_eq!(
        found(twice.id).await,
        [
            (Some(TENANT), "default".to_owned()),
            (Some(elsewhere), "elsewhere".to_owned())
        ]
    );
    assert_eq!(found(nobodys.id).await, [(None, "nowhere".to_owned())]);
    assert_eq!(found(EventId::mint()).await, []);
}

pub async fn what_a_deleted_tenant_left_never_becomes_that_of_the_next_of_its_name(t: &TestStore) {
    let plant = t.tenant("plant").await;
    let of_plant = || NewEvent {
        tenant: "plant".into(),
        ..event("1")
    };
    emit(t, vec![of_plant(), of_plant(), of_plant()]).await;
    let rows = due(t).await;
    let waits = PublishEvent {
        seq: rows[0].seq,
        schedule: NewSchedule {
            tenant: plant,
            ..schedule(t, &rows[0], ScheduleStatus::Pending, HOUR)
        },
        notifications: vec![],
    };
    t.store.publish_events(vec![waits]).await.unwrap();
    for (row, to) in [(&rows[1], EventEnd::Failed), (&rows[2], EventEnd::Retry(HOUR))] {
        let settle = SettleEvent {
            seq: row.seq,
            to,
            error: "no".into(),
        };
        t.store.settle_events(vec![settle]).await.unwrap();
    }
    t.store.delete_tenant(plant, &admin()).await.unwrap();
    let next = t.tenant("plant").await;
    t.store.replay_event(rows[1].seq, &admin()).await.unwrap();
    t.clock.advance(HOUR);
    let again = due(t).await;
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|e| e.tenant.is_none()), "{again:?}");
    let claimed = t.store.claim_schedules(LeaseToken(1), MINUTE, 10).await.unwrap();
    assert_eq!(claimed.rows[0].event.tenant, None);
    // Failed once more and replayed once more, it is nobody's still.
    let settle = SettleEvent {
        seq: rows[1].seq,
        to: EventEnd::Failed,
        error: "Unknown tenant".into(),
    };
    t.store.settle_events(vec![settle]).await.unwrap();
    t.store.replay_event(rows[1].seq, &admin()).await.unwrap();
    assert!(due(t).await.iter().all(|e| e.tenant.is_none()));
    let page = Page {
        limit: 100,
        after: None,
    };
    let log = t.store.audit(next, &AuditFilter::default(), page).await.unwrap();
    let replays = log.rows.iter().filter(|row| row.kind == AuditKind::EventReplayed);
    assert_eq!(replays.count(), 0, "nor are its replays on the new one's record");
    emit(t, vec![of_plant()]).await;
    let new: Vec<_> = due(t).await.into_iter().filter_map(|e| e.tenant).collect();
    assert_eq!(new, [next], "what comes now is the new one's");
}

pub async fn the_schedules_of_an_entity_with_a_long_history_are_paged_to_the_end(t: &TestStore) {
    let row = waiting(t, "7", DAY).await;
    let many = SCAN_BOUND as usize;
    emit(t, (0..many).map(|_| event("7")).collect()).await;
    let rows = t.store.due_events(None, SCAN_BOUND).await.unwrap().rows;
    let work = rows.iter().map(|row| publish_now(t, row, vec![])).collect();
    t.store.publish_events(work).await.unwrap();
    let page = async |status, after| {
        let filter = ScheduleFilter {
            entity: Some(("booking".into(), "7".into())),
            status,
            event_type: Some("booking.confirmed".into()),
        };
        let page = Page { limit: 10, after };
        t.store.schedules(TENANT, &filter, page).await.unwrap()
    };
    let first = page(Some(ScheduleStatus::Pending), None).await;
    assert!(first.rows.is_empty() && first.next.is_some());
    let second = page(Some(ScheduleStatus::Pending), first.next).await;
    assert_eq!((second.rows[0].event, second.next), (row.id, None));
    let newest = page(None, None).await;
    let seqs: Vec<_> = newest.rows.iter().map(|s| s.event).collect();
    let wanted: Vec<_> = rows.iter().rev().take(10).map(|e| e.id).collect();
    assert_eq!(seqs, wanted, "in the order in which the events came");
    let older = page(None, newest.next).await;
    assert_eq!(older.rows[0].event, rows[many - 11].id);
    let of_no_type = ScheduleFilter {
        entity: Some(("booking".into(), "7".into())),
        event_type: Some("booking.cancelled".into()),
        ..ScheduleFilter::default()
    };
    let page = Page {
        limit: 10,
        after: None,
    };
    let none = t.store.schedules(TENANT, &of_no_type, page).await.unwrap();
    assert!(
        none.rows.is_empty() && none.next.is_some(),
        "there may be older ones"
    );
}

pub async fn stuck_events_are_those_of_the_tenant_that_had_failed_by_then(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    let of = |tenant: &str, entity: &str| NewEvent {
        tenant: tenant.into(),
        ..event(entity)
    };
    let new = vec![
        of("default", "1"),
        of("default", "2"),
        of("elsewhere", "3"),
        of("nobody", "4"),
    ];
    emit(t, new).await;
    let rows = due(t).await;
    let settle = async |row: &Event, to| {
        let error = "no".into();
        let settle = SettleEvent {
            seq: row.seq,
            to,
            error,
        };
        t.store.settle_events(vec![settle]).await.unwrap();
    };
    for (row, to) in rows.iter().zip([
        EventEnd::Failed,
        EventEnd::Deferred,
        EventEnd::Failed,
        EventEnd::Failed,
    ]) {
        settle(row, to).await;
    }
    let then = t.clock.now();
    t.clock.advance(MINUTE);
    emit(t, vec![event("5")]).await;
    let later = due(t).await.remove(0);
    settle(&later, EventEnd::Failed).await;
    let stuck = async |tenant, filter: EventFilter, by, limit| {
        let page = Page { limit, after: None };
        t.store.stuck_events(tenant, &filter, by, page).await.unwrap()
    };
    let seqs = |indexes: &[usize]| indexes.iter().map(|i| rows[*i].seq).collect::<Vec<_>>();
    let any = EventFilter::default;
    assert_eq!(stuck(Some(TENANT), any(), then, 10).await.seqs, seqs(&[1, 0]));
    assert_eq!(stuck(Some(elsewhere), any(), then, 10).await.seqs, seqs(&[2]));
    assert_eq!(stuck(None, any(), then, 10).await.seqs, seqs(&[3, 2, 1, 0]));
    let all = stuck(Some(TENANT), any(), t.clock.now(), 10).await.seqs;
    assert_eq!(all.len(), 3, "the later one as well");
    let deferred = EventFilter {
        status: Some(EventStatus::Deferred),
        ..any()
    };
    assert_eq!(stuck(Some(TENANT), deferred, then, 10).await.seqs, seqs(&[1]));
    let first = stuck(Some(TENANT), any(), then, 1).await;
    assert_eq!(
        (first.seqs, first.next.map(|n| n.seq)),
        (seqs(&[1]), Some(rows[1].seq))
    );
    t.store.replay_event(rows[1].seq, &admin()).await.unwrap();
    assert_eq!(stuck(Some(TENANT), any(), then, 10).await.seqs, seqs(&[0]));
}

pub async fn a_page_of_schedules_that_finds_nothing_says_where_it_stopped_looking(t: &TestStore) {
    let row = waiting(t, "1", DAY).await;
    let many = SCAN_BOUND as usize;
    emit(t, (0..many).map(|n| event(&format!("n{n}"))).collect()).await;
    let rows = t.store.due_events(None, SCAN_BOUND).await.unwrap().rows;
    let work = rows.iter().map(|row| publish_now(t, row, vec![])).collect();
    assert_eq!(t.store.publish_events(work).await.unwrap().len(), many);
    let page = async |after| {
        let filter = ScheduleFilter {
            status: Some(ScheduleStatus::Pending),
            ..ScheduleFilter::default()
        };
        let page = Page { limit: 10, after };
        t.store.schedules(TENANT, &filter, page).await.unwrap()
    };
    let first = page(None).await;
    assert!(first.rows.is_empty() && first.next.is_some());
    let second = page(first.next).await;
    assert_eq!(second.rows[0].event, row.id);
    assert_eq!(second.next, None);
}

pub async fn of_a_payload_that_is_too_long_no_more_is_read_than_shows_that_it_is(t: &TestStore) {
    const LONGEST: usize = 3 << 20;
    let long = NewEvent {
        payload: "x".repeat(2 * LONGEST),
        ..event("1")
    };
    emit(t, vec![long.clone()]).await;
    assert_eq!(due(t).await[0].payload.len(), LONGEST + 1);
    let one = t.store.event(TENANT, long.id).await.unwrap().unwrap();
    assert_eq!(one.payload.len(), LONGEST + 1);
    let page = Page {
        limit: 10,
        after: None,
    };
    let filter = EventFilter::default();
    let listed = t.store.events(Some(TENANT), &filter, page).await.unwrap();
    assert_eq!(listed.rows[0].payload, "", "a page has none");
}
