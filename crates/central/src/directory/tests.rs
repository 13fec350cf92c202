//! What is kept in memory, and what a sender cannot make it keep.

use super::{cache::LISTED_RECIPIENTS, *};
use domain::{Actor, Recipient};
use testkit::TempStore;

const TENANT: TenantId = TenantId::DEFAULT;

fn directory(temp: &TempStore) -> Directory {
    Directory::new(temp.store.clone(), Registry::default(), Sealer::ephemeral())
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
    let kept = directory.read(|cache| (cache.routes.len(), cache.lists.len()));
    assert_eq!(kept, (0, 0));
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
    assert_eq!(directory.read(|cache| (cache.lists.len(), cache.listed)), (1, 4));
}

#[test]
fn lists_take_no_more_room_than_they_may() {
    let mut cache = Cache::default();
    let thousand = Arc::new(list("big", 999));
    for n in 0..500 {
        cache.keep_list((TENANT, format!("list {n}")), thousand.clone());
        assert!(cache.listed <= LISTED_RECIPIENTS);
        assert_eq!(cache.listed, cache.lists.len() * 1_000);
    }
    assert!(!cache.lists.is_empty());
}
