//! Where the database is and how to talk to it: the URL, the settings of each kind of session, TLS.
//!
//! Always true: whoever acknowledges does so on a session with `synchronous_commit = on`, whatever the server's
//! default; every wait for the server ends.

use super::{
    tls,
    url::{self, PgUrl, UrlError},
};
use crate::{Error, Result};
use domain::chain;
use std::time::Duration;
use tokio_postgres::{Client, Config, Connection, Socket, config::TargetSessionAttrs, tls::MakeTlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Waiting for a server to take a connection, per host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For who meets a server that has no TLS, or a certificate of its own making.
const TLS_HINT: &str = "in the URL, sslrootcert=FILE names the authority to trust, and sslmode=disable goes without TLS \
                        where the network is trusted";
/// What the server allows one statement.
pub(super) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// What a session is for; each kind has its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Operators, directory, lists, figures.
    General,
    /// The two writers of the group commit.
    Ingest,
    /// Claims: a lost one is only a row that is due again, so it does not wait for the disk.
    Claim,
    /// Outcomes, and whatever else names a lease.
    Record,
    /// One statement may take as long as it takes.
    Migrate,
}

#[derive(Clone)]
pub(super) struct Server {
    config: Config,
    pub tls: MakeRustlsConnect,
    pub schema: String,
}

impl Server {
    /// `postgres://user:password@host:port,host:port/database`, with what PostgreSQL's own URLs take and these:
    /// `schema` (where the tables live; `waypost` if not given), `sslmode` up to `verify-full`, `sslrootcert`. Without
    /// `sslmode` TLS is required of a server on another machine.
    pub fn parse(url: &str) -> Result<Server> {
        let PgUrl {
            mut config,
            trust,
            schema,
        } = url::parse(url).map_err(|e| {
            Error::Refused(match e {
                UrlError::Driver(e) => format!("the PostgreSQL URL cannot be read: {}", reason(&e)),
                UrlError::Contradiction(what) => format!("the PostgreSQL URL: {what}"),
            })
        })?;
        let schema = schema.unwrap_or_else(|| "waypost".to_owned());
        if !is_plain_name(&schema) {
            return Err(Error::Refused(format!(
                "schema {schema:?}: lower-case letters, digits and _, at most 40, not starting with a digit"
            )));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("waypost");
        }
        // Of several hosts, the one that takes writes.
        if config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        // A server that vanished without a word is noticed within half a minute.
        config
            .keepalives_idle(Duration::from_secs(10))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3)
            .tcp_user_timeout(Duration::from_secs(20));
        Ok(Server {
            config,
            tls: MakeRustlsConnect::new(tls::client(&trust)?),
            schema,
        })
    }

    pub fn config(&self, for_use: Use) -> Config {
        let mut options = self.config.get_options().unwrap_or_default().to_owned();
        let mut set = |name: &str, value: &str| {
            options.push_str(" -c ");
            options.push_str(name);
            options.push('=');
            options.push_str(value);
        };
        set("search_path", &self.schema);
        set("timezone", "UTC");
        // Whatever the server's default: statements count on seeing what was committed before them.
        set("default_transaction_isolation", "read\\ committed");
        // A node that hangs inside a transaction must not keep its locks.
        set("idle_in_transaction_session_timeout", "30s");
        let statement = if for_use == Use::Migrate {
            0
        } else {
            STATEMENT_TIMEOUT.as_secs()
        };
        set("statement_timeout", &format!("{statement}s"));
        let durable = if for_use == Use::Claim { "off" } else { "on" };
        set("synchronous_commit", durable);
        if for_use != Use::Migrate {
            // Every statement goes by an index, on tables that grow from nothing while the statistics still say
            // "empty". The plan that is right at any size is forced: index scans and nested loops, and statements are
            // written so that no index is walked as a whole (see claim_due.sql).
            for off in ["seqscan", "hashjoin", "mergejoin", "material"] {
                set(&format!("enable_{off}"), "off");
            }
            // Costs that were switched off look expensive enough to be compiled.
            set("jit", "off");
        }
        if matches!(for_use, Use::Ingest | Use::Claim | Use::Record) {
            // A bitmap has no order: the oldest row of a lane would be found by reading the whole backlog.
            set("enable_bitmapscan", "off");
            // A handful of statements, planned once.
            set("plan_cache_mode", "force_generic_plan");
            set("work_mem", "16MB");
        }
        let mut config = self.config.clone();
        config.options(options);
        config
    }

    /// A session outside the pools.
    pub async fn connect(&self, for_use: Use) -> Result<(Client, Connection<Socket, TlsStream>)> {
        let config = self.config(for_use);
        match tokio::time::timeout(2 * CONNECT_TIMEOUT, config.connect(self.tls.clone())).await {
            Ok(Ok(connected)) => Ok(connected),
            Ok(Err(e)) if e.to_string().starts_with("error performing TLS handshake") => {
                Err(Error::unavailable(format!("{}; {TLS_HINT}", chain(&e))))
            }
            Ok(Err(e)) => Err(super::failed::Failed::from(e).into()),
            Err(_) => Err(Error::unavailable("no answer from PostgreSQL while connecting")),
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The config carries the password.
        f.debug_struct("Server")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

fn is_plain_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

/// The innermost cause: "invalid connection string" alone helps nobody.
fn reason(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_options_are_taken_out_of_the_url() {
        let server =
            Server::parse("postgres://u:hunter2@a:1,b:2/db?schema=team_7&sslmode=verify-full").unwrap();
        assert_eq!(server.schema, "team_7");
        let config = server.config(Use::General);
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(config.get_ssl_mode(), tokio_postgres::config::SslMode::Require);
        assert!(config.get_options().unwrap().contains("search_path=team_7"));
        assert!(!format!("{server:?}").contains("hunter2"));
    }

    #[test]
    fn only_claims_may_commit_without_waiting_for_the_disk() {
        let server = Server::parse("postgres://u@h/db").unwrap();
        for (for_use, durable) in [
            (Use::General, "on"),
            (Use::Ingest, "on"),
            (Use::Record, "on"),
            (Use::Migrate, "on"),
            (Use::Claim, "off"),
        ] {
            let config = server.config(for_use);
            let wanted = format!("synchronous_commit={durable}");
            assert!(config.get_options().unwrap().contains(&wanted), "{for_use:?}");
        }
    }

    #[test]
    fn a_schema_that_would_need_quoting_is_refused() {
        for bad in ["", "Team", "a b", "1a", "a;b", "a-b"] {
            assert!(
                matches!(
                    Server::parse(&format!("postgres://h/d?schema={bad}")),
                    Err(Error::Refused(_))
                ),
                "{bad:?}"
            );
        }
    }
}
