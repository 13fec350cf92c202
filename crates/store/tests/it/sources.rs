//! Outboxes in applications' own databases.

mod columns;

use rusqlite::{Connection, params};
use std::{collections::BTreeMap, path::Path, time::Duration};
use store::sources::{EventSource, SourceError, SourceSettings, SourceTenants};
use testkit::eventually;

fn settings(url: String) -> SourceSettings {
    let long = match url.starts_with("sqlite") {
        true => "select hex(zeroblob(600000)) as text",
        false => "select repeat('x', 1200000) as text",
    };
    SourceSettings {
        name: "shop".into(),
        url,
        lookup_url: None,
        tenants: SourceTenants::Map(BTreeMap::from([("42".into(), "acme".into())])),
        has_outbox: true,
        keep: Duration::ZERO,
        lookups: BTreeMap::from([
            ("long".into(), long.into()),
            (
                "booking".into(),
                "select name as guest_name, cancelled from bookings where id = :entity;".into(),
            ),
            (
                "endless".into(),
                "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) as last from n".into(),
            ),
            (
                "all".into(),
                "select name from bookings where :tenant = '42'".into(),
            ),
        ]),
    }
}

const BOOKINGS: &str = "create table bookings (id integer primary key, name text, cancelled boolean);
    insert into bookings values (1, 'Ada', false), (2, 'Bob', true)";

/// Everything a source does, whatever it is.
async fn a_source_gives_its_events_once_and_looks_up(source: &EventSource) {
    let look_up = async |name: &str, entity: &str| source.look_up(name, "acme", entity).await;
    let found = look_up("booking", "2").await.unwrap().unwrap();
    assert!(found.contains(r#""guest_name":"Bob""#), "{found}");
    assert!(
        found.contains(r#""cancelled":1"#) || found.contains(r#""cancelled":true"#),
        "{found}"
    );
    assert_eq!(look_up("booking", "3").await.unwrap(), None);
    assert!(
        matches!(look_up("all", "1").await, Err(SourceError::Row(_))),
        "two rows are one too many"
    );
    let too_long = "lookup \"long\" found a row of more than 1048576 bytes";
    assert_eq!(look_up("long", "1").await, Err(SourceError::Row(too_long.into())));
    let pending = source.pending(None, 10).await.unwrap();
    let seen: Vec<_> = pending
        .events
        .iter()
        .map(|e| (e.tenant.as_str(), e.entity_id.as_str()))
        .collect();
    assert_eq!(seen, [("acme", "1"), ("43 of shop", "2")]);
    assert!(pending.events.iter().all(|e| e.source == "shop"));
    assert_eq!(source.pending(pending.last, 10).await.unwrap().events.len(), 0);
    let again = source.pending(None, 10).await.unwrap();
    assert_eq!(
        (&again.events, &again.marks),
        (&pending.events, &pending.marks),
        "what is not marked comes again, under the same id"
    );
    source.mark(&pending.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
    // Nothing is kept, but what was marked in this very millisecond is not older than that.
    let mut forgotten = 0;
    while forgotten < 2 {
        forgotten += source.forget(10).await.unwrap();
    }
    assert_eq!(forgotten, 2);
}

fn sqlite_application(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(BOOKINGS).unwrap();
    conn
}

fn emit(conn: &Connection, tenant: &str, entity: &str) {
    let none: Option<String> = None;
    let id = format!("0197c0de-0000-7000-8000-{entity:0>12}");
    let insert = params![
        id,
        tenant,
        none,
        "booking.confirmed",
        none,
        entity,
        "{}",
        1,
        none,
        1_000_i64
    ];
    let said: String = conn
        .query_row(emit::sqlite::INSERT, insert, |row| row.get(0))
        .unwrap();
    assert_eq!(said, id);
}

#[tokio::test]
async fn a_sqlite_file_is_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let mut conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    source.install().await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
    let tx = conn.transaction().unwrap();
    emit(&tx, "42", "9");
    tx.rollback().unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
    emit(&conn, "42", "1");
    for _ in 0..2 {
        // The same id is the same event, and fails nobody's transaction.
        emit(&conn, "43", "2");
    }
    a_source_gives_its_events_once_and_looks_up(&source).await;
}

#[tokio::test]
async fn a_backup_put_in_a_sources_place_gives_its_events_again_and_those_that_come_after() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("shop.db"), folder.path().join("backup.db"));
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    emit(&conn, "42", "1");
    conn.execute("vacuum into ?1", [backup.to_str().unwrap()])
        .unwrap();
    let first = source.pending(None, 10).await.unwrap();
    source.mark(&first.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 0);
    drop(conn);
    std::fs::rename(&backup, &path).unwrap();
    let restored = Connection::open(&path).unwrap();
    emit(&restored, "42", "2");
    let again = source.pending(None, 10).await.unwrap();
    let entities: Vec<_> = again.events.iter().map(|e| e.entity_id.as_str()).collect();
    assert_eq!(entities, ["1", "2"]);
    assert_eq!(again.events[0].id, first.events[0].id, "known by its id");
    assert_eq!(
        again.marks[0], first.marks[0],
        "although it was marked in the file that is gone"
    );
}

#[tokio::test]
async fn a_lookup_that_does_not_end_is_ended_and_keeps_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let _application = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    assert_eq!(
        source.look_up("endless", "acme", "1").await,
        Err(SourceError::Row("the lookup takes too long".into()))
    );
    // On a machine that stands still the next may take too long by itself; the one that was ended keeps it only if it goes on.
    let found = eventually("the next lookup's answer", async || {
        source.look_up("booking", "acme", "1").await.ok()
    });
    let found = found.await.unwrap();
    assert!(found.contains("Ada"), "{found}");
}

#[tokio::test]
async fn who_waits_behind_a_lookup_that_does_not_end_is_not_the_one_that_takes_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let _application = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    assert_eq!(source.lookups_at_once(), 1);
    let (_, behind) = tokio::join!(
        source.look_up("endless", "acme", "1"),
        source.look_up("booking", "acme", "1"),
    );
    assert!(
        !matches!(behind, Err(SourceError::Row(_))),
        "it got its turn or it did not: {behind:?}"
    );
}

#[tokio::test]
async fn an_id_may_be_an_event_of_each_tenant_and_only_what_was_read_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    for tenant in ["42", "43", "42"] {
        emit(&conn, tenant, "1");
    }
    let pending = source.pending(None, 10).await.unwrap();
    let tenants: Vec<_> = pending.events.iter().map(|e| e.tenant.as_str()).collect();
    assert_eq!(tenants, ["acme", "43 of shop"]);
    assert_eq!(pending.events[0].id, pending.events[1].id);
    source.mark(&pending.marks[..1]).await.unwrap();
    let left = source.pending(None, 10).await.unwrap();
    assert_eq!(left.events, pending.events[1..], "the other tenant's");
    // A backup was put in the place meanwhile: the number is another event's.
    conn.execute(
        "update waypost_outbox set event_id = 'another' where taken_at is null",
        [],
    )
    .unwrap();
    source.mark(&left.marks).await.unwrap();
    assert_eq!(source.pending(None, 10).await.unwrap().events.len(), 1);
}

#[tokio::test]
async fn an_outbox_that_was_made_before_keeps_working() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    conn.execute_batch(
        "create table waypost_outbox (seq integer primary key autoincrement, event_id text not null unique,
           tenant text default 'default', topic text, event_type text, entity_type text, entity_id text, payload text default '{}',
           schema_version integer default 1, correlation_id text, due_at integer, created_at integer not null default 0, taken_at integer)",
    )
    .unwrap();
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    emit(&conn, "42", "1");
    for _ in 0..2 {
        emit(&conn, "43", "2");
    }
    a_source_gives_its_events_once_and_looks_up(&source).await;
}

/// The statements of the documentation that an application runs in another language, as the database itself takes them.
fn documented_inserts(table: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/events.md");
    let text = std::fs::read_to_string(page).unwrap();
    let begins = format!("\"insert into {table} (");
    let mut found = vec![];
    for line in text.lines().filter_map(|line| line.split_once(begins.as_str())) {
        let rest = line.1.split('"').next().unwrap();
        let mut statement = format!("insert into {table} ({rest}");
        for n in 1.. {
            match statement.contains("%s") {
                true => statement = statement.replacen("%s", &format!("${n}"), 1),
                false => break,
            }
        }
        found.push(statement);
    }
    found
}

#[tokio::test]
async fn the_inserts_of_the_documentation_put_an_event_into_a_sqlite_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = sqlite_application(&path);
    let source = EventSource::new(settings(format!("sqlite://{}", path.display()))).unwrap();
    source.install().await.unwrap();
    let documented = documented_inserts("waypost_outbox");
    assert_eq!(documented.len(), 2, "Python and Node: {documented:?}");
    for statement in &documented {
        let values = params!["42", "booking.confirmed", "1", "{}"];
        conn.execute(statement, values).unwrap();
    }
    // Null is no id either.
    conn.execute(
        "insert into waypost_outbox (event_id, tenant) values (null, '42')",
        [],
    )
    .unwrap();
    let pending = source.pending(None, 10).await.unwrap();
    assert_eq!(pending.events.len(), 3);
    for mark in &pending.marks {
        assert!(emit::is_uuid(&mark.id), "{mark:?}");
    }
    assert!(pending.events.iter().all(|event| event.tenant == "acme"));
}

#[tokio::test]
async fn a_source_that_is_not_there_says_so_and_is_no_rows_fault() {
    let gone = EventSource::new(settings("sqlite:///nowhere/shop.db".into())).unwrap();
    assert!(matches!(
        gone.pending(None, 10).await,
        Err(SourceError::Unreachable(_))
    ));
    assert!(matches!(
        gone.look_up("booking", "acme", "1").await,
        Err(SourceError::Unreachable(_))
    ));
    let away = EventSource::new(settings("postgres://u:hunter2@127.0.0.1:1/shop".into())).unwrap();
    let Err(SourceError::Unreachable(why)) = away.pending(None, 10).await else {
        panic!("nobody is there");
    };
    assert!(!why.contains("hunter2"), "{why}");
    let writes = SourceSettings {
        lookups: BTreeMap::from([("x".into(), "delete from bookings".into())]),
        ..settings("sqlite://shop.db".into())
    };
    assert!(EventSource::new(writes).is_err());
}

/// A database with bookings, its address, and the application's own connection.
#[cfg(feature = "postgres-tests")]
async fn postgres_application() -> (String, tokio_postgres::Client) {
    let server = std::env::var("WAYPOST_TEST_POSTGRES").expect("WAYPOST_TEST_POSTGRES names a server");
    let (admin, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let name = format!("shop_{}", uuid::Uuid::new_v4().simple());
    admin
        .batch_execute(&format!("create database {name}"))
        .await
        .unwrap();
    let base = server.rsplit_once('/').expect("a database in the URL").0;
    let url = format!("{base}/{name}");
    let (application, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    application.batch_execute(BOOKINGS).await.unwrap();
    (url, application)
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_lookup_too_slow_by_itself_is_that_rows_and_one_that_waits_for_a_lock_is_the_sources() {
    let (url, application) = postgres_application().await;
    let hasty =
        format!("{url}?options=-c%20statement_timeout%3D2000%20-c%20lock_timeout%3D200&connect_timeout=60");
    let source = EventSource::new(settings(hasty)).unwrap();
    let Err(SourceError::Row(why)) = source.look_up("endless", "acme", "1").await else {
        panic!("it counts against the one");
    };
    assert!(why.contains("57014"), "{why}");
    application
        .batch_execute("begin; lock table bookings in access exclusive mode")
        .await
        .unwrap();
    let Err(SourceError::Unreachable(why)) = source.look_up("booking", "acme", "1").await else {
        panic!("everybody waits for that lock");
    };
    assert!(why.contains("55P03"), "{why}");
    application.batch_execute("rollback").await.unwrap();
    let found = source.look_up("booking", "acme", "1").await.unwrap().unwrap();
    assert!(found.contains("Ada"), "{found}");
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_postgres_database_is_a_source() {
    let (url, application) = postgres_application().await;
    let source = EventSource::new(settings(format!("{url}?connect_timeout=60"))).unwrap();
    source.install().await.unwrap();
    source.install().await.unwrap();
    let by_function = "select waypost.emit_event('42', null, 'booking.confirmed', '1', '{}', \
         event_id => '0197c0de-0000-7000-8000-000000000001')";
    application
        .batch_execute(&format!("begin; {by_function}; rollback"))
        .await
        .unwrap();
    let none: Option<&str> = None;
    let (version, due): (Option<i32>, Option<i64>) = (None, None);
    let id = "0197c0de-0000-7000-8000-000000000002";
    for _ in 0..2 {
        // The same id is the same event, and fails nobody's transaction.
        application.batch_execute(by_function).await.unwrap();
        let said = application
            .query_one(
                emit::postgres::INSERT,
                &[
                    &id,
                    &"43",
                    &none,
                    &"booking.confirmed",
                    &none,
                    &"2",
                    &"not json",
                    &version,
                    &none,
                    &due,
                ],
            )
            .await
            .unwrap();
        assert_eq!(said.get::<_, &str>(0), id);
    }
    let documented = documented_inserts("waypost.outbox_messages");
    assert_eq!(documented.len(), 2, "Python and Node: {documented:?}");
    for statement in &documented {
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&"42", &"booking.confirmed", &"documented", &"{}"];
        assert_eq!(application.execute(statement, &values).await.unwrap(), 1);
    }
    let other_tenant = by_function.replace("'42'", "'44'");
    application.batch_execute(&other_tenant).await.unwrap();
    let pending = source.pending(None, 10).await.unwrap();
    assert_eq!(pending.events.len(), 5, "an id may be an event of each tenant");
    source.mark(&pending.marks[2..]).await.unwrap();
    application
        .batch_execute("delete from waypost.outbox_messages where taken_at is not null")
        .await
        .unwrap();
    a_source_gives_its_events_once_and_looks_up(&source).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn events_without_a_payload_are_read_as_many_at_a_time_as_others_and_it_is_said_whether_there_are_more()
{
    let (url, application) = postgres_application().await;
    let source = EventSource::new(settings(format!("{url}?connect_timeout=60"))).unwrap();
    source.install().await.unwrap();
    let found = async |limit| {
        let pending = source.pending(None, limit).await.unwrap();
        (pending.events.len(), pending.more)
    };
    let many = "insert into waypost.outbox_messages (payload) select null from generate_series(1, 7)";
    application.batch_execute(many).await.unwrap();
    assert_eq!(found(10).await, (7, false));
    assert_eq!(found(7).await, (7, true));
    let long = "delete from waypost.outbox_messages; \
        insert into waypost.outbox_messages (payload) select repeat('x', 3 << 20) from generate_series(1, 4)";
    application.batch_execute(long).await.unwrap();
    assert_eq!(found(10).await, (3, true), "they are long");
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_mark_waits_for_no_lock_of_the_applications() {
    let (url, application) = postgres_application().await;
    let source = EventSource::new(settings(format!("{url}?connect_timeout=60"))).unwrap();
    source.install().await.unwrap();
    let emit = "select waypost.emit_event('42', null, 'booking.confirmed', '1', '{}')";
    application.batch_execute(emit).await.unwrap();
    let marks = source.pending(None, 10).await.unwrap().marks;
    let lock = "begin; select 1 from waypost.outbox_messages for update";
    application.batch_execute(lock).await.unwrap();
    let Err(SourceError::Unreachable(why)) = source.mark(&marks).await else {
        panic!("the application has the row");
    };
    assert!(why.contains("55P03"), "{why}");
    application.batch_execute("rollback").await.unwrap();
    source.mark(&marks).await.unwrap();
}
