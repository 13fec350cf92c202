//! Actions over a filter.

use crate::world::{TENANT, World, somebody};
use central::jobs::{Action, BulkFilter};
use domain::{Failure, Scope, Status};
use testkit::a_notification;

#[tokio::test]
async fn a_bulk_retry_touches_exactly_the_parked_rows_that_match() {
    let mut world = World::new().await;
    world
        .mail
        .answers(Failure::permanent(Scope::Message, "HTTP_400", "bad").into());
    let (mut north, mut south) = (vec![], vec![]);
    for _ in 0..30 {
        north.push(world.send(a_notification().site("north")).await);
        south.push(world.send(a_notification().site("south")).await);
    }
    world.sweep().await;
    let filter = BulkFilter {
        site: Some("north".into()),
        ..Default::default()
    };
    let job = world
        .central
        .jobs
        .start(TENANT, Action::Retry, filter, &somebody())
        .await
        .unwrap();
    assert_eq!(job.total, 30);
    world.central.jobs.sweep().await.unwrap();
    let job = world.central.jobs.get(TENANT, job.id).await.unwrap().unwrap();
    assert!(job.progress.finished);
    assert_eq!((job.progress.done, job.progress.skipped), (30, 0));
    world.mail.accepts();
    world.sweep().await;
    assert_eq!(world.status(north[0]).await, Status::Delivered);
    assert_eq!(world.status(south[0]).await, Status::Parked);

    let job = world
        .central
        .jobs
        .start(TENANT, Action::Discard, BulkFilter::default(), &somebody())
        .await
        .unwrap();
    world.central.jobs.sweep().await.unwrap();
    let job = world.central.jobs.get(TENANT, job.id).await.unwrap().unwrap();
    assert_eq!(job.progress.done, 30);
    assert_eq!(world.status(south[29]).await, Status::Discarded);
    let other = world
        .central
        .store
        .create_tenant("other", &somebody())
        .await
        .unwrap()
        .id;
    assert!(world.central.jobs.get(other, job.id).await.unwrap().is_none());
}
