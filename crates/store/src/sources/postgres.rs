//! An application's PostgreSQL.

use super::{Answer, LONGEST_ROW, LOOKUP_TIMEOUT, Mark, SourceError, SourceRow, numbered, sql};
use crate::{
    events::READ_BYTES,
    external::text_param::TextParam,
    postgres::{
        tls,
        url::{self, PgUrl, UrlError},
    },
};
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

/// At most so many at once: it is somebody else's server.
pub(super) const CONNECTIONS: usize = 4;
const CONNECT: Duration = Duration::from_secs(5);
const LOOKUP_CONNECT: Duration = Duration::from_secs(1);
/// The longest a look at the outbox may take.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(15);

/// A lookup that waits so long for a lock of the application's waits for the source; without one it is the statement that is slow.
const LOOKUP_LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a mark waits for the application's own write; after that it is tried again later, and new events are brought meanwhile.
const OUTBOX_LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// How much longer than its statement may take an answer is waited for.
const ON_THE_WAY: Duration = Duration::from_secs(1);

pub(super) struct Postgres {
    pool: Pool,
    /// How long an answer is waited for from a server that may be gone.
    answers_within: Duration,
    /// Statements are about one row, as lookups are, and not about many.
    of_one_row: bool,
}

impl Postgres {
    pub(super) fn new(url: &str, read_only: bool) -> Result<Self, String> {
        let PgUrl {
            mut config, trust, ..
        } = url::parse(url).map_err(|e| match e {
            // The parser's own words may hold the password.
            UrlError::Driver(_) => {
                "url is not a PostgreSQL URL like postgres://user:password@host/database".to_owned()
            }
            UrlError::Contradiction(what) => format!("url has {what}"),
        })?;
        if config.get_application_name().is_none() {
            config.application_name("waypost events");
        }
        if config.get_hosts().len() > 1 && !read_only {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        // Events of others wait for a lookup, so it is given up sooner.
        let (timeout, lock_timeout, connect) = match read_only {
            true => (LOOKUP_TIMEOUT, LOOKUP_LOCK_TIMEOUT, LOOKUP_CONNECT),
            false => (OUTBOX_TIMEOUT, OUTBOX_LOCK_TIMEOUT, CONNECT),
        };
        let connect = config.get_connect_timeout().copied().unwrap_or(connect);
        config.connect_timeout(connect);
        let (timeout_ms, lock_ms) = (timeout.as_millis(), lock_timeout.as_millis());
        let mut options = format!("-c statement_timeout={timeout_ms} -c lock_timeout={lock_ms}");
        if read_only {
            options.push_str(" -c default_transaction_read_only=on");
        }
        if let Some(given) = config.get_options() {
            options = format!("{options} {given}");
        }
        config.options(options);
        let tls = MakeRustlsConnect::new(tls::client(&trust).map_err(|e| e.to_string())?);
        let fast = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_config(config, tls, fast))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(timeout))
            .create_timeout(Some(connect.saturating_mul(2)))
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            pool,
            answers_within: timeout + ON_THE_WAY,
            of_one_row: read_only,
        })
    }

    pub(super) async fn install(&self) -> Result<(), SourceError> {
        // Somebody waits for it once, and an index waits for every write that is under way.
        let patiently = format!("set local lock_timeout = 0; {}", emit::postgres::INSTALL);
        self.with(async |client| client.batch_execute(&patiently).await)
            .await
    }

    pub(super) async fn pending(&self, after: Option<i64>, limit: u32) -> Result<Answer, SourceError> {
        let (after, limit, bytes) = (after.unwrap_or(i64::MIN), i64::from(limit), READ_BYTES as i64);
        let (found, took) = self
            .with(async |client| {
                let statement = client.prepare_cached(sql::pending_postgres).await?;
                let start = Instant::now();
                let found = client.query(&statement, &[&after, &limit, &bytes]).await?;
                Ok((found, start.elapsed()))
            })
            .await?;
        let running = found.first().and_then(|row| row.get("running"));
        let there_are: i64 = found.first().and_then(|row| row.get("found")).unwrap_or(0);
        let row = |row: &tokio_postgres::Row| {
            Some(SourceRow {
                // None where there is nothing but the moment.
                seq: row.get::<_, Option<i64>>("seq")?,
                id: row.get("event_id"),
                tenant: row.get("tenant"),
                topic: row.get("topic"),
                event_type: row.get("event_type"),
                entity_type: row.get("entity_type"),
                entity_id: row.get("entity_id"),
                payload: row.get("payload"),
                schema_version: row.get("schema_version"),
                correlation_id: row.get("correlation_id"),
                due_at: Ok(row.get("due_at")),
            })
        };
        let rows: Vec<_> = found.iter().filter_map(row).collect();
        Ok(Answer {
            more: there_are >= limit || there_are > rows.len() as i64,
            rows,
            running: running.unwrap_or_default(),
            took,
        })
    }

    pub(super) async fn mark(&self, marks: &[Mark]) -> Result<(), SourceError> {
        let mark = |mark: &Mark| Some((mark.seq, mark.id.parse::<Uuid>().ok()?));
        let (seqs, ids): (Vec<i64>, Vec<Uuid>) = marks.iter().filter_map(mark).unzip();
        self.with(async |client| {
            let statement = client.prepare_cached(sql::mark_postgres).await?;
            client.execute(&statement, &[&seqs, &ids]).await
        })
        .await?;
        Ok(())
    }

    pub(super) async fn forget(&self, keep: Duration, chunk: u32) -> Result<u64, SourceError> {
        let (keep, chunk) = (keep.as_secs_f64() * 1000.0, i64::from(chunk));
        self.with(async |client| {
            let statement = client.prepare_cached(sql::forget_postgres).await?;
            client.execute(&statement, &[&keep, &chunk]).await
        })
        .await
    }

    /// At most two rows, each as JSON, none where it is too long: a second one is one too many.
    pub(super) async fn look_up(
        &self,
        query: &str,
        tenant: &str,
        entity: &str,
    ) -> Result<Vec<Option<String>>, SourceError> {
        let (query, order) = numbered(query, |n| format!("${n}"));
        let wrapped = sql::look_up_postgres
            .replace("/* longest */", &LONGEST_ROW.to_string())
            .replace("/* query */", &query);
        let values: Vec<Value> = order.iter().map(|i| [tenant, entity][*i].into()).collect();
        let values: Vec<_> = values.iter().map(TextParam).collect();
        let found = self
            .with(async |client| {
                let statement = client.prepare_cached(&wrapped).await?;
                let params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
                    values.iter().map(|value| value as _).collect();
                client.query(&statement, &params).await
            })
            .await?;
        Ok(found.iter().map(|row| row.get(0)).collect())
    }

    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&Object) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, SourceError> {
        let client = self
            .pool
            .get()
            .await
            .map_err(|e| SourceError::Unreachable(pool_words(&e)))?;
        match tokio::time::timeout(self.answers_within, work(&client)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(classify(&error, self.of_one_row)),
            Err(_) => {
                drop(Object::take(client));
                Err(SourceError::Unreachable("the database does not answer".into()))
            }
        }
    }
}

fn pool_words(error: &deadpool_postgres::PoolError) -> String {
    match error {
        deadpool_postgres::PoolError::Backend(cause) => said(cause),
        deadpool_postgres::PoolError::Timeout(_) => "no connection to the database came free in time".into(),
        other => other.to_string(),
    }
}

/// The server's words, without the line that quotes rows.
fn said(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

/// A statement that fails for its values, or takes too long by itself, is that row's; everything else is the source's.
fn classify(error: &tokio_postgres::Error, of_one_row: bool) -> SourceError {
    let words = said(error);
    let code = error.as_db_error().map(|said| said.code().code());
    match code {
        // The server answered that it gave up.
        Some("57014") if of_one_row => SourceError::Row(words),
        Some(code) if matches!(code.get(..2), Some("22" | "23" | "21")) => SourceError::Row(words),
        _ => SourceError::Unreachable(words),
    }
}
