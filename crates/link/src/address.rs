//! Where central is: `https://host:7443`, or `http://` where nobody can listen in.

use std::{fmt, net::IpAddr, str::FromStr};
use tonic::codegen::http::Uri;

/// The port central listens on for sites unless it was told otherwise.
pub const DEFAULT_PORT: u16 = 7443;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub tls: bool,
    pub host: String,
    pub port: u16,
}

impl Address {
    /// Whether what is said stays on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback(),
            Err(_) => self.host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Why this address cannot be used without being forced to; none when it can.
    pub fn danger(&self) -> Option<String> {
        (!self.tls && !self.is_loopback()).then(|| {
            format!(
                "{self} would send the site's key in the clear; use https://, or set site.insecure = true"
            )
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let takes = || format!("{text:?} is not an address like https://central.example:7443");
        let uri: Uri = text.trim().parse().map_err(|_| takes())?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(takes()),
        };
        let authority = uri.authority().ok_or_else(takes)?;
        let bare = uri
            .path_and_query()
            .is_none_or(|p| p.as_str() == "/" || p.as_str().is_empty());
        if !bare || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(takes());
        }
        Ok(Self {
            tls,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(DEFAULT_PORT),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_shown_the_same() {
        for text in [
            "https://central.example:7443",
            "http://127.0.0.1:9",
            "https://[::1]:7443",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!("https://c.example".parse::<Address>().unwrap().port, DEFAULT_PORT);
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for bad in [
            "",
            "central:7443",
            "ftp://c:1",
            "https://c:7443/path",
            "https://u:p@c:1",
            "https://:1",
        ] {
            let why = bad.parse::<Address>().unwrap_err();
            assert!(why.contains("https://central.example:7443"), "{bad}: {why}");
        }
    }

    #[test]
    fn plain_text_is_dangerous_unless_it_stays_on_the_machine() {
        let danger = |text: &str| text.parse::<Address>().unwrap().danger();
        for fine in [
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://localhost:1",
            "https://c:1",
        ] {
            assert_eq!(danger(fine), None);
        }
        assert!(danger("http://10.0.0.1:1").unwrap().contains("https://"));
    }
}
