//! What applications put into the columns of a SQLite file, which take anything.

use super::{settings, sqlite_application};
use domain::{EventId, Timestamp};
use std::collections::HashSet;
use store::sources::{EventSource, SourceError};

#[tokio::test]
async fn an_id_that_is_no_uuid_means_the_same_event_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    let odd = "insert into waypost_outbox (event_id, event_type, entity_id, payload) values ('order-7', 'a', 7, x'00ff')";
    conn.execute(odd, []).unwrap();
    let pending = source.pending(None, 10).await.unwrap();
    assert_eq!(pending.events[0].id, EventId::of_text("shop", "order-7"));
    assert_eq!(
        (pending.events[0].entity_id.as_str(), pending.events[0].due_at),
        ("7", None)
    );
    source.mark(&pending.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
}

#[tokio::test]
async fn an_id_bound_as_bytes_is_the_uuid_they_are_or_one_that_is_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    // Where each byte that is no text becomes the same sign, all of them are one.
    let ids = [
        "x'0197c0de00007000800000000000008f'",
        "x'0197c0de00007000800000000000009f'",
        "cast(x'0197c0de0000700080000000000000af' as text)",
        "x'fe'",
        "x'ff'",
        "cast(x'fd' as text)",
    ];
    for id in ids {
        let insert = format!("insert into waypost_outbox (event_id, tenant) values ({id}, '42')");
        conn.execute(&insert, []).unwrap();
    }
    let pending = source.pending(None, 10).await.unwrap();
    let found: Vec<_> = pending.events.iter().map(|event| event.id).collect();
    let uuid = |end: &str| format!("0197c0de-0000-7000-8000-0000000000{end}").parse::<EventId>();
    let uuids = ["8f", "9f", "af"].map(|end| uuid(end).unwrap());
    assert_eq!(found[..3], uuids);
    let distinct: HashSet<_> = found.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    source.mark(&pending.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
    // A backup was put in the place meanwhile: the number is another event's.
    conn.execute(
        "update waypost_outbox set event_id = x'aa', taken_at = null where seq = 4",
        [],
    )
    .unwrap();
    source.mark(&pending.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 1);
}

#[tokio::test]
async fn a_time_is_read_however_it_is_written_and_one_that_cannot_be_is_not_now() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    for due_at in [
        "1773568800000",
        "'1773568800000'",
        "1773568800000.25",
        "'2026-03-15T10:00:00Z'",
        "'2026-03-15 15:30:00+05:30'",
        "'2026-03-15 10:00:00.000'",
        "null",
        "'next week'",
        "x'00'",
    ] {
        let insert = format!("insert into waypost_outbox (tenant, due_at) values ('42', {due_at})");
        conn.execute(&insert, []).unwrap();
    }
    let pending = source.pending(None, 10).await.unwrap();
    let due: Vec<_> = pending.events.iter().map(|event| event.due_at).collect();
    let ten = "2026-03-15T10:00:00Z".parse::<Timestamp>().ok();
    assert_eq!(due, [ten, ten, ten, ten, ten, ten, None]);
    let why = "due_at must be a time like 2026-01-31T13:45:00Z, or milliseconds since 1970";
    let refused: Vec<_> = pending
        .refused
        .iter()
        .map(|one| (one.mark.seq, &one.why))
        .collect();
    let why = SourceError::Row(why.into());
    assert_eq!(refused, [(8, &why), (9, &why)]);
    assert_eq!(pending.last, Some(9));
    for refused in &pending.refused {
        source.mark(std::slice::from_ref(&refused.mark)).await.unwrap();
    }
    assert!(source.pending(None, 10).await.unwrap().refused.is_empty());
}
