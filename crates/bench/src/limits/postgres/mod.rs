//! PostgreSQL: databases to measure in, and the limits measured there.

mod drain;
mod enqueue;
mod history;
mod latency;
mod producer;
mod reader;

pub use drain::drain;
pub use enqueue::{bulk, group, one_by_one};
pub use history::keep;
pub use latency::latency;
pub use producer::Producer;
pub use reader::Reader;

use std::str::FromStr;
use store::{Error, Result};
use tokio_postgres::{Client, Config, NoTls, types::ToSql};
use uuid::Uuid;

mod sql {
    macro_rules! statements {
        ($($name:ident = $file:literal),* $(,)?) => {
            $(pub(super) const $name: &str = include_str!(concat!("sql/", $file, ".sql"));)*
        };
    }
    statements!(
        SCHEMA = "schema",
        EMIT = "emit",
        INSERT_ONE = "insert_one",
        INSERT_MANY = "insert_many",
        FILL = "fill",
        CLAIM = "claim",
        FINISH = "finish",
        VACUUM = "vacuum",
        CHECKPOINT = "checkpoint",
        CREATE_DATABASE = "create_database",
        DROP_DATABASE = "drop_database",
        VERSION = "version",
        SIZES = "sizes",
        LOOK = "look",
        TRANSACTIONS = "transactions",
        KEEP_NOTIFICATIONS = "keep_notifications",
        KEEP_OUTCOMES = "keep_outcomes",
        KEEP_STATS = "keep_stats",
    );
}

/// A server on which databases may be made and dropped. For trusted servers nearby: no TLS.
#[derive(Debug)]
pub struct Admin {
    client: Client,
    url: String,
}

impl Admin {
    pub async fn connect(url: &str) -> Result<Self> {
        Ok(Self {
            client: connect(url, Commit::Durable).await?,
            url: url.to_owned(),
        })
    }

    /// The server's version and what its speed depends on, in one line.
    pub async fn version(&self) -> Result<String> {
        let row = self.client.query_one(sql::VERSION, &[]).await.map_err(failed)?;
        let word = |i: usize| row.get::<_, String>(i);
        Ok(format!(
            "PostgreSQL {} (shared_buffers {}, fsync {}, synchronous_commit {})",
            word(0),
            word(1),
            word(2),
            word(3)
        ))
    }

    /// A new, empty database; its URL.
    pub async fn create(&self) -> Result<String> {
        let name = format!("bench_{}", Uuid::new_v4().simple());
        self.run_on(sql::CREATE_DATABASE, &name).await?;
        self.client.batch_execute(sql::CHECKPOINT).await.map_err(failed)?;
        Ok(with_database(&self.url, &name))
    }

    /// Drops what [`Admin::create`] made, whoever is still connected to it.
    pub async fn drop(&self, url: &str) -> Result<()> {
        let name = Config::from_str(url)
            .ok()
            .and_then(|c| c.get_dbname().map(str::to_owned));
        match name.filter(|name| name.starts_with("bench_")) {
            Some(name) => self.run_on(sql::DROP_DATABASE, &name).await,
            None => Ok(()),
        }
    }

    /// How many transactions this database has seen. Sessions tell at their end at the latest, so it is only known while nobody
    /// is connected.
    pub async fn transactions(&self, database: &str) -> Result<Option<i64>> {
        let row = self.client.query_one(sql::TRANSACTIONS, &[&database]).await;
        let row = row.map_err(failed)?;
        let (connected, seen): (i64, i64) = (row.get(0), row.get(1));
        Ok((connected == 0).then_some(seen))
    }

    /// Names of databases cannot be parameters; these are our own, letters and digits.
    async fn run_on(&self, statement: &str, name: &str) -> Result<()> {
        self.client
            .batch_execute(&statement.replace(":name", name))
            .await
            .map_err(failed)
    }
}

/// Statistics as a database in use has them, and nothing left over to write while the clock runs.
pub async fn settle(url: &str) -> Result<()> {
    let client = connect(url, Commit::Durable).await?;
    client.batch_execute(sql::VACUUM).await.map_err(failed)?;
    client.batch_execute(sql::CHECKPOINT).await.map_err(failed)
}

/// How large things have become, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The queue table with its indexes.
    pub queue: i64,
    /// The segments of the write-ahead log that are kept.
    pub kept_log: i64,
}

pub async fn sizes(url: &str) -> Result<Sizes> {
    let client = connect(url, Commit::Durable).await?;
    let row = client.query_one(sql::SIZES, &[]).await.map_err(failed)?;
    Ok(Sizes {
        queue: row.get::<_, Option<i64>>(0).unwrap_or_default(),
        kept_log: row.get::<_, Option<i64>>(1).unwrap_or_default(),
    })
}

/// Whether a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commit {
    Durable,
    /// For claims: a lost one is only a row that is due again.
    Lazy,
}

async fn connect(url: &str, commit: Commit) -> Result<Client> {
    let mut config = Config::from_str(url).map_err(failed)?;
    config.options(match commit {
        Commit::Durable => "-c synchronous_commit=on",
        Commit::Lazy => "-c synchronous_commit=off",
    });
    let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
    tokio::spawn(connection);
    Ok(client)
}

/// A database with the prototypes' tables in it.
async fn prototype(url: &str) -> Result<Client> {
    let client = connect(url, Commit::Durable).await?;
    client.batch_execute(sql::SCHEMA).await.map_err(failed)?;
    Ok(client)
}

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

fn failed(error: tokio_postgres::Error) -> Error {
    Error::unavailable(error)
}

/// The same server, another database.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, format!("?{query}")),
        None => (url, String::new()),
    };
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let authority = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{authority}/{name}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced_and_the_rest_stays() {
        for (url, other) in [
            (
                "postgres://u:p@h:1/old?sslmode=disable",
                "postgres://u:p@h:1/new?sslmode=disable",
            ),
            ("postgres://h", "postgres://h/new"),
            ("postgresql://h/", "postgresql://h/new"),
        ] {
            assert_eq!(with_database(url, "new"), other);
        }
    }
}
