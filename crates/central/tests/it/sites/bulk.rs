//! Bulk actions on what is parked at a site.

use super::{Linked, north};
use crate::world::TENANT;
use central::{
    jobs::Action,
    sites::{ParkedFilter, RelayError, SiteBulk},
};
use domain::{Actor, AuditKind, AuditStatus};
use std::sync::atomic::Ordering::SeqCst;
use store::jobs::Job;
use testkit::eventually;

async fn start(linked: &Linked, action: Action) -> Job {
    let central = &linked.world.central;
    let counted = central
        .sites
        .count_parked(TENANT, &north(), ParkedFilter::default())
        .await
        .unwrap();
    let bulk = SiteBulk {
        at_site: "north".into(),
        filter: ParkedFilter {
            until: Some(counted.until),
            ..ParkedFilter::default()
        },
    };
    let anna = Actor::new("user:anna");
    let job = central
        .jobs
        .start_at_site(TENANT, action, &bulk, counted.total, &anna);
    let job = job.await.unwrap();
    let worked = central.jobs.sweep().await.unwrap();
    assert_eq!(
        (worked.rows, worked.beside),
        (0, 1),
        "the loop says that there is one"
    );
    job
}

async fn finished(linked: &Linked, job: &Job) -> Job {
    let jobs = &linked.world.central.jobs;
    eventually("the job to be finished", async || {
        let job = jobs.get(TENANT, job.id).await.unwrap().unwrap();
        job.progress.finished.then_some(job)
    })
    .await
}

#[tokio::test]
async fn a_bulk_action_at_a_site_goes_in_bounded_steps_under_the_name_of_who_asked() {
    let linked = Linked::new().await;
    *linked.site.many.lock().unwrap() = 1_200;
    let job = start(&linked, Action::Discard).await;
    let done = finished(&linked, &job).await;
    assert_eq!(
        (
            done.total,
            done.progress.done,
            done.progress.skipped,
            done.progress.error
        ),
        (1_200, 1_200, 0, None)
    );
    assert_eq!(
        *linked.site.asked.lock().unwrap(),
        ["discard up to 500 by user:anna"; 3]
    );
    let log = eventually("the audit row", async || {
        let log = linked.log(AuditKind::SiteParked).await;
        (!log.is_empty()).then_some(log)
    })
    .await;
    assert_eq!((log.len(), log[0].status), (1, AuditStatus::Discarded));
    assert_eq!(log[0].actor, "user:anna");
    assert!(
        log[0].detail.as_ref().unwrap().contains("1200 of 1200 done"),
        "{log:?}"
    );
}

#[tokio::test]
async fn a_link_that_goes_away_in_the_middle_neither_ends_the_job_nor_repeats_a_step() {
    let linked = Linked::new().await;
    *linked.site.many.lock().unwrap() = 1_200;
    linked.site.lose_answers.store(1, SeqCst);
    let job = start(&linked, Action::Retry).await;
    // The site has done the first step, and its answer will not come.
    eventually("the first step", async || {
        (*linked.site.many.lock().unwrap() < 1_200).then_some(())
    })
    .await;
    linked.network.cut();
    let jobs = &linked.world.central.jobs;
    let why = eventually("the job to say why it waits", async || {
        let progress = jobs.get(TENANT, job.id).await.unwrap().unwrap().progress;
        assert!(!progress.finished);
        progress.error
    })
    .await;
    assert!(why.contains("0 of 1200 were done before that"), "{why}");
    linked.network.mend();
    let done = finished(&linked, &job).await.progress;
    assert_eq!((done.done, done.skipped, done.error), (1_200, 0, None));
    assert_eq!(linked.site.asked.lock().unwrap().len(), 3, "each step once");
}

#[tokio::test]
async fn what_the_site_will_not_do_is_said_before_anything_is_begun() {
    let linked = Linked::new().await;
    let filter = ParkedFilter {
        target: Some("nowhere".into()),
        ..ParkedFilter::default()
    };
    let refused = linked
        .world
        .central
        .sites
        .count_parked(TENANT, &north(), filter)
        .await;
    assert!(matches!(refused, Err(RelayError::Failed(_))), "{refused:?}");
}
