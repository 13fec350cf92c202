//! Bulk actions as rows.

use crate::harness::*;
use domain::Clock;
use store::jobs::{NewJob, Progress};
use uuid::Uuid;

fn job() -> NewJob {
    NewJob {
        id: Uuid::new_v4(),
        tenant: TENANT,
        action: "retry".into(),
        filter: r#"{"status":["Parked"]}"#.into(),
        actor: admin(),
        total: 12,
        reason: Some("the pump is gone".into()),
    }
}

pub async fn a_job_is_kept_as_asked(t: &TestStore) {
    let new = job();
    let made = t.store.create_job(new.clone()).await.unwrap();
    let read = t.store.job(TENANT, made.id).await.unwrap().unwrap();
    assert_eq!(read, made);
    assert_eq!(
        (read.tenant, read.action, read.filter),
        (new.tenant, new.action, new.filter)
    );
    assert_eq!(
        (read.actor, read.total, read.created_at),
        (new.actor, new.total, t.clock.now())
    );
    assert_eq!(read.progress, Progress::default());
}

pub async fn a_job_asked_for_twice_under_one_id_is_one_job(t: &TestStore) {
    let new = job();
    let made = t.store.create_job(new.clone()).await.unwrap();
    t.clock.advance(SECOND);
    let again = NewJob {
        total: 99,
        ..new.clone()
    };
    assert_eq!(t.store.create_job(again).await.unwrap(), made);
    assert_eq!(t.store.jobs(TENANT, 10).await.unwrap(), [made]);
    // Nobody is shown what belongs to another tenant.
    let other = NewJob {
        tenant: t.tenant("other").await,
        ..new
    };
    assert!(t.store.create_job(other).await.is_err());
}

pub async fn a_job_is_worked_on_by_one_node(t: &TestStore) {
    assert_eq!(t.store.claim_job("n1", MINUTE).await.unwrap(), None);
    let first = t.store.create_job(job()).await.unwrap();
    t.clock.advance(SECOND);
    let second = t.store.create_job(job()).await.unwrap();
    assert_eq!(
        t.store.claim_job("n1", MINUTE).await.unwrap().map(|j| j.id),
        Some(first.id)
    );
    assert_eq!(
        t.store.claim_job("n2", MINUTE).await.unwrap().map(|j| j.id),
        Some(second.id)
    );
    assert_eq!(t.store.claim_job("n3", MINUTE).await.unwrap(), None);
}

pub async fn a_dead_nodes_job_is_taken_over(t: &TestStore) {
    let made = t.store.create_job(job()).await.unwrap();
    t.store.claim_job("n1", MINUTE).await.unwrap().unwrap();
    t.clock.advance(MINUTE);
    let taken = t.store.claim_job("n2", MINUTE).await.unwrap().unwrap();
    assert_eq!(taken.id, made.id);
    let late = t
        .store
        .job_progress(made.id, "n1", &Progress::default(), MINUTE)
        .await;
    assert!(!late.unwrap(), "n1 finds out");
}

pub async fn progress_is_written_down_and_a_finished_job_is_not_taken_again(t: &TestStore) {
    let made = t.store.create_job(job()).await.unwrap();
    t.store.claim_job("n1", MINUTE).await.unwrap().unwrap();
    t.clock.advance(MINUTE - SECOND);
    let halfway = Progress {
        done: 5,
        skipped: 1,
        cursor: Some("6".into()),
        finished: false,
        error: None,
    };
    assert!(
        t.store
            .job_progress(made.id, "n1", &halfway, MINUTE)
            .await
            .unwrap()
    );
    assert_eq!(
        t.store.job(TENANT, made.id).await.unwrap().unwrap().progress,
        halfway
    );
    t.clock.advance(MINUTE - SECOND);
    assert_eq!(
        t.store.claim_job("n2", MINUTE).await.unwrap(),
        None,
        "it is kept for longer"
    );
    let finished = Progress {
        done: 11,
        finished: true,
        error: Some("one was odd".into()),
        ..halfway
    };
    assert!(
        t.store
            .job_progress(made.id, "n1", &finished, MINUTE)
            .await
            .unwrap()
    );
    assert_eq!(
        t.store.job(TENANT, made.id).await.unwrap().unwrap().progress,
        finished
    );
    t.clock.advance(DAY);
    assert_eq!(t.store.claim_job("n2", MINUTE).await.unwrap(), None);
}

pub async fn a_job_is_its_tenants(t: &TestStore) {
    let made = t.store.create_job(job()).await.unwrap();
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(t.store.job(elsewhere, made.id).await.unwrap(), None);
}

pub async fn a_look_at_the_lanes_tells_of_a_job_that_nobody_works_on(t: &TestStore) {
    let told = async || t.store.lanes_waiting().await.unwrap().chores.jobs;
    assert!(!told().await);
    let made = t.store.create_job(job()).await.unwrap();
    assert!(told().await);
    t.store.claim_job("n1", MINUTE).await.unwrap().unwrap();
    assert!(!told().await);
    t.clock.advance(MINUTE);
    assert!(told().await, "its node has been silent");
    let done = Progress {
        finished: true,
        ..Progress::default()
    };
    t.store.claim_job("n2", MINUTE).await.unwrap().unwrap();
    t.store.job_progress(made.id, "n2", &done, MINUTE).await.unwrap();
    t.clock.advance(MINUTE);
    assert!(!told().await);
}

pub async fn a_stopped_job_ends_and_keeps_the_counts_of_what_was_under_way(t: &TestStore) {
    let made = t.store.create_job(job()).await.unwrap();
    t.store.claim_job("n1", MINUTE).await.unwrap().unwrap();
    let (stopped, ended) = t
        .store
        .stop_job(TENANT, made.id, &admin())
        .await
        .unwrap()
        .unwrap();
    assert!(ended && stopped.progress.finished);
    assert_eq!(stopped.stopped_by, Some(admin()));
    let page = Progress {
        done: 5,
        skipped: 1,
        ..Progress::default()
    };
    let goes_on = t.store.job_progress(made.id, "n1", &page, MINUTE).await.unwrap();
    assert!(!goes_on, "the worker finds out");
    let read = t.store.job(TENANT, made.id).await.unwrap().unwrap();
    assert_eq!(
        (read.progress.done, read.progress.skipped, read.progress.finished),
        (5, 1, true)
    );
    t.clock.advance(HOUR);
    assert_eq!(t.store.claim_job("n2", MINUTE).await.unwrap(), None);
    let (_, ended) = t
        .store
        .stop_job(TENANT, made.id, &admin())
        .await
        .unwrap()
        .unwrap();
    assert!(!ended, "it had ended");
    assert_eq!(
        t.store
            .stop_job(TENANT, uuid::Uuid::new_v4(), &admin())
            .await
            .unwrap(),
        None
    );
}

pub async fn jobs_are_listed_newest_first_and_only_the_tenants(t: &TestStore) {
    let first = t.store.create_job(job()).await.unwrap();
    t.clock.advance(SECOND);
    let second = t.store.create_job(job()).await.unwrap();
    let other = t.tenant("other").await;
    t.store
        .create_job(NewJob {
            tenant: other,
            ..job()
        })
        .await
        .unwrap();
    let all = t.store.jobs(TENANT, 10).await.unwrap();
    assert_eq!(
        all.iter().map(|job| job.id).collect::<Vec<_>>(),
        [second.id, first.id]
    );
    assert_eq!(all[0].reason.as_deref(), Some("the pump is gone"));
    assert_eq!(t.store.jobs(TENANT, 1).await.unwrap().len(), 1);
}
