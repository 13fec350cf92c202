//! A PostgreSQL that belongs to somebody else. Values travel as text and take the type the statement gives them, so
//! that every type of the server can be written to.

use super::{Written, text_param::TextParam};
use crate::postgres::{
    tls,
    url::{self, PgUrl, UrlError},
};
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use domain::{Failure, Scope};
use serde_json::Value;
use std::{error::Error as _, time::Duration};
use tokio_postgres::{
    config::TargetSessionAttrs,
    error::{DbError, SqlState},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// At most so many at once: it is somebody else's server.
const CONNECTIONS: usize = 4;
const CONNECT: Duration = Duration::from_secs(5);

pub(super) struct Postgres {
    pool: Pool,
}

impl Postgres {
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, String> {
        let PgUrl {
            mut config,
            trust,
            schema,
        } = url::parse(url).map_err(|e| match e {
            // The parser's own words may hold the password.
            UrlError::Driver(_) => {
                "is not a PostgreSQL URL like postgres://user:password@host/database".to_owned()
            }
            UrlError::Contradiction(what) => format!("has {what}"),
        })?;
        if schema.is_some() {
            return Err(
                "has schema=, which only central's own database takes; use options=-c%20search_path=NAME"
                    .into(),
            );
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("waypost site");
        }
        if config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let own = format!("-c statement_timeout={}", timeout.as_millis());
        let options = match config.get_options() {
            Some(given) => format!("{own} {given}"),
            None => own,
        };
        config.options(options);
        let tls = MakeRustlsConnect::new(tls::client(&trust).map_err(|e| e.to_string())?);
        let fast = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_config(config, tls, fast))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(timeout))
            .create_timeout(Some(CONNECT * 2))
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self { pool })
    }

    /// `unique`: see [`super::External::execute_once`].
    pub(super) async fn execute(
        &self,
        statement: &str,
        params: &[Value],
        unique: Option<&str>,
        timeout: Duration,
    ) -> Result<Written, Failure> {
        let client = self.pool.get().await.map_err(|e| unreachable(&e))?;
        // The server ends the statement first; this is for a server that no longer answers at all.
        let done = tokio::time::timeout(timeout + CONNECT, run(&client, statement, params, unique)).await;
        let done = done.unwrap_or_else(|_| {
            Err(Failure::ambiguous(
                Scope::Lane,
                "TIMEOUT",
                "the database did not answer in time",
            ))
        });
        if matches!(&done, Err(failure) if failure.scope == Scope::Lane) {
            drop(Object::take(client));
        }
        done
    }
}

async fn run(
    client: &Object,
    statement: &str,
    params: &[Value],
    unique: Option<&str>,
) -> Result<Written, Failure> {
    let prepared = client.prepare(statement).await.map_err(|e| classify(&e, false))?;
    let wanted = prepared.params().len();
    if wanted != params.len() {
        let words = format!(
            "the statement takes {wanted} parameters, {} were given",
            params.len()
        );
        return Err(Failure::permanent(Scope::Message, "STATEMENT", words));
    }
    match client.execute_raw(&prepared, params.iter().map(TextParam)).await {
        Ok(rows) => Ok(Written {
            rows,
            already_there: false,
        }),
        Err(e) if violates(&e, unique) => Ok(Written::ALREADY_THERE),
        Err(e) => Err(classify(&e, true)),
    }
}

/// Whether it was this unique constraint that said no.
fn violates(error: &tokio_postgres::Error, unique: Option<&str>) -> bool {
    let Some(said) = error.as_db_error() else {
        return false;
    };
    *said.code() == SqlState::UNIQUE_VIOLATION && unique.is_some() && said.constraint() == unique
}

fn unreachable(error: &PoolError) -> Failure {
    match error {
        PoolError::Backend(cause) => classify(cause, false),
        PoolError::Timeout(_) => Failure::transient(
            Scope::Lane,
            "CONNECT",
            "no connection to the database came free in time",
        ),
        other => Failure::transient(Scope::Lane, "CONNECT", other.to_string()),
    }
}

/// `sent`: the statement may have reached the server.
fn classify(error: &tokio_postgres::Error, sent: bool) -> Failure {
    let Some(said) = error.as_db_error() else {
        let words = cause(error);
        // The values were refused before anything was sent.
        if error.to_string().starts_with("error serializing") {
            return Failure::permanent(Scope::Message, "STATEMENT", words);
        }
        return match sent {
            true => Failure::ambiguous(Scope::Lane, "CONNECTION_LOST", words),
            false => Failure::transient(Scope::Lane, "CONNECT", words),
        };
    };
    by_sqlstate(said.code().code(), describe(said))
}

fn by_sqlstate(state: &str, words: String) -> Failure {
    let code = format!("PG_{state}");
    match state {
        // A standby that is not (yet) the primary.
        "25006" => Failure::transient(Scope::Lane, code, words),
        // The server is somebody else's: its code may have any length.
        text => match text.get(..2).unwrap_or_default() {
            // Data, constraint, cardinality, syntax or access rule, feature, PL/pgSQL: the statement itself.
            "0A" | "21" | "22" | "23" | "42" | "44" | "P0" | "20" | "27" | "2F" | "38" | "39" => {
                Failure::permanent(Scope::Message, code, words)
            }
            // Somebody else's lock or transaction.
            "40" | "55" => Failure::transient(Scope::Message, code, words),
            _ => Failure::transient(Scope::Lane, code, words),
        },
    }
}

fn describe(said: &DbError) -> String {
    match said.detail() {
        Some(detail) => format!("{}: {detail}", said.message()),
        None => said.message().to_owned(),
    }
}

fn cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_any_length_and_script_is_read_and_an_unknown_one_is_the_servers_trouble() {
        let of = |state| by_sqlstate(state, "said so".into());
        let long = "9".repeat(70_000);
        for odd in ["", "4", "é", "4é", "日本", "\u{10ffff}", "42\u{301}", &long] {
            let failure = of(odd);
            assert_eq!(failure.code.as_ref(), format!("PG_{odd}"));
        }
        assert_eq!(
            of("42601"),
            Failure::permanent(Scope::Message, "PG_42601", "said so")
        );
        assert_eq!(
            of("40001"),
            Failure::transient(Scope::Message, "PG_40001", "said so")
        );
        for lane in ["25006", "57P01", "", "4", "é"] {
            let expected = Failure::transient(Scope::Lane, format!("PG_{lane}"), "said so");
            assert_eq!(of(lane), expected);
        }
    }
}
