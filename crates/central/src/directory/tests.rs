//! What is kept in memory, and what a sender cannot make it keep.

use super::*;
use domain::{
    Actor, Recipient,
    template::{TemplateContent, TemplateIdentity},
};
use store::templates::NewTemplate;
use testkit::TempStore;

const TENANT: TenantId = TenantId::DEFAULT;

fn directory(temp: &TempStore) -> Directory {
    Directory::new(
        temp.store.clone(),
        temp.store.clone(),
        temp.store.clone(),
        Registry::default(),
        Sealer::ephemeral(),
    )
}

fn list(name: &str, recipients: usize) -> List {
    let recipient = |n| Recipient {
        name: None,
        address: format!("{n}@example.com"),
        channel: None,
        enabled: true,
    };
    List {
        name: name.into(),
        recipients: (0..recipients).map(recipient).collect(),
    }
}

#[tokio::test]
async fn what_there_is_not_is_not_remembered_however_often_it_is_asked_for() {
    let temp = TempStore::open();
    let directory = directory(&temp);
    for n in 0..50 {
        let made_up = ProviderId::new(format!("made-up-{n}"));
        let route = directory.route(TENANT, Some(&made_up), None).await.unwrap();
        assert_eq!(route, Route::UnknownProvider);
        assert!(
            directory
                .list(TENANT, &format!("made up {n}"))
                .await
                .unwrap()
                .is_none()
        );
    }
    let kept = (directory.read(|cache| cache.routes.len()), directory.lists.size());
    assert_eq!(kept, (0, (0, 0)));
}

#[tokio::test]
async fn a_list_that_there_is_is_read_once() {
    let temp = TempStore::open();
    let directory = directory(&temp);
    temp.store
        .put_list(TENANT, &list("ops", 3), &Actor::system())
        .await
        .unwrap();
    for _ in 0..3 {
        let found = directory.list(TENANT, "ops").await.unwrap().unwrap();
        assert_eq!(found.recipients.len(), 3);
    }
    assert_eq!(directory.lists.size(), (1, 4));
}

#[test]
fn lists_take_no_more_room_than_they_may() {
    let kept = Versioned::with_room(LISTED_RECIPIENTS);
    let thousand = Arc::new(list("big", 999));
    for n in 0..500 {
        kept.put(1, (TENANT, format!("list {n}")), thousand.clone());
        let (count, used) = kept.size();
        assert!(used <= LISTED_RECIPIENTS && count > 0);
        assert_eq!(used, count * 1_000);
    }
}

#[tokio::test]
async fn templates_are_read_once_and_again_when_one_was_changed() {
    let temp = TempStore::open();
    let directory = directory(&temp);
    let asked = || async {
        directory.refresh().await.unwrap();
        directory
            .event_templates(TENANT, "booking.confirmed")
            .await
            .unwrap()
    };
    assert!(asked().await.is_empty());
    let new = NewTemplate {
        tenant: TENANT,
        identity: TemplateIdentity {
            event_type: "booking.confirmed".into(),
            channel: Channel::Email,
            name: "default".into(),
            language: None,
            scope: None,
        },
        content: TemplateContent {
            body: "one".into(),
            active: true,
            ..TemplateContent::default()
        },
    };
    let made = temp.store.create_template(&new, &Actor::system()).await.unwrap();
    let (first, second) = (asked().await, asked().await);
    assert!(Arc::ptr_eq(&first, &second));
    let content = TemplateContent {
        body: "two".into(),
        ..new.content
    };
    temp.store
        .save_template(TENANT, made.id, 1, &content, &Actor::system())
        .await
        .unwrap();
    assert_eq!(asked().await[0].content.body, "two");
}
