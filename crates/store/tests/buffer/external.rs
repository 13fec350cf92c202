//! Other people's databases: one statement, bound values, and failures that say whether trying again can help.

use domain::FailureKind::{Permanent, Transient};
use serde_json::json;
use std::time::Duration;
use store::external::External;

/// Longer than this process ever stands still.
const TIMEOUT: Duration = Duration::from_secs(60);
/// For what takes longer.
const SHORT: Duration = Duration::from_millis(300);

fn postgres() -> External {
    External::new("postgres://u:p@127.0.0.1:1/db", TIMEOUT).unwrap()
}

/// The same file under another time limit.
fn with_limit(folder: &tempfile::TempDir, timeout: Duration) -> External {
    let path = folder.path().join("theirs.db");
    External::new(&format!("sqlite://{}", path.display()), timeout).unwrap()
}

fn sqlite() -> (External, rusqlite::Connection, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(
        "create table readings (id integer primary key, tag text not null, value real, extra text)",
    )
    .unwrap();
    (with_limit(&folder, TIMEOUT), conn, folder)
}

#[test]
fn one_statement_is_told_from_two_wherever_the_semicolon_hides() {
    let (sqlite, _conn, _folder) = sqlite();
    let postgres = postgres();
    for (db, fine) in [
        (&postgres, "insert into t values ($1)"),
        (&postgres, "insert into t values ($1);  -- done; really"),
        (
            &postgres,
            "insert into t values ('a;b', \"c;d\", E'it\\';s', $$x;y$$, $q$;$$;$q$) /* ; /* ; */ ; */",
        ),
        (&postgres, "update t set a = 'it''s; fine' where b$x = $1"),
        (&sqlite, "insert into [a;b] values (`c;d`, 'e;f', ?1) /* /* ; */"),
        (&sqlite, "with x as (select 1) insert into t select * from x ;"),
    ] {
        assert_eq!(db.check(fine), Ok(()), "{fine}");
    }
    for (db, two) in [
        (&postgres, "delete from a; delete from b"),
        (&postgres, "insert into t values ('a\\'); drop table t; --')"),
        (&postgres, "select 1; ; select 2"),
        (&postgres, "insert into t values ($1); /* x */ drop table t"),
        (&sqlite, "delete from a /* /* */ ; delete from b"),
        (&sqlite, "delete from a;;delete from b"),
    ] {
        assert!(
            db.check(two).unwrap_err().contains("more than one command"),
            "{two}"
        );
    }
}

#[test]
fn what_is_no_write_is_refused_in_words() {
    for (statement, says) in [
        ("", "is empty"),
        (" -- nothing", "is empty"),
        ("BEGIN", "BEGIN is not run here"),
        (" /* x */ commit", "COMMIT is not run here"),
        ("set role admin", "SET is not run here"),
        ("insert into t values ('a", "does not end"),
        ("insert into t values ('\0')", "NUL"),
    ] {
        let why = postgres().check(statement).unwrap_err();
        assert!(why.contains(says), "{statement:?}: {why}");
    }
    assert!(sqlite().0.check("pragma journal_mode = delete").is_err());
}

#[test]
fn a_url_that_cannot_be_used_is_named_without_its_password() {
    for bad in [
        "",
        "mysql://u:hunter2@h/db",
        "sqlite://",
        "postgres://u:hunter2@h:port/db",
    ] {
        let why = External::new(bad, TIMEOUT).unwrap_err();
        assert!(!why.contains("hunter2"), "{why}");
    }
}

#[tokio::test]
async fn values_are_bound_and_never_spliced_in() {
    let (db, conn, _folder) = sqlite();
    let evil = "x'); drop table readings; --";
    let written = db
        .execute(
            "insert into readings (tag, value, extra) values (?1, ?2, ?3)",
            &[json!(evil), json!(1.5), json!({"a": [1, null]})],
        )
        .await
        .unwrap();
    assert_eq!(written.rows, 1);
    let (tag, value, extra): (String, f64, String) = conn
        .query_row("select tag, value, extra from readings", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(
        (tag.as_str(), value, extra.as_str()),
        (evil, 1.5, r#"{"a":[1,null]}"#)
    );
}

#[tokio::test]
async fn the_statements_own_mistakes_are_for_good_and_the_databases_trouble_is_not() {
    let (db, conn, folder) = sqlite();
    let insert = "insert into readings (id, tag) values (?1, ?2)";
    db.execute(insert, &[json!(1), json!("t")]).await.unwrap();
    for (statement, params, code) in [
        (insert, vec![json!(1), json!("t")], "CONSTRAINT"),
        (insert, vec![json!(2), json!(null)], "CONSTRAINT"),
        (insert, vec![json!(2)], "STATEMENT"),
        ("insert into nowhere values (1)", vec![], "STATEMENT"),
        ("insrt into readings values (1)", vec![], "STATEMENT"),
    ] {
        let failure = db.execute(statement, &params).await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.code.as_ref()),
            (Permanent, code),
            "{statement}: {failure:?}"
        );
    }
    conn.execute_batch("begin immediate").unwrap();
    let impatient = with_limit(&folder, SHORT);
    let busy = impatient
        .execute(insert, &[json!(3), json!("t")])
        .await
        .unwrap_err();
    assert_eq!(busy.kind, Transient, "{busy:?}");
    conn.execute_batch("rollback").unwrap();
    db.execute(insert, &[json!(3), json!("t")]).await.unwrap();
    let missing = External::new(
        &format!("sqlite://{}/missing.db", folder.path().display()),
        TIMEOUT,
    )
    .unwrap();
    assert_eq!(
        missing
            .execute(insert, &[json!(1), json!("t")])
            .await
            .unwrap_err()
            .kind,
        Transient
    );
    assert!(
        !folder.path().join("missing.db").exists(),
        "a mistyped path makes no database"
    );
}

/// Counts for ever and writes what it counts.
const ENDLESS: &str = "with recursive n (i) as (select 10 union all select i + 1 from n) \
    insert into readings (id, tag) select i, 'endless' from n";

#[tokio::test]
async fn a_statement_without_an_end_is_interrupted_at_its_time_limit_and_leaves_nothing_behind() {
    let (db, conn, folder) = sqlite();
    let failure = with_limit(&folder, SHORT)
        .execute(ENDLESS, &[])
        .await
        .unwrap_err();
    assert_eq!(
        (failure.kind, failure.code.as_ref(), failure.scope),
        (Transient, "TIMEOUT", domain::Scope::Message),
        "{failure:?}"
    );
    db.execute(
        "insert into readings (id, tag) values (?1, ?2)",
        &[json!(1), json!("t")],
    )
    .await
    .unwrap();
    let rows: i64 = conn
        .query_row("select count(*) from readings", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 1, "the interrupted statement was undone as a whole");
}

#[tokio::test]
async fn a_statement_without_an_end_is_interrupted_also_when_its_time_was_over_before_it_began() {
    let (_, conn, folder) = sqlite();
    // Opening the file takes longer.
    let db = with_limit(&folder, Duration::from_nanos(1));
    let failure = db.execute(ENDLESS, &[]).await.unwrap_err();
    assert_eq!(failure.code, "TIMEOUT", "{failure:?}");
    assert_eq!(failure.scope, domain::Scope::Message, "{failure:?}");
    let rows: i64 = conn
        .query_row("select count(*) from readings", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn a_write_made_before_is_done_when_the_named_constraint_says_so_and_no_other() {
    let (db, conn, _folder) = sqlite();
    conn.execute_batch("create unique index one_per_tag on readings (tag, value)")
        .unwrap();
    let insert = "insert into readings (id, tag, value) values (?1, ?2, 1)";
    let row = [json!(1), json!("t")];
    db.execute(insert, &row).await.unwrap();
    for (params, named, done) in [
        (&row, "readings.id", true),
        (&row, "readings.tag, readings.value", false),
        (&row, "one_per_tag", false),
        (&row, "readings", false),
        (&[json!(2), json!("t")], "one_per_tag", true),
        (&[json!(2), json!("t")], "readings.tag, readings.value", true),
        (&[json!(2), json!("t")], "readings.id", false),
        (&[json!(1), json!(null)], "readings.id", false),
        (&[json!(1), json!(null)], "readings.tag", false),
    ] {
        let answer = db.execute_once(insert, params, Some(named)).await;
        match done {
            true => assert!(answer.unwrap().already_there, "{params:?} {named}"),
            false => assert_eq!(answer.unwrap_err().code, "CONSTRAINT", "{params:?} {named}"),
        }
    }
    let fresh = db
        .execute_once(insert, &[json!(3), json!("u")], Some("readings.id"))
        .await
        .unwrap();
    assert_eq!((fresh.rows, fresh.already_there), (1, false));
}

#[tokio::test]
async fn a_server_that_is_not_there_may_come_back() {
    let failure = postgres()
        .execute("insert into t values ($1)", &[json!(1)])
        .await
        .unwrap_err();
    assert_eq!(failure.kind, Transient, "{failure:?}");
    assert!(!format!("{failure:?}").contains(":p@"));
}

/// With the server that `scripts/postgres` starts.
#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn postgresql_takes_values_of_every_type_as_json_has_them() {
    let url = std::env::var("WAYPOST_TEST_POSTGRES").expect("WAYPOST_TEST_POSTGRES names a server");
    let db = External::new(&url, Duration::from_secs(10)).unwrap();
    let table = format!("written_{}", uuid::Uuid::now_v7().simple());
    db.execute(
        &format!(
            "create table {table} (id int primary key, n numeric, at timestamptz, j jsonb, b boolean, u uuid, t text)"
        ),
        &[],
    )
    .await
    .unwrap();
    let insert = format!("insert into {table} values ($1, $2, $3, $4, $5, $6, $7)");
    let values = |id: i64| {
        vec![
            json!(id),
            json!("12.50"),
            json!("2026-01-01T00:00:00Z"),
            json!({"a": 1}),
            json!(true),
            json!("0190a0e0-0000-7000-8000-000000000000"),
            json!(null),
        ]
    };
    assert_eq!(db.execute(&insert, &values(1)).await.unwrap().rows, 1);
    let twice = db.execute(&insert, &values(1)).await.unwrap_err();
    assert_eq!((twice.kind, twice.code.as_ref()), (Permanent, "PG_23505"));
    let named = format!("{table}_pkey");
    let there = db.execute_once(&insert, &values(1), Some(&named)).await.unwrap();
    assert_eq!((there.rows, there.already_there), (0, true));
    let other = db.execute_once(&insert, &values(1), Some("another_one")).await;
    assert_eq!(other.unwrap_err().code, "PG_23505");
    let mut wrong = values(2);
    wrong[2] = json!("no time");
    assert_eq!(db.execute(&insert, &wrong).await.unwrap_err().kind, Permanent);
    assert_eq!(
        db.execute(&insert, &values(2)[..3]).await.unwrap_err().kind,
        Permanent
    );
    assert_eq!(
        db.execute("insert into nowhere values (1)", &[])
            .await
            .unwrap_err()
            .kind,
        Permanent
    );
    db.execute(&format!("drop table {table}"), &[]).await.unwrap();
}

/// The server ends our sessions under us, as in a failover.
#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_lost_connection_to_postgresql_may_come_back() {
    let url = std::env::var("WAYPOST_TEST_POSTGRES").expect("WAYPOST_TEST_POSTGRES names a server");
    let db = External::new(&url, Duration::from_secs(10)).unwrap();
    let table = format!("written_{}", uuid::Uuid::now_v7().simple());
    db.execute(&format!("create table {table} (id int)"), &[])
        .await
        .unwrap();
    let name = format!("{url}?application_name=somebody");
    let other = External::new(&name, Duration::from_secs(10)).unwrap();
    // Other tests have sessions of that name as well.
    let end_us = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where application_name = 'waypost site' and query like '%{table}%'"
    );
    assert_eq!(other.execute(&end_us, &[]).await.unwrap().rows, 1);
    let insert = format!("insert into {table} values ($1)");
    let mut tries = 0;
    while let Err(failure) = db.execute(&insert, &[json!(1)]).await {
        assert_ne!(failure.kind, Permanent, "{failure:?}");
        tries += 1;
        assert!(tries < 10, "{failure:?}");
    }
    db.execute(&format!("drop table {table}"), &[]).await.unwrap();
}
