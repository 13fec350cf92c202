//! What the documentation promises producers of the plain INSERT, and what of `emit_event`, which takes JSON.

use super::Schema;
use domain::ManualClock;
use std::sync::Arc;
use store::Events;

#[tokio::test]
async fn a_repeat_by_insert_is_no_error_and_text_that_is_no_json_is_refused_by_the_function_alone() {
    let schema = Schema::fresh();
    let clock = Arc::new(ManualClock::default());
    let store = schema.open(&clock, "one").await;
    let owner = schema.admin().await;
    let role = format!("app_{}", schema.name());
    owner.batch_execute(&format!("create role {role}")).await.unwrap();
    store.grant_emit(&role, "default").await.unwrap();
    let application = schema.admin().await;
    application
        .batch_execute(&format!("set session authorization {role}"))
        .await
        .unwrap();
    let insert = "insert into outbox_messages (event_id, event_type, entity_id, payload) \
        values ('01890a5d-ac96-774b-bcce-b302099a8057', 'booking.confirmed', '1', 'no json \\u0000') \
        on conflict do nothing";
    for _ in 0..2 {
        application.batch_execute(insert).await.unwrap();
    }
    for payload in ["no json", r#"{"a": "\u0000"}"#] {
        let emit = format!("select emit_event('default', null, 'booking.confirmed', '2', '{payload}')");
        assert!(application.batch_execute(&emit).await.is_err(), "{payload}");
    }
    let written =
        "select emit_event('default', null, 'booking.confirmed', '3', '{\"n\": 1e5, \"price\": 10.50}')";
    application.batch_execute(written).await.unwrap();
    let due = store.due_events(None, 10).await.unwrap().rows;
    let found: Vec<_> = due
        .iter()
        .map(|e| (e.entity_id.as_str(), e.payload.as_str()))
        .collect();
    let expected = [
        ("1", r"no json \u0000"),
        ("3", r#"{"n": 100000, "price": 10.50}"#),
    ];
    assert_eq!(found, expected);
}
