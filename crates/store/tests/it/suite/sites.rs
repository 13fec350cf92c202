//! Sites and what they tell.

use crate::harness::*;
use domain::{
    Actor, AuditKind, AuditStatus, Clock, NotificationId, SiteId, Timestamp, TrackedOperationId,
    site::{Category, OperationEvent, OperationStatus, Telemetry},
};
use std::{collections::BTreeSet, time::Duration};
use store::{
    Error,
    directory::Role,
    maintenance::Retention,
    query::{AuditFilter, AuditRow, Page},
    sites::{CallFilter, OtherAgent, RelayQuestion, SiteAction, SiteCall, SiteSeen},
};
use uuid::Uuid;

fn north() -> SiteId {
    SiteId::new("north")
}

fn everything() -> Page {
    Page {
        limit: 1_000,
        after: None,
    }
}

fn a_try(t: &TestStore) -> Telemetry {
    Telemetry {
        id: Uuid::new_v4(),
        operation: TrackedOperationId::mint(),
        revision: 1,
        category: Category::ExternalSystem,
        target: "erp".into(),
        summary: Some("POST /orders".into()),
        event: OperationEvent::TransientFailure,
        status: OperationStatus::Retrying,
        retry_count: 1,
        error: Some("503 try later".into()),
        http_status: Some(503),
        created_at: t.clock.now() - MINUTE,
        occurred_at: t.clock.now() - SECOND,
        duration_ms: Some(31),
        instance: Some("line-1".into()),
        script: Some("order.js".into()),
        node: Some("n1".into()),
        execution: Some("e1".into()),
        parent_execution: Some("e0".into()),
        actor: None,
    }
}

/// The next piece of news about the same operation.
fn then(news: &Telemetry, event: OperationEvent, status: OperationStatus) -> Telemetry {
    Telemetry {
        id: Uuid::new_v4(),
        revision: news.revision + 1,
        event,
        status,
        ..news.clone()
    }
}

async fn calls(t: &TestStore, filter: &CallFilter) -> Vec<SiteCall> {
    t.store
        .site_calls(TENANT, filter, everything())
        .await
        .unwrap()
        .rows
}

async fn log_of(t: &TestStore, operation: TrackedOperationId) -> Vec<AuditRow> {
    let filter = AuditFilter {
        correlation: Some(NotificationId(operation.0)),
        ..AuditFilter::default()
    };
    t.store.audit(TENANT, &filter, everything()).await.unwrap().rows
}

fn seen(session: Uuid) -> SiteSeen {
    SiteSeen {
        tenant: TENANT,
        site: north(),
        session,
        central_node: "c1".into(),
        connected_for: Duration::ZERO,
        silent_for: Duration::ZERO,
        agent_node: "n1".into(),
        agent_version: "0.1.0".into(),
        peer: "10.0.0.7:4711".into(),
        report: Some(r#"{"parked":3}"#.into()),
        agent_buffer: Uuid::from_u128(5),
        agent_run: Uuid::nil(),
        turn: None,
    }
}

pub async fn another_agent_with_the_same_id_is_written_down_and_audited_once(t: &TestStore) {
    let first = seen(Uuid::new_v4());
    t.store.sites_seen(vec![first.clone()]).await.unwrap();
    let other = OtherAgent {
        node: "n2\0".into(),
        peer: "10.0.0.8:1".into(),
        version: "0.1.0".into(),
    };
    let site = || async { t.store.site(TENANT, &north()).await.unwrap().unwrap() };
    assert_eq!(
        (
            site().await.agent_buffer,
            site().await.agent_run,
            site().await.conflict
        ),
        (Some(Uuid::from_u128(5)), None, None)
    );
    let since = t.clock.now();
    let site_north = &north();
    let comes = || t.store.site_conflict(TENANT, site_north, other.clone());
    assert!(comes().await.unwrap(), "it is news");
    t.clock.advance(MINUTE);
    assert!(!comes().await.unwrap(), "it is the same conflict");
    let conflict = site().await.conflict.unwrap();
    assert_eq!((conflict.since, conflict.at), (since, t.clock.now()));
    assert!(conflict.other.node.starts_with("n2"));
    assert_eq!(conflict.other.peer, "10.0.0.8:1");
    // The session that is there goes on being written down; that ends no conflict.
    t.store.sites_seen(vec![first]).await.unwrap();
    assert!(site().await.conflict.is_some());
    let log = t.store.audit(TENANT, &AuditFilter::default(), everything()).await;
    let log: Vec<_> = log
        .unwrap()
        .rows
        .into_iter()
        .filter(|r| r.kind == AuditKind::SiteChanged)
        .collect();
    assert_eq!(log.len(), 1);
    assert!(
        log[0].detail.as_deref().unwrap().contains("10.0.0.8:1"),
        "{log:?}"
    );
    // Long after it was heard of it is a new one; and a new session begins without one.
    t.clock.advance(store::sites::CONFLICT_OVER + SECOND);
    assert!(comes().await.unwrap());
    t.store.sites_seen(vec![seen(Uuid::new_v4())]).await.unwrap();
    assert_eq!(site().await.conflict, None);
    let nobody = t
        .store
        .site_conflict(TENANT, &SiteId::new("nowhere"), other.clone())
        .await;
    assert!(!nobody.unwrap());
}

pub async fn a_notification_parked_at_a_site_is_a_row_and_a_line_with_who_did_it(t: &TestStore) {
    let parked = Telemetry {
        category: Category::Notification,
        target: "ops".into(),
        summary: Some("Tank 4 is full".into()),
        http_status: None,
        ..then(
            &a_try(t),
            OperationEvent::PermanentFailure,
            OperationStatus::Parked,
        )
    };
    let discarded = Telemetry {
        actor: Some("local".into()),
        occurred_at: t.clock.now(),
        ..then(&parked, OperationEvent::Discard, OperationStatus::Discarded)
    };
    let news = vec![parked.clone(), discarded];
    t.store.record_telemetry(TENANT, &north(), news).await.unwrap();
    let filter = CallFilter {
        category: Some(Category::Notification),
        ..CallFilter::default()
    };
    let row = &calls(t, &filter).await[0];
    assert_eq!(
        (row.status, row.target.as_str(), row.summary.as_deref()),
        (OperationStatus::Discarded, "ops", Some("Tank 4 is full"))
    );
    assert!(row.actor.as_deref().unwrap().contains("local"), "{row:?}");
    let log: Vec<_> = log_of(t, parked.operation)
        .await
        .into_iter()
        .map(|r| (r.kind, r.status, r.actor.contains("local")))
        .collect();
    assert!(
        log.contains(&(AuditKind::SiteParked, AuditStatus::Parked, false)),
        "{log:?}"
    );
    assert!(
        log.contains(&(AuditKind::SiteParked, AuditStatus::Discarded, true)),
        "{log:?}"
    );
}

pub async fn a_registered_site_has_a_key_of_its_own(t: &TestStore) {
    let made = t
        .store
        .register_site(TENANT, &north(), &[7; 32], &admin())
        .await
        .unwrap();
    assert_eq!(
        (made.id, made.created_at, made.session),
        (north(), t.clock.now(), None)
    );
    let key = t.store.key_by_hash(&[7; 32]).await.unwrap().unwrap();
    assert_eq!(
        (key.name.as_str(), key.role, key.tenant),
        ("north", Role::Site, TENANT)
    );
    let filter = AuditFilter {
        kind: Some(AuditKind::SiteChanged),
        ..AuditFilter::default()
    };
    let log = t.store.audit(TENANT, &filter, everything()).await.unwrap().rows;
    assert_eq!(
        (log[0].actor.as_str(), log[0].target.as_deref()),
        ("key:admin", Some("north"))
    );
}

pub async fn a_site_is_registered_again_only_after_its_key_was_revoked(t: &TestStore) {
    t.store
        .register_site(TENANT, &north(), &[7; 32], &admin())
        .await
        .unwrap();
    let again = t.store.register_site(TENANT, &north(), &[8; 32], &admin()).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    assert!(
        t.store.key_by_hash(&[8; 32]).await.unwrap().is_none(),
        "both or neither"
    );
    let key = t.store.key_by_hash(&[7; 32]).await.unwrap().unwrap();
    t.store.revoke_key(TENANT, key.id, &admin()).await.unwrap();
    t.clock.advance(SECOND);
    let again = t
        .store
        .register_site(TENANT, &north(), &[8; 32], &admin())
        .await
        .unwrap();
    assert_eq!(again.created_at, t.clock.now() - SECOND, "it is the same site");
    assert_eq!(t.store.sites(TENANT).await.unwrap().len(), 1);
}

pub async fn a_site_is_its_tenants(t: &TestStore) {
    let elsewhere = t.tenant("elsewhere").await;
    t.store
        .register_site(TENANT, &north(), &[7; 32], &admin())
        .await
        .unwrap();
    assert!(t.store.site(elsewhere, &north()).await.unwrap().is_none());
    assert!(t.store.sites(elsewhere).await.unwrap().is_empty());
    t.store
        .register_site(elsewhere, &north(), &[8; 32], &admin())
        .await
        .unwrap();
    t.store
        .record_telemetry(elsewhere, &north(), vec![a_try(t)])
        .await
        .unwrap();
    assert!(calls(t, &CallFilter::default()).await.is_empty());
}

pub async fn a_connected_site_shows_where_and_since_when(t: &TestStore) {
    let session = Uuid::new_v4();
    let first = seen(session);
    t.store.sites_seen(vec![first.clone()]).await.unwrap();
    t.clock.advance(MINUTE);
    let later = SiteSeen {
        connected_for: MINUTE + SECOND,
        silent_for: SECOND,
        report: None,
        ..first.clone()
    };
    t.store.sites_seen(vec![later]).await.unwrap();
    let site = t.store.site(TENANT, &north()).await.unwrap().unwrap();
    assert_eq!(
        (site.session, site.central_node.as_deref()),
        (Some(session), Some("c1"))
    );
    assert_eq!(
        site.connected_at,
        Some(t.clock.now() - MINUTE),
        "as it was written first"
    );
    assert_eq!(site.last_contact_at, Some(t.clock.now() - SECOND));
    assert_eq!(site.report, first.report, "the last report stays");
    assert_eq!(
        (site.agent_node.as_deref(), site.peer),
        (Some("n1"), Some(first.peer))
    );

    t.store
        .site_left(TENANT, &north(), session, "the link broke")
        .await
        .unwrap();
    let site = t.store.site(TENANT, &north()).await.unwrap().unwrap();
    assert_eq!((site.session, site.offline_since), (None, Some(t.clock.now())));
    assert_eq!(site.offline_why.as_deref(), Some("the link broke"));
    assert_eq!(site.last_contact_at, Some(t.clock.now() - SECOND));
}

pub async fn an_older_session_neither_comes_back_nor_takes_the_newer_one_down(t: &TestStore) {
    let older = seen(Uuid::new_v4());
    t.store.sites_seen(vec![older.clone()]).await.unwrap();
    t.clock.advance(SECOND);
    let newer = seen(Uuid::new_v4());
    t.store.sites_seen(vec![newer.clone()]).await.unwrap();
    let still = SiteSeen {
        connected_for: SECOND,
        ..older.clone()
    };
    t.store.sites_seen(vec![still]).await.unwrap();
    t.store
        .site_left(TENANT, &north(), older.session, "gone")
        .await
        .unwrap();
    let site = t.store.site(TENANT, &north()).await.unwrap().unwrap();
    assert_eq!((site.session, site.offline_since), (Some(newer.session), None));
}

pub async fn news_of_a_call_ends_up_in_its_row_and_in_the_log(t: &TestStore) {
    let tried = a_try(t);
    let delivered = Telemetry {
        error: None,
        http_status: Some(200),
        ..then(&tried, OperationEvent::Delivered, OperationStatus::Delivered)
    };
    t.store
        .record_telemetry(TENANT, &north(), vec![tried.clone(), delivered.clone()])
        .await
        .unwrap();
    let rows = calls(t, &CallFilter::default()).await;
    let expected = SiteCall {
        site: north(),
        operation: tried.operation,
        category: Category::ExternalSystem,
        target: "erp".into(),
        summary: Some("POST /orders".into()),
        status: OperationStatus::Delivered,
        retry_count: 1,
        error: None,
        http_status: Some(200),
        created_at: tried.created_at,
        updated_at: delivered.occurred_at,
        instance: tried.instance.clone(),
        script: tried.script.clone(),
        node: tried.node.clone(),
        execution: tried.execution.clone(),
        parent_execution: tried.parent_execution.clone(),
        actor: None,
    };
    assert_eq!(rows, [expected]);
    let log = log_of(t, tried.operation).await;
    let told: BTreeSet<_> = log.iter().map(|r| (r.kind, r.status, r.code.clone())).collect();
    let expected = [
        (
            AuditKind::CachedCall,
            AuditStatus::Attempted,
            Some("HTTP_503".into()),
        ),
        (
            AuditKind::CachedCall,
            AuditStatus::Delivered,
            Some("HTTP_200".into()),
        ),
    ];
    assert_eq!(told, expected.into());
    let row = log.iter().find(|r| r.status == AuditStatus::Attempted).unwrap();
    assert_eq!((row.at, row.duration_ms), (tried.occurred_at, Some(31)));
    assert_eq!(
        (row.actor.as_str(), row.site.as_deref()),
        ("site:north", Some("north"))
    );
    assert_eq!(
        (row.execution.as_deref(), row.parent_execution.as_deref()),
        (Some("e1"), Some("e0"))
    );
    assert_eq!((row.operation, row.notification), (Some(tried.operation), None));
    assert_eq!(
        (row.target.as_deref(), row.detail.as_deref()),
        (Some("erp"), Some("503 try later"))
    );
    let all = t
        .store
        .audit(TENANT, &AuditFilter::default(), everything())
        .await
        .unwrap()
        .rows;
    assert_eq!(
        all.iter().filter(|r| r.operation.is_some()).count(),
        2,
        "also among all rows"
    );
}

pub async fn news_told_twice_is_written_once(t: &TestStore) {
    let tried = a_try(t);
    for _ in 0..2 {
        let news = vec![tried.clone(), tried.clone()];
        t.store.record_telemetry(TENANT, &north(), news).await.unwrap();
    }
    assert_eq!(calls(t, &CallFilter::default()).await.len(), 1);
    assert_eq!(log_of(t, tried.operation).await.len(), 1);
}

pub async fn news_in_the_wrong_order_leaves_the_latest(t: &TestStore) {
    let tried = a_try(t);
    // The site's clock went back in between: the revision counts, not the time.
    let parked = Telemetry {
        occurred_at: tried.occurred_at - HOUR,
        ..then(&tried, OperationEvent::ParkedMaxRetries, OperationStatus::Parked)
    };
    for news in [parked.clone(), tried.clone()] {
        t.store
            .record_telemetry(TENANT, &north(), vec![news])
            .await
            .unwrap();
    }
    assert_eq!(
        calls(t, &CallFilter::default()).await[0].status,
        OperationStatus::Parked
    );
    assert_eq!(log_of(t, tried.operation).await.len(), 2);
    let requeued = then(&parked, OperationEvent::Retry, OperationStatus::Retrying);
    t.store
        .record_telemetry(TENANT, &north(), vec![requeued])
        .await
        .unwrap();
    assert_eq!(
        calls(t, &CallFilter::default()).await[0].status,
        OperationStatus::Retrying
    );
}

pub async fn the_same_telemetry_id_of_two_sites_is_two_pieces_of_news(t: &TestStore) {
    let tried = a_try(t);
    for site in ["north", "south"] {
        let news = vec![tried.clone()];
        t.store
            .record_telemetry(TENANT, &SiteId::new(site), news)
            .await
            .unwrap();
    }
    assert_eq!(calls(t, &CallFilter::default()).await.len(), 2);
    assert_eq!(log_of(t, tried.operation).await.len(), 2);
}

pub async fn news_that_is_malformed_is_tidied_and_kept(t: &TestStore) {
    let odd = Telemetry {
        target: "e\0rp".into(),
        error: Some("x".repeat(100_000)),
        category: Category::Notification,
        created_at: Timestamp::from_millis(i64::MAX),
        occurred_at: Timestamp::from_millis(i64::MIN),
        retry_count: u32::MAX,
        duration_ms: Some(u32::MAX),
        ..a_try(t)
    };
    let future = Telemetry {
        occurred_at: t.clock.now() + DAY,
        ..a_try(t)
    };
    let news = vec![odd.clone(), future.clone()];
    t.store.record_telemetry(TENANT, &north(), news).await.unwrap();
    let filter = CallFilter {
        operation: Some(odd.operation),
        ..CallFilter::default()
    };
    let kept = &calls(t, &filter).await[0];
    assert_eq!(kept.target, "e\u{fffd}rp");
    assert_eq!(kept.error.as_ref().unwrap().len(), 4_000);
    assert_eq!(log_of(t, odd.operation).await.len(), 1);
    assert_eq!(
        log_of(t, future.operation).await[0].at,
        t.clock.now(),
        "nothing has happened in the future"
    );
    t.store.record_telemetry(TENANT, &north(), vec![]).await.unwrap();
}

pub async fn two_deliveries_of_the_same_news_at_once_do_no_harm(t: &TestStore) {
    let news: Vec<_> = (0..200).map(|_| a_try(t)).collect();
    let backwards: Vec<_> = news.iter().rev().cloned().collect();
    let site = north();
    let (one, other) = tokio::join!(
        t.store.record_telemetry(TENANT, &site, news),
        t.store.record_telemetry(TENANT, &site, backwards)
    );
    one.unwrap();
    other.unwrap();
    assert_eq!(calls(t, &CallFilter::default()).await.len(), 200);
    let filter = AuditFilter {
        kind: Some(AuditKind::CachedCall),
        ..AuditFilter::default()
    };
    assert_eq!(
        t.store
            .audit(TENANT, &filter, everything())
            .await
            .unwrap()
            .rows
            .len(),
        200
    );
}

pub async fn pages_of_calls_have_neither_gaps_nor_repeats(t: &TestStore) {
    let mut news = vec![];
    for i in 0..25 {
        // Several at the same moment.
        let created_at = t.clock.now() - SECOND * (i / 4);
        news.push(Telemetry {
            created_at,
            ..a_try(t)
        });
    }
    t.store
        .record_telemetry(TENANT, &north(), news.clone())
        .await
        .unwrap();
    let mut page = Page {
        limit: 4,
        after: None,
    };
    let mut read = vec![];
    loop {
        let found = t
            .store
            .site_calls(TENANT, &CallFilter::default(), page.clone())
            .await
            .unwrap();
        read.extend(found.rows);
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    assert!(
        read.windows(2).all(|w| w[0].created_at >= w[1].created_at),
        "newest first"
    );
    let ids: BTreeSet<_> = read.iter().map(|c| c.operation).collect();
    assert_eq!(
        (read.len(), ids),
        (25, news.iter().map(|n| n.operation).collect())
    );
}

pub async fn each_call_filter_finds_its_own(t: &TestStore) {
    let call = a_try(t);
    let write = Telemetry {
        category: Category::CachedDbWrite,
        target: "mes".into(),
        status: OperationStatus::Parked,
        created_at: call.created_at - HOUR,
        ..a_try(t)
    };
    t.store
        .record_telemetry(TENANT, &north(), vec![call.clone()])
        .await
        .unwrap();
    t.store
        .record_telemetry(TENANT, &SiteId::new("south"), vec![write.clone()])
        .await
        .unwrap();
    let only = |filter: CallFilter| async move {
        let found = calls(t, &filter).await;
        assert_eq!(found.len(), 1, "{filter:?}");
        found[0].operation
    };
    let any = CallFilter::default;
    assert_eq!(
        only(CallFilter {
            site: Some(north()),
            ..any()
        })
        .await,
        call.operation
    );
    assert_eq!(
        only(CallFilter {
            category: Some(Category::CachedDbWrite),
            ..any()
        })
        .await,
        write.operation
    );
    assert_eq!(
        only(CallFilter {
            status: vec![OperationStatus::Parked],
            ..any()
        })
        .await,
        write.operation
    );
    assert_eq!(
        only(CallFilter {
            target: Some("erp".into()),
            ..any()
        })
        .await,
        call.operation
    );
    assert_eq!(
        only(CallFilter {
            operation: Some(write.operation),
            ..any()
        })
        .await,
        write.operation
    );
    assert_eq!(
        only(CallFilter {
            from: Some(call.created_at),
            ..any()
        })
        .await,
        call.operation
    );
    assert_eq!(
        only(CallFilter {
            to: Some(call.created_at),
            ..any()
        })
        .await,
        write.operation
    );
}

pub async fn calls_that_ended_go_after_their_time_and_no_others(t: &TestStore) {
    let waiting = a_try(t);
    let delivered = then(&a_try(t), OperationEvent::Delivered, OperationStatus::Delivered);
    t.store
        .record_telemetry(TENANT, &north(), vec![waiting.clone(), delivered])
        .await
        .unwrap();
    let keep = Retention {
        events: DAY,
        terminal: DAY,
        audit: 365 * DAY,
        spent_keys: None,
        stats: DAY,
        transcripts: DAY,
    };
    assert_eq!(t.store.purge_chunk(&keep, 100).await.unwrap().site_calls, 0);
    t.clock.advance(2 * DAY);
    assert_eq!(t.store.purgeable(&keep, 100).await.unwrap().site_calls, 1);
    assert_eq!(t.store.purge_chunk(&keep, 100).await.unwrap().site_calls, 1);
    let left: Vec<_> = calls(t, &CallFilter::default())
        .await
        .iter()
        .map(|c| c.operation)
        .collect();
    assert_eq!(left, [waiting.operation]);
}

pub async fn an_action_on_a_parked_message_is_on_record_with_who_did_it(t: &TestStore) {
    let operation = TrackedOperationId::mint();
    let action = SiteAction {
        tenant: TENANT,
        site: north(),
        message: operation.0.simple().to_string(),
        status: AuditStatus::Discarded,
        actor: Actor::new("user:anna"),
        detail: "discard: done".into(),
    };
    t.store.log_site_action(action.clone()).await.unwrap();
    t.store.log_site_action(action).await.unwrap();
    let log = log_of(t, operation).await;
    assert_eq!(log.len(), 2, "each time");
    assert_eq!(
        (log[0].kind, log[0].status),
        (AuditKind::SiteParked, AuditStatus::Discarded)
    );
    assert_eq!(
        (log[0].actor.as_str(), log[0].site.as_deref()),
        ("user:anna", Some("north"))
    );
    assert_eq!(
        (log[0].at, log[0].detail.as_deref()),
        (t.clock.now(), Some("discard: done"))
    );
}

pub async fn a_question_by_way_of_another_node_is_given_out_once_and_so_is_its_answer(t: &TestStore) {
    let relay = Uuid::new_v4();
    let question = RelayQuestion {
        tenant: TENANT,
        site: north(),
        question: r#"{"parked":1}"#.into(),
    };
    t.store.ask_relay(relay, "c2", question.clone()).await.unwrap();
    assert!(t.store.take_relays("c1").await.unwrap().is_empty());
    assert_eq!(t.store.take_relays("c2").await.unwrap(), [(relay, question)]);
    assert!(t.store.take_relays("c2").await.unwrap().is_empty());
    assert_eq!(t.store.relay_answered(relay).await.unwrap(), None);
    t.store.answer_relay(relay, "yes").await.unwrap();
    assert_eq!(
        t.store.relay_answered(relay).await.unwrap().as_deref(),
        Some("yes")
    );
    assert_eq!(t.store.relay_answered(relay).await.unwrap(), None);
    t.store.answer_relay(relay, "too late").await.unwrap();
    assert_eq!(t.store.relay_answered(relay).await.unwrap(), None);
}

pub async fn a_question_nobody_waits_for_any_more_is_forgotten(t: &TestStore) {
    let relay = Uuid::new_v4();
    let question = RelayQuestion {
        tenant: TENANT,
        site: north(),
        question: "?".into(),
    };
    t.store.ask_relay(relay, "c2", question).await.unwrap();
    t.clock.advance(2 * MINUTE);
    assert!(t.store.take_relays("c2").await.unwrap().is_empty());
}

pub async fn the_database_keeps_its_identity(t: &TestStore) {
    let first = t.store.database().await.unwrap();
    assert_eq!(t.store.database().await.unwrap(), first);
    assert!(!first.epoch.is_empty());
    t.store.begin_epoch().await.unwrap();
    assert_eq!(t.store.database().await.unwrap().id, first.id);
}

pub async fn a_site_names_nobody_but_its_own_people(t: &TestStore) {
    for (given, written) in [
        (None, "site:north"),
        (Some("site:north"), "site:north"),
        (Some("local"), "site:north/local"),
        (Some("user:anna"), "site:north/user:anna"),
        (Some("system"), "site:north/system"),
        (Some("site:south"), "site:north/site:south"),
    ] {
        let news = Telemetry {
            actor: given.map(str::to_owned),
            ..a_try(t)
        };
        let operation = news.operation;
        t.store
            .record_telemetry(TENANT, &north(), vec![news])
            .await
            .unwrap();
        assert_eq!(log_of(t, operation).await[0].actor, written);
    }
}
