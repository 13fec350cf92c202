//! Rows that a newer version wrote and this one cannot read: they keep back what they are about, and nothing else.

use crate::world::{TENANT, World, secs, somebody};
use central::providers::ProviderDraft;
use domain::{
    Channel, Status, TenantId,
    suppression::{NewSuppression, SuppressionSource},
};
use rusqlite::Connection;
use std::time::Duration;
use testkit::a_notification;

/// With the next notification that is taken in, rows of this table become what a newer version would have written.
fn newer_version_writes(world: &World, table: &str, column: &str, value: &str, of: &str) {
    let outside = Connection::open(world.temp.folder.path().join("waypost.db")).unwrap();
    let trigger = format!(
        "create trigger newer after insert on notifications
         begin update {table} set {column} = '{value}' where {of}; end"
    );
    outside.execute_batch(&trigger).unwrap();
}

fn it_is_gone(world: &World) {
    let outside = Connection::open(world.temp.folder.path().join("waypost.db")).unwrap();
    outside.execute_batch("drop trigger newer").unwrap();
}

/// A sweep that comes to its end: what cannot be read is not claimed again and again.
async fn sweep(world: &mut World) {
    let swept = tokio::time::timeout(Duration::from_secs(120), world.sweep()).await;
    swept.expect("the sweep comes to its end");
}

async fn suppress(world: &World, tenant: TenantId) {
    let entry = NewSuppression {
        address: "gone@example.com".into(),
        channel: None,
        topic: None,
        reason: "asked by phone".into(),
        source: SuppressionSource::Operator,
    };
    let store = &world.central.store;
    store.suppress(tenant, &entry, &somebody()).await.unwrap();
}

#[tokio::test]
async fn a_list_keeps_back_what_is_for_it_and_says_so_while_the_rest_of_the_claim_goes_out() {
    let mut world = World::new().await;
    suppress(&world, TENANT).await;
    let newer = r#"[{"address":"a@x","channel":"Pigeon","enabled":true}]"#;
    world.list("crew", &["a@x"]).await;
    newer_version_writes(&world, "lists", "recipients", newer, "name = 'crew'");
    let to_list = world.send(a_notification().to_list("crew")).await;
    let to_ann = world.send(a_notification().to(&["ann@example.com"])).await;
    sweep(&mut world).await;
    assert_eq!(world.status(to_ann).await, Status::Delivered);
    let row = world.get(to_list).await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Pending, Some("UNREADABLE"))
    );
    assert_eq!(row.next_attempt_at, Some(row.created_at + secs(60)));

    it_is_gone(&world);
    let lists = &world.central.lists;
    assert!(lists.delete(TENANT, "crew", &somebody()).await.unwrap());
    world.list("crew", &["a@x"]).await;
    world.advance(secs(60));
    sweep(&mut world).await;
    assert_eq!(world.status(to_list).await, Status::Delivered);
}

#[tokio::test]
async fn an_entry_of_one_tenant_keeps_back_that_tenant_alone() {
    let mut world = World::new().await;
    let other = world.central.store.create_tenant("other", &somebody()).await;
    let other = other.unwrap().id;
    let draft = ProviderDraft {
        id: Some("mail".into()),
        kind: "test-mail".into(),
        ..ProviderDraft::default()
    };
    world
        .central
        .providers
        .create(other, draft, &somebody())
        .await
        .unwrap();
    suppress(&world, other).await;
    suppress(&world, TENANT).await;
    let of = format!("tenant = {}", TENANT.0);
    newer_version_writes(&world, "suppressions", "channel", "Pigeon", &of);
    let kept = world.send(a_notification().to(&["gone@example.com"])).await;
    let mut of_the_other = a_notification().to(&["ann@example.com"]);
    of_the_other.0.tenant = other;
    let goes_out = of_the_other.0.id;
    world.central.ingest.submit(vec![of_the_other.0]).await.unwrap();
    sweep(&mut world).await;
    let sent: Vec<_> = world.mail.received().iter().map(|message| message.id).collect();
    assert_eq!(sent, [goes_out]);
    assert_eq!(world.get(kept).await.last_code.as_deref(), Some("UNREADABLE"));
}

#[tokio::test]
async fn a_provider_whose_limits_were_read_before_is_left_alone_until_it_is_changed() {
    let mut world = World::new().await;
    let first = world.send(a_notification().by(Channel::Webhook)).await;
    sweep(&mut world).await;
    assert_eq!(world.status(first).await, Status::Delivered);
    world
        .provider("hook", "test-hook", |draft| draft.order = Some(7))
        .await;
    newer_version_writes(&world, "providers", "retry", "\"newer\"", "id = 'hook'");
    let (waits, goes_out) = (a_notification().by(Channel::Webhook).0, a_notification().0);
    let ids = [waits.id, goes_out.id];
    world.central.ingest.submit(vec![waits, goes_out]).await.unwrap();
    sweep(&mut world).await;
    assert_eq!(world.status(ids[0]).await, Status::Pending);
    assert_eq!(world.status(ids[1]).await, Status::Delivered);
    assert_eq!(world.hook.received().len(), 1);
}
