//! Whom we may connect to. Names are resolved here, every address is checked, and connections go to the addresses
//! that were checked and to no others, so that a name cannot change its mind in between.

mod networks;

use crate::adapter::Deadline;
use domain::{Failure, HoldReason, Scope, code};
use hickory_resolver::{
    TokioResolver,
    config::{NameServerConfig, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
};
use ipnet::{IpNet, Ipv4Net};
use networks::{is_closed, is_metadata};
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::OnceLock,
};

/// Why there is no address to connect to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VetError {
    #[error("{}", refusal(host, *address, *fixable))]
    Refused {
        host: String,
        address: IpAddr,
        /// Whether a line of configuration would allow it.
        fixable: bool,
    },
    #[error("cannot resolve {host}: {why}")]
    Dns { host: String, why: String },
    #[error("resolving {host} took too long")]
    Timeout { host: String },
}

fn refusal(host: &str, address: IpAddr, fixable: bool) -> String {
    let what = match host.parse::<IpAddr>() {
        Ok(_) => format!("address {address} is not public"),
        Err(_) => format!("{host} is at {address}, which is not public"),
    };
    if fixable {
        let network = network_to_allow(address);
        format!(
            "{what}; to allow it, add this to the configuration: delivery.allow_addresses = [\"{network}\"]"
        )
    } else {
        format!("{what}; this one is never connected to")
    }
}

/// The loopback network as a whole, otherwise no more than the one address.
fn network_to_allow(address: IpAddr) -> IpNet {
    match address {
        IpAddr::V4(a) if a.is_loopback() => IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8)),
        one => IpNet::from(one),
    }
}

impl From<VetError> for Failure {
    fn from(error: VetError) -> Self {
        let text = error.to_string();
        match error {
            // The operator can allow it; until then no message of this provider can go out, and none is to blame.
            VetError::Refused { .. } => Failure::permanent(Scope::Lane, code::INVALID_CONFIG, text)
                .with_own_code("ADDRESS_REFUSED")
                .holding(HoldReason::Config),
            VetError::Dns { .. } => Failure::transient(Scope::Lane, code::NETWORK, text).with_own_code("DNS"),
            VetError::Timeout { .. } => Failure::transient(Scope::Lane, code::TIMEOUT, text),
        }
    }
}

/// Resolves names and checks addresses.
pub struct Vetting {
    allow: Vec<IpNet>,
    resolver: OnceLock<Option<TokioResolver>>,
}

impl Vetting {
    pub fn new(allow: Vec<IpNet>) -> Self {
        Self {
            allow,
            resolver: OnceLock::new(),
        }
    }

    /// Whether an address may be connected to.
    pub fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if is_metadata(address) {
            return false;
        }
        !is_closed(address) || self.allow.iter().any(|network| network.contains(&address))
    }

    pub(crate) fn check(&self, host: &str, address: IpAddr) -> Result<IpAddr, VetError> {
        let address = address.to_canonical();
        if self.permits(address) {
            return Ok(address);
        }
        Err(VetError::Refused {
            host: host.to_owned(),
            address,
            fixable: !is_metadata(address),
        })
    }

    /// The addresses of a host that may be connected to; at least one, or an error that says why there is none.
    pub async fn resolve(&self, host: &str, deadline: Deadline) -> Result<Vec<IpAddr>, VetError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses = if let Ok(literal) = bare.parse::<IpAddr>() {
            vec![literal]
        } else if bare.trim_end_matches('.').eq_ignore_ascii_case("localhost") {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        } else {
            tokio::time::timeout_at(deadline.0, self.look_up(bare))
                .await
                .map_err(|_| VetError::Timeout {
                    host: bare.to_owned(),
                })??
        };
        self.permitted(bare, addresses)
    }

    fn permitted(&self, host: &str, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, VetError> {
        let (good, bad): (Vec<_>, Vec<_>) = addresses
            .into_iter()
            .map(|address| self.check(host, address))
            .partition(Result::is_ok);
        if good.is_empty() {
            return Err(bad.into_iter().find_map(Result::err).unwrap_or(VetError::Dns {
                host: host.to_owned(),
                why: "it has no address".to_owned(),
            }));
        }
        Ok(good.into_iter().flatten().collect())
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, VetError> {
        let failed = |why: String| VetError::Dns {
            host: host.to_owned(),
            why,
        };
        let resolver = self
            .resolver
            .get_or_init(system_resolver)
            .as_ref()
            .ok_or_else(|| failed("no resolver could be set up".to_owned()))?;
        let found = resolver
            .lookup_ip(host)
            .await
            .map_err(|e| failed(e.to_string()))?;
        Ok(found.iter().collect())
    }
}

/// As the system is configured; without configuration a name server on this machine, as the C library does.
fn system_resolver() -> Option<TokioResolver> {
    let builder = TokioResolver::builder_tokio().unwrap_or_else(|_| {
        let local = NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into());
        TokioResolver::builder_with_config(
            ResolverConfig::from_name_servers(vec![local]),
            TokioRuntimeProvider::default(),
        )
    });
    builder.build().ok()
}

impl fmt::Debug for Vetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vetting")
            .field("allow", &self.allow)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod rebinding_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn allowed_networks_open_all_but_the_metadata_addresses() {
        let all = Vetting::new(vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
        for open in ["127.0.0.1", "10.1.2.3", "::1", "::ffff:10.1.2.3", "169.254.1.1"] {
            assert!(all.permits(ip(open)), "{open}");
        }
        for closed in [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "168.63.129.16",
            "100.100.100.200",
            "::ffff:169.254.169.254",
            "::ffff:168.63.129.16",
            "64:ff9b::a83f:8110",
            "fd00:ec2::254",
            "fd20:ce::254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
            "::a9fe:a9fe",
        ] {
            assert!(!all.permits(ip(closed)), "{closed}");
        }
        let one = Vetting::new(vec!["10.1.0.0/16".parse().unwrap()]);
        assert!(one.permits(ip("10.1.9.9")) && !one.permits(ip("10.2.0.1")) && !one.permits(ip("127.0.0.1")));
    }

    #[tokio::test]
    async fn a_refusal_holds_the_lane_and_prints_the_line_to_add() {
        let nobody = Vetting::new(vec![]);
        let soon = Deadline::after(Duration::from_secs(5));
        for (host, line) in [
            ("localhost", r#"delivery.allow_addresses = ["127.0.0.0/8"]"#),
            ("127.0.0.1", r#"delivery.allow_addresses = ["127.0.0.0/8"]"#),
            ("192.168.7.9", r#"delivery.allow_addresses = ["192.168.7.9/32"]"#),
            ("[fd12::1]", r#"delivery.allow_addresses = ["fd12::1/128"]"#),
        ] {
            let failure = Failure::from(nobody.resolve(host, soon).await.unwrap_err());
            assert!(failure.detail.contains(line), "{}", failure.detail);
            assert_eq!(failure.provider_code.as_deref(), Some("ADDRESS_REFUSED"));
            assert_eq!(failure.hold, Some(HoldReason::Config));
        }
        let never = nobody.resolve("169.254.169.254", soon).await.unwrap_err();
        assert!(!never.to_string().contains("allow_addresses"));
    }

    #[tokio::test]
    async fn only_the_permitted_addresses_of_a_name_are_handed_out() {
        let v4_only = Vetting::new(vec!["127.0.0.0/8".parse().unwrap()]);
        let found = v4_only
            .resolve("LocalHost.", Deadline::after(Duration::from_secs(5)))
            .await
            .unwrap();
        assert_eq!(found, [ip("127.0.0.1")]);
    }

    #[test]
    fn every_address_of_a_name_is_checked() {
        let one = Vetting::new(vec!["10.1.0.0/16".parse().unwrap()]);
        let found = ["10.2.0.1", "8.8.8.8", "::1", "10.1.0.1", "169.254.169.254"]
            .map(ip)
            .to_vec();
        assert_eq!(
            one.permitted("example.com", found).unwrap(),
            ["8.8.8.8", "10.1.0.1"].map(ip)
        );
        let none = one
            .permitted("example.com", vec![ip("10.2.0.1"), ip("::1")])
            .unwrap_err();
        assert!(
            none.to_string().starts_with("example.com is at 10.2.0.1"),
            "{none}"
        );
        assert!(matches!(
            one.permitted("example.com", vec![]),
            Err(VetError::Dns { .. })
        ));
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_resolved_is_tried_again() {
        let soon = Deadline::after(Duration::from_millis(300));
        let error = Vetting::new(vec![])
            .resolve("no-such-host.invalid", soon)
            .await
            .unwrap_err();
        let failure = Failure::from(error);
        assert!(failure.is_lane_down(), "{failure:?}");
        assert!(
            matches!(failure.code.as_ref(), "NETWORK" | "TIMEOUT"),
            "{failure:?}"
        );
    }
}
