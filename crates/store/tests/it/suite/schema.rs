//! The store as a whole.

use crate::harness::*;

pub async fn the_version_is_known(t: &TestStore) {
    assert!(t.store.schema_version().await.unwrap() >= 1);
    t.store.ping().await.unwrap();
}

pub async fn a_closed_store_refuses(t: &TestStore) {
    let lane = t.lane("mail").await;
    t.send(lane).await;
    t.store.close().await;
    assert!(t.store.ping().await.is_err());
    assert!(t.store.ingest(vec![]).await.is_err() || t.store.tenants().await.is_err());
    assert!(t.store.tenants().await.unwrap_err().may_pass());
}
