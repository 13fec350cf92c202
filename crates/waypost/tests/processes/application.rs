//! An application with an outbox of its own or in central's database, as the tests play it. What it says in SQL stands here and
//! nowhere else in these tests.

use crate::events::ALARM;
use domain::EventId;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use store::sources::{EventSource, SourceSettings, SourceTenants};

/// What waited for its time waits no longer.
#[cfg(feature = "postgres-tests")]
pub const DUE_NOW: &str = "update waypost.outbox_messages set due_at = now(); \
     update waypost.schedules set due_at = now(), next_look_at = now()";

pub enum Application {
    /// It has no database that Waypost reads, and emits over HTTP.
    Http,
    Sqlite {
        file: Connection,
        path: PathBuf,
    },
    #[cfg(feature = "postgres-tests")]
    Postgres {
        client: tokio_postgres::Client,
        url: String,
        /// Whether its outbox is a source; otherwise it is central's own.
        is_source: bool,
    },
}

fn open(path: &Path) -> Connection {
    let file = Connection::open(path).unwrap();
    file.busy_timeout(Duration::from_secs(30)).unwrap();
    file
}

#[cfg(feature = "postgres-tests")]
pub async fn session(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

impl Application {
    /// With an outbox in this file; answers with its URL, too.
    pub async fn in_file(path: &Path) -> (Self, String) {
        let file = open(path);
        file.execute_batch("pragma journal_mode = wal").unwrap();
        let url = format!("sqlite://{}", path.display());
        install(&url).await;
        let path = path.to_owned();
        (Self::Sqlite { file, path }, url)
    }

    #[cfg(feature = "postgres-tests")]
    pub async fn in_postgres(url: &str, is_source: bool) -> Self {
        if is_source {
            install(url).await;
        }
        Self::Postgres {
            client: session(url).await,
            url: url.to_owned(),
            is_source,
        }
    }

    pub fn is_http(&self) -> bool {
        matches!(self, Self::Http)
    }

    /// One transaction with an event for each entity.
    pub async fn transaction(&mut self, entities: &[String], commit: bool) -> Vec<EventId> {
        let end = if commit { "commit" } else { "rollback" };
        let mut ids = vec![];
        match self {
            Self::Http => panic!("nobody can take back what was answered over HTTP"),
            Self::Sqlite { file, .. } => {
                file.execute_batch("begin immediate").unwrap();
                for entity in entities {
                    ids.push(emit::Event::new(ALARM, entity, "{}").emit_in(file).unwrap());
                }
                file.execute_batch(end).unwrap();
            }
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                client.batch_execute("begin").await.unwrap();
                for entity in entities {
                    ids.push(emit::Event::new(ALARM, entity, "{}").emit(client).await.unwrap());
                }
                client.batch_execute(end).await.unwrap();
            }
        }
        ids.iter().map(|id| EventId(id.parse().unwrap())).collect()
    }

    /// So many events of its outbox are not marked; none where there are no marks.
    pub async fn unmarked(&self) -> i64 {
        match self {
            Self::Http => 0,
            Self::Sqlite { path, .. } => {
                let count = "select count(*) from waypost_outbox where taken_at is null";
                open(path).query_row(count, [], |row| row.get(0)).unwrap()
            }
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { is_source: false, .. } => 0,
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                let count = "select count(*) from waypost.outbox_messages where taken_at is null";
                client.query_one(count, &[]).await.unwrap().get(0)
            }
        }
    }

    /// From now on its outbox can be read and not marked.
    pub async fn keep_from_being_marked(&self) {
        match self {
            Self::Http => panic!("central's own outbox has no marks"),
            Self::Sqlite { file, .. } => file.execute_batch("begin immediate").unwrap(),
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                let lock = "begin; lock table waypost.outbox_messages in share mode";
                client.batch_execute(lock).await.unwrap();
            }
        }
    }

    pub async fn let_it_be_marked(&self) {
        match self {
            Self::Http => {}
            Self::Sqlite { file, .. } => file.execute_batch("rollback").unwrap(),
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                // A killed node's statement still waits for the lock, and would be carried out for nobody.
                let end = "select pg_terminate_backend(pid) from pg_stat_activity
                    where datname = current_database() and pid <> pg_backend_pid(); rollback";
                client.batch_execute(end).await.unwrap();
            }
        }
    }

    pub async fn back_up(&self) {
        match self {
            Self::Http => {}
            Self::Sqlite { file, path } => {
                let backup = path.with_extension("backup");
                file.execute("vacuum into ?1", [backup.to_str().unwrap()])
                    .unwrap();
            }
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                let copy = "create table backup as select * from waypost.outbox_messages";
                client.batch_execute(copy).await.unwrap();
            }
        }
    }

    /// What came after the backup never was, what was marked is not, and numbers are given out once more.
    pub async fn restore(&mut self) {
        match self {
            Self::Http => {}
            Self::Sqlite { file, path } => {
                *file = Connection::open_in_memory().unwrap();
                for log in ["-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{}{log}", path.display()));
                }
                std::fs::rename(path.with_extension("backup"), &*path).unwrap();
                *file = open(path);
            }
            #[cfg(feature = "postgres-tests")]
            Self::Postgres { client, .. } => {
                let restore = "begin;
                    delete from waypost.outbox_messages;
                    insert into waypost.outbox_messages overriding system value select * from backup;
                    update waypost.outbox_messages set taken_at = null;
                    commit";
                client.batch_execute(restore).await.unwrap();
                // The sequence as the backup had it.
                let back = "select setval(pg_get_serial_sequence('waypost.outbox_messages', 'seq'), coalesce(max(seq), 1)) from backup";
                client.batch_execute(back).await.unwrap();
            }
        }
    }
}

async fn install(url: &str) {
    let settings = SourceSettings {
        name: "shop".into(),
        url: url.into(),
        lookup_url: None,
        tenants: SourceTenants::One("default".into()),
        has_outbox: true,
        keep: Duration::from_secs(3600),
        lookups: Default::default(),
    };
    EventSource::new(settings).unwrap().install().await.unwrap();
}

/// Bookings in a file: four of them, which all change.
pub struct Rentals(rusqlite::Connection);

impl Rentals {
    pub const LOOKUP: &str =
        "select checkin as checkinDate, status = 'Cancelled' as cancelled from bookings where id = :entity";

    pub fn open(file: &std::path::Path) -> Self {
        let conn = rusqlite::Connection::open(file).unwrap();
        let bookings = "create table bookings (id text primary key, checkin text, status text);
            insert into bookings values ('later', '2026-01-10', 'Confirmed'), ('sooner', '2026-01-20', 'Confirmed'),
                ('cancelled', '2026-01-10', 'Confirmed'), ('gone', '2026-01-10', 'Confirmed')";
        conn.execute_batch(bookings).unwrap();
        Self(conn)
    }

    /// Two move to another day, one is cancelled, one is gone.
    pub fn change_everything(&self) {
        let changes = "update bookings set checkin = '2026-01-20' where id = 'later';
            update bookings set checkin = '2026-01-05' where id = 'sooner';
            update bookings set status = 'Cancelled' where id = 'cancelled';
            delete from bookings where id = 'gone'";
        self.0.execute_batch(changes).unwrap();
    }
}
