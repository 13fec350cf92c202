//! Other people's databases, written to with other people's statements: one statement at a time, values bound, never
//! spliced in.
//!
//! Leaves to others: keeping the write until it works (`buffer`, `site`), when to try again (`domain::retry`).
//! Always true: a failure says whether trying again can help; a password is in none of them.

mod postgres;
mod sqlite;
mod statement;
pub(crate) mod text_param;

pub use statement::Dialect;

use domain::Failure;
use serde_json::Value;
use std::{fmt, time::Duration};

/// A named connection of a site.
pub struct External {
    engine: Engine,
    timeout: Duration,
}

enum Engine {
    Postgres(postgres::Postgres),
    Sqlite(sqlite::Sqlite),
}

/// What a statement did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub rows: u64,
    /// The row was there before: an earlier attempt had written it.
    pub already_there: bool,
}

impl Written {
    const ALREADY_THERE: Self = Self {
        rows: 0,
        already_there: true,
    };
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "External({:?})", self.dialect())
    }
}

impl External {
    /// Reads `postgres://…` or `sqlite://path`; connects when it is needed. Says what is wrong with the URL.
    pub fn new(url: &str, timeout: Duration) -> Result<Self, String> {
        let engine = if let Some(path) = url.strip_prefix("sqlite://") {
            Engine::Sqlite(sqlite::Sqlite::new(path, timeout)?)
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Engine::Postgres(postgres::Postgres::new(url, timeout)?)
        } else {
            return Err("takes postgres://… or sqlite://path".into());
        };
        Ok(Self { engine, timeout })
    }

    pub fn dialect(&self) -> Dialect {
        match &self.engine {
            Engine::Postgres(_) => Dialect::Postgres,
            Engine::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// What is wrong with a statement, as far as that can be told without the database.
    pub fn check(&self, statement: &str) -> Result<(), String> {
        statement::check(self.dialect(), statement)
    }

    /// Runs one statement with its values, in a transaction of its own. One attempt.
    pub async fn execute(&self, statement: &str, params: &[Value]) -> Result<Written, Failure> {
        self.execute_once(statement, params, None).await
    }

    /// The same for a write that may have been made before: when this unique constraint says no, the row is there and
    /// the write is done. PostgreSQL knows the constraint by its name, SQLite by its columns (`readings.id`) or by the
    /// name of its index. Any other violation fails as usual.
    pub async fn execute_once(
        &self,
        statement: &str,
        params: &[Value],
        unique: Option<&str>,
    ) -> Result<Written, Failure> {
        if let Err(why) = self.check(statement) {
            return Err(Failure::permanent(domain::Scope::Message, "STATEMENT", why));
        }
        match &self.engine {
            Engine::Postgres(db) => db.execute(statement, params, unique, self.timeout).await,
            Engine::Sqlite(db) => db.execute(statement, params, unique, self.timeout).await,
        }
    }
}
