//! Opening the store behind a database URL.

use crate::{config::database::Place, output};
use anyhow::Context;
use domain::SystemClock;
use std::{io::Read, path::Path, sync::Arc, time::Duration};
use store::{
    Error, Store,
    loops::Loops,
    postgres::{PgStore, StoreTime},
    sqlite::SqliteStore,
};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};

/// How long a database that does not answer is waited for at the start, and how often it is asked.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const EVERY: Duration = Duration::from_secs(1);

/// A store to serve from.
pub struct Opened {
    pub store: Arc<dyn Store>,
    /// How to learn that it can no longer be used.
    pub health: Health,
}

/// What tells that a store can no longer be used by this process.
pub enum Health {
    /// Turns true when the disk failed under an embedded store, or its writer did.
    Embedded(watch::Receiver<bool>),
    Postgres(Loops),
}

impl Health {
    /// Completes, with the reason, when the store can no longer be used.
    pub async fn failed(self) -> String {
        match self {
            Self::Embedded(mut poisoned) => {
                // A store that was closed in order cannot fail any more.
                if poisoned.wait_for(|poisoned| *poisoned).await.is_err() {
                    std::future::pending::<()>().await;
                }
                "the disk, or what writes to it, failed under the database; nothing was acknowledged after that, start again when it is well".into()
            }
            Self::Postgres(loops) => loops.failed().await.to_string(),
        }
    }
}

/// Opens the store for a process that serves it, migrated. A PostgreSQL that is still starting is waited for.
pub async fn to_serve(place: &Place, node: &str) -> anyhow::Result<Opened> {
    let name = place.shown();
    match place {
        Place::Embedded(path) => {
            make_folder(place)?;
            let store = SqliteStore::open(path, Arc::new(SystemClock))
                .with_context(|| format!("cannot open {name}"))?;
            Ok(Opened {
                health: Health::Embedded(store.poisoned()),
                store: Arc::new(store),
            })
        }
        Place::Postgres(url) => {
            let store = patiently(&name, || {
                PgStore::open(url.expose(), StoreTime::Database, node.to_owned())
            })
            .await
            .with_context(|| format!("cannot open {name}"))?;
            Ok(Opened {
                health: Health::Postgres(store.loops()),
                store: Arc::new(store),
            })
        }
    }
}

/// Opens the store for a command, also beside a process that serves it. `create`: an embedded database that is
/// not there yet is made; otherwise that is an error, so that a wrong path does not go unseen.
pub async fn for_command(place: &Place, create: bool) -> anyhow::Result<Arc<dyn Store>> {
    let name = place.shown();
    let opened: Result<Arc<dyn Store>, Error> = match place {
        Place::Embedded(path) => {
            if !create && !path.exists() {
                anyhow::bail!(
                    "there is no database at {name}; `waypost serve` or `waypost migrate` makes one"
                );
            }
            make_folder(place)?;
            SqliteStore::open_beside(path, Arc::new(SystemClock)).map(|store| Arc::new(store) as _)
        }
        Place::Postgres(url) => {
            let node = super::node::name();
            let store = PgStore::open(url.expose(), StoreTime::Database, node).await;
            store.map(|store| Arc::new(store) as _)
        }
    };
    opened.with_context(|| format!("cannot open {name}"))
}

/// Whether the database can be opened, without changing anything: an embedded one may still have to be made.
pub async fn reach(place: &Place) -> anyhow::Result<()> {
    let name = place.shown();
    match place {
        Place::Embedded(path) if path.exists() => {
            let file = std::fs::OpenOptions::new().read(true).write(true).open(path);
            let file = file.with_context(|| format!("cannot open {name}"))?;
            is_database(file).with_context(|| format!("cannot open {name}"))?;
        }
        Place::Embedded(_) => {
            let folder = place.folder().unwrap_or(Path::new("."));
            let there = folder.ancestors().find(|folder| folder.exists());
            let there = there.unwrap_or(Path::new("."));
            tempfile::tempfile_in(there).with_context(|| {
                format!(
                    "cannot make {name}: nothing can be written in {}",
                    there.display()
                )
            })?;
        }
        Place::Postgres(url) => {
            let reached = ::store::postgres::reach(url.expose()).await;
            reached.with_context(|| format!("cannot reach {name}"))?;
        }
    }
    Ok(())
}

/// What every SQLite file begins with. One that was never written to is empty.
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

fn is_database(file: std::fs::File) -> anyhow::Result<()> {
    let mut start = vec![];
    file.take(SQLITE_HEADER.len() as u64).read_to_end(&mut start)?;
    if !start.is_empty() && start != SQLITE_HEADER {
        anyhow::bail!("it is not a SQLite database");
    }
    Ok(())
}

fn make_folder(place: &Place) -> anyhow::Result<()> {
    let folder = place.folder().unwrap_or(Path::new("."));
    ::store::private::create_folder(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// Asks until the database answers, something else is wrong, or [`CONNECT_TIMEOUT`] is over.
async fn patiently<T, Fut>(name: &str, mut open: impl FnMut() -> Fut) -> Result<T, Error>
where
    Fut: Future<Output = Result<T, Error>>,
{
    let end = Instant::now() + CONNECT_TIMEOUT;
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        match open().await {
            Err(error) if error.may_pass() && Instant::now() < end => {
                let error = domain::chain(&error);
                tracing::warn!(
                    database = name,
                    error,
                    "the database does not answer; trying again"
                );
            }
            answer => return answer,
        }
    }
}

/// Closes the store after a command; a failure to do so loses nothing.
pub async fn close(store: &Arc<dyn Store>) {
    let closed = tokio::time::timeout(Duration::from_secs(10), store.close()).await;
    if closed.is_err() {
        output::note("the database took too long to close");
    }
}
