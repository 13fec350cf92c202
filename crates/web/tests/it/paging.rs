//! `limit`, `cursor`, `nextCursor` on every list.

use crate::world::World;
use serde_json::{Value, json};
use std::time::Duration;
use store::directory::Role;

/// Follows the cursors to the end.
async fn walk(world: &World, path: &str, limit: usize, key: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (vec![], String::new());
    for _ in 0..100 {
        let joint = if path.contains('?') { '&' } else { '?' };
        let page = world
            .ask("GET", &format!("{path}{joint}limit={limit}{cursor}"), key, None)
            .await
            .expect(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit);
        all.extend(items.iter().cloned());
        match page["nextCursor"].as_str() {
            None => return all,
            Some(next) => cursor = format!("&cursor={}", web::api::lists::encode(next)),
        }
    }
    panic!("{path} does not end");
}

#[tokio::test]
async fn pages_of_notifications_miss_nothing_and_repeat_nothing() {
    let world = World::new().await;
    for n in 0..25 {
        world.submitted(&format!("row {n}")).await;
        if n % 3 == 0 {
            world.temp.clock.advance(Duration::from_millis(1));
        }
    }
    let key = world.key(Role::Viewer);
    let whole: Vec<_> = (0..25).rev().map(|n| format!("row {n}")).collect();
    for limit in [1, 7, 25, 1000] {
        let rows = walk(&world, "/api/notifications", limit, &key).await;
        let subjects: Vec<_> = rows.iter().map(|row| row["subject"].as_str().unwrap()).collect();
        assert_eq!(subjects, whole, "limit {limit}");
    }
}

#[tokio::test]
async fn rows_that_come_in_meanwhile_do_not_shift_the_pages() {
    let world = World::new().await;
    for n in 0..4 {
        world.submitted(&format!("old {n}")).await;
    }
    let first = world.get("/api/notifications?limit=2").await.expect(200);
    world.submitted("new").await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = world
        .get(&format!("/api/notifications?limit=2&cursor={cursor}"))
        .await
        .expect(200);
    let subjects: Vec<_> = second["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["subject"].clone())
        .collect();
    assert_eq!(subjects, [json!("old 1"), json!("old 0")]);
}

#[tokio::test]
async fn every_list_is_paged_alike() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    for n in 0..5 {
        world
            .post("/api/lists", json!({"name": format!("list & {n}")}))
            .await
            .expect(201);
        world
            .post(
                "/api/providers",
                json!({"id": format!("p{n}"), "kind": "test-hook"}),
            )
            .await
            .expect(201);
        world
            .post(
                "/api/lists/ops/recipients",
                json!({"address": format!("{n}@example.com")}),
            )
            .await
            .expect(201);
    }
    for (path, count) in [
        ("/api/lists", 6),
        ("/api/providers", 6),
        ("/api/keys", 6),
        ("/api/lists/ops/recipients", 6),
        ("/api/audit?kind=ListChanged", 11),
    ] {
        for limit in [1, 4, 100] {
            assert_eq!(
                walk(&world, path, limit, &admin).await.len(),
                count,
                "{path} by {limit}"
            );
        }
    }
    assert_eq!(
        walk(&world, "/api/tenants", 1, &world.key(Role::Ops)).await.len(),
        2
    );
}
