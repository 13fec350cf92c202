//! Links by which a recipient asks not to be written to any more: made for a mail, read when somebody follows them.
//!
//! Always true: a link says nothing to who cannot open it, is good for one address of one tenant, and does nothing by
//! itself: who follows it is asked (`web`).

use crate::secrets::{Place, Sealer};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Channel, ProviderId, TenantId,
    suppression::{NewSuppression, SuppressionSource},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The longest token that is looked at.
const MAX_TOKEN_CHARS: usize = 4_096;

#[derive(Debug, Clone)]
pub struct Unsubscribing {
    sealer: Sealer,
    /// Where this installation is found; without it there are no links.
    base: Option<Arc<str>>,
}

/// What a link is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscription {
    pub tenant: TenantId,
    pub address: String,
    pub topic: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    address: String,
    topic: Option<String>,
}

impl Unsubscribing {
    pub fn new(sealer: Sealer, public_url: Option<&str>) -> Self {
        Self {
            sealer,
            base: public_url.map(|url| url.trim_end_matches('/').into()),
        }
    }

    /// The address of the page that asks; none where nobody knows how this installation is reached.
    pub fn link(&self, tenant: TenantId, address: &str, topic: Option<&str>) -> Option<String> {
        let base = self.base.as_ref()?;
        Some(format!(
            "{base}/unsubscribe/{}",
            self.token(tenant, address, topic)
        ))
    }

    fn token(&self, tenant: TenantId, address: &str, topic: Option<&str>) -> String {
        let plain = Sealed {
            address: address.to_owned(),
            topic: topic.map(str::to_owned),
        };
        let plain = serde_json::to_string(&plain).unwrap_or_default();
        let sealed = self.sealer.seal(place(tenant, &nobody()), &plain);
        URL_SAFE_NO_PAD.encode(format!("{tenant}:{sealed}"))
    }

    /// What a token is for; none for one that nobody here has made.
    pub fn read(&self, token: &str) -> Option<Unsubscription> {
        if token.len() > MAX_TOKEN_CHARS {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let (tenant, sealed) = text.split_once(':')?;
        let tenant = TenantId(tenant.parse().ok()?);
        let plain = self.sealer.open(place(tenant, &nobody()), sealed).ok()?;
        let Sealed { address, topic } = serde_json::from_str(&plain).ok()?;
        Some(Unsubscription {
            tenant,
            address,
            topic,
        })
    }
}

impl Unsubscription {
    pub fn entry(&self) -> NewSuppression {
        NewSuppression {
            address: self.address.clone(),
            channel: Some(Channel::Email),
            topic: self.topic.clone(),
            reason: String::new(),
            source: SuppressionSource::Unsubscribe,
        }
    }
}

/// No provider has a blank id, so that no secret of one opens as a token.
fn nobody() -> ProviderId {
    ProviderId::new("")
}

fn place(tenant: TenantId, provider: &ProviderId) -> Place<'_> {
    Place {
        tenant,
        provider,
        setting: "unsubscribe",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_back_and_no_other_text_is_one() {
        let made = Unsubscribing::new(Sealer::ephemeral(), Some("https://waypost.example.com/"));
        let link = made
            .link(TenantId(7), "ann@example.com", Some("booking.confirmed"))
            .unwrap();
        let token = link
            .strip_prefix("https://waypost.example.com/unsubscribe/")
            .unwrap();
        assert!(!link.contains("ann"));
        let found = made.read(token).unwrap();
        assert_eq!(
            (found.tenant, found.address.as_str()),
            (TenantId(7), "ann@example.com")
        );
        assert_eq!(found.topic.as_deref(), Some("booking.confirmed"));
        for other in ["", "x", &token[1..], &"A".repeat(5_000)] {
            assert_eq!(made.read(other), None, "{other}");
        }
        let elsewhere = Unsubscribing::new(Sealer::ephemeral(), None);
        assert_eq!(elsewhere.read(token), None);
        assert_eq!(elsewhere.link(TenantId(7), "ann@example.com", None), None);
    }

    #[test]
    fn a_link_cannot_be_turned_to_another_tenant() {
        let made = Unsubscribing::new(Sealer::ephemeral(), Some("https://x"));
        let token = made.token(TenantId(7), "ann@example.com", None);
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(&token).unwrap()).unwrap();
        let turned = URL_SAFE_NO_PAD.encode(text.replacen("7:", "8:", 1));
        assert_eq!(made.read(&turned), None);
    }
}
