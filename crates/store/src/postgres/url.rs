//! A PostgreSQL URL, of our own database or of somebody else's: what the driver takes, and what it does not know.
//!
//! Always true: nothing leaves this machine unencrypted unless the URL says so; who names an authority in `sslrootcert`
//! gets a server that this authority vouches for, or no connection.

use super::tls::Trust;
use std::{net::IpAddr, str::FromStr};
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

pub(crate) struct PgUrl {
    pub config: Config,
    pub trust: Trust,
    /// Ours alone: where the tables live.
    pub schema: Option<String>,
}

pub(crate) enum UrlError {
    /// The driver's own words, which may hold the password.
    Driver(tokio_postgres::Error),
    Contradiction(&'static str),
}

/// Reads what PostgreSQL's own URLs take, and besides: `schema`, `sslmode` up to `verify-full`, `sslrootcert`.
pub(crate) fn parse(url: &str) -> Result<PgUrl, UrlError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut schema, mut mode) = (None, None);
    let mut trust = Trust::default();
    let mut rest = vec![];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("schema", name)) => schema = Some(name.to_owned()),
            Some(("sslrootcert", path)) => trust.roots = Some(path.into()),
            Some(("sslmode", given)) => {
                mode = Some(given);
                // The driver does not know these two; a certificate is always checked with its name.
                rest.push(match given {
                    "verify-full" | "verify-ca" => "sslmode=require",
                    _ => pair,
                });
            }
            _ => rest.push(pair),
        }
    }
    let text = match rest.is_empty() {
        true => base.to_owned(),
        false => format!("{base}?{}", rest.join("&")),
    };
    let mut config = Config::from_str(&text).map_err(UrlError::Driver)?;
    if trust.roots.is_some() {
        if mode == Some("disable") {
            return Err(UrlError::Contradiction(
                "sslrootcert with sslmode=disable: keep one of them",
            ));
        }
        config.ssl_mode(SslMode::Require);
    }
    if mode.is_none() && !is_on_this_machine(&config) {
        config.ssl_mode(SslMode::Require);
    }
    trust.required = config.get_ssl_mode() == SslMode::Require;
    Ok(PgUrl {
        config,
        trust,
        schema,
    })
}

fn is_on_this_machine(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let name = name.trim_matches(['[', ']']).trim_end_matches('.');
            let address = name.parse::<IpAddr>();
            name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> Option<(SslMode, bool)> {
        let read = parse(url).ok()?;
        Some((read.config.get_ssl_mode(), read.trust.roots.is_some()))
    }

    #[test]
    fn beyond_this_machine_tls_is_required_unless_the_url_says_otherwise() {
        let (prefer, require, disable) = (SslMode::Prefer, SslMode::Require, SslMode::Disable);
        for (url, wanted) in [
            ("postgres://u@db.example.com/d", require),
            ("postgres://u@10.0.0.7:5433/d", require),
            ("postgres://u@localhost,db.example.com/d", require),
            ("postgres://u@localhost/d?hostaddr=10.0.0.7", require),
            ("postgres://u@[fd00::1]/d", require),
            ("postgres://u@db.example.com/d?sslmode=disable", disable),
            ("postgres://u@db.example.com/d?sslmode=prefer", prefer),
            ("postgres://u@localhost/d", prefer),
            ("postgres://u@LOCALHOST.,127.0.0.2/d", prefer),
            ("postgres://u@[::1]:5433/d", prefer),
            ("postgres:///d?host=/run/postgresql", prefer),
            ("postgres://u@127.0.0.1/d?sslmode=require", require),
        ] {
            assert_eq!(mode(url), Some((wanted, false)), "{url}");
        }
    }

    #[test]
    fn who_names_an_authority_gets_its_server_or_none() {
        for more in [
            "",
            "&sslmode=prefer",
            "&sslmode=require",
            "&sslmode=verify-ca",
            "&sslmode=verify-full",
        ] {
            for host in ["localhost", "db.example.com"] {
                let url = format!("postgres://u@{host}/d?sslrootcert=/ca.pem{more}");
                assert_eq!(mode(&url), Some((SslMode::Require, true)), "{url}");
            }
        }
        assert_eq!(
            mode("postgres://u@localhost/d?sslrootcert=/ca.pem&sslmode=disable"),
            None
        );
    }
}
