//! Every identifier is a type of its own, so that mixing two up does not compile.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr, sync::Arc};
use uuid::Uuid;

/// Names one notification within its tenant, for ever. Minted by whoever sends, so that a resend is recognised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NotificationId(pub Uuid);

impl NotificationId {
    /// A fresh id; time-ordered, so that the unique index is appended to rather than scattered over.
    pub fn mint() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id that an idempotency key stands for. The same tenant and key always give the same id, and two
    /// tenants using the same key never meet.
    pub fn from_key(tenant: TenantId, key: &str) -> Self {
        Self(of_key(b"waypost idempotency key\0", tenant, key))
    }
}

/// The id of the bulk action that a request stands for: the same request of a tenant is the same action.
pub fn job_of_request(tenant: TenantId, request: &str) -> Uuid {
    of_key(b"waypost bulk action\0", tenant, request)
}

fn of_key(kind: &[u8], tenant: TenantId, key: &str) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(kind);
    hash.update(tenant.0.to_be_bytes());
    hash.update(key.as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    Uuid::new_v8(bytes)
}

impl fmt::Display for NotificationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for NotificationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for NotificationId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// A tenant's number. People see the tenant's name; rows carry the number.
    TenantId(i32)
);
number_id!(
    /// A notification's place in the order of ingest. Internal: never shown, never accepted from outside.
    Seq(i64)
);
number_id!(
    /// What fails together: one tenant's use of one provider.
    LaneId(i64)
);
number_id!(
    /// Proof of a claim. Every write after a claim names it; who lost the row finds out.
    LeaseToken(i64)
);

number_id!(
    /// Somebody who signs in to the console.
    UserId(i64)
);

number_id!(
    /// One variant of a template.
    TemplateId(i64)
);

impl TenantId {
    /// The tenant that exists from the start.
    pub const DEFAULT: Self = Self(1);
}

impl LeaseToken {
    /// A token nobody else holds.
    pub fn mint() -> Self {
        Self(rand::random_range(1..=i64::MAX))
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// Names a provider within its tenant.
    ProviderId
);
text_id!(
    /// Who did it, as shown in the audit log: `system`, `key:NAME`, `user:NAME`, `site:ID`.
    Actor
);
text_id!(
    /// One run of a script at a site; links everything that run caused.
    ExecutionId
);

text_id!(
    /// One site: a factory, a plant, a machine with its own agent. Unique within its tenant.
    SiteId
);

impl Actor {
    /// What acts by itself, as the audit log names it.
    pub const SYSTEM: &str = "system";

    pub fn system() -> Self {
        Self::new(Self::SYSTEM)
    }

    pub fn site(site: &SiteId) -> Self {
        Self::new(format!("site:{site}"))
    }
}

impl SiteId {
    /// The id, or why it cannot be one. It ends up in addresses, file names and logs, so it is plain.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.trim().is_empty() {
            return Err("must not be blank");
        }
        if text.chars().count() > 100 {
            return Err("must be at most 100 characters");
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !text.chars().all(plain) {
            return Err("may hold letters, digits, `-`, `_` and `.` only");
        }
        Ok(Self::new(text))
    }
}

/// Names one cached call or write of a site, from script to central's console.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrackedOperationId(pub Uuid);

impl TrackedOperationId {
    pub fn mint() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for TrackedOperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for TrackedOperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TrackedOperationId {
    type Err = uuid::Error;
    /// With hyphens or without.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_always_the_same_id_within_a_tenant_and_never_across_tenants() {
        let one = NotificationId::from_key(TenantId(1), "order-7");
        assert_eq!(one, NotificationId::from_key(TenantId(1), "order-7"));
        assert_ne!(one, NotificationId::from_key(TenantId(2), "order-7"));
        assert_ne!(one, NotificationId::from_key(TenantId(1), "order-8"));
        assert_eq!(one.0.get_version_num(), 8);
    }

    #[test]
    fn a_site_id_is_plain_text_that_is_not_blank() {
        for fine in ["north", "Werk-7", "plant_3.line-2", "Łódź"] {
            assert_eq!(SiteId::parse(fine).unwrap().as_str(), fine);
        }
        for bad in ["", "  ", "a b", "a/b", "a\nb", &"x".repeat(101)] {
            assert!(SiteId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_operation_is_found_by_either_spelling_of_its_id() {
        let id = TrackedOperationId::mint();
        assert_eq!(
            id.0.simple().to_string().parse::<TrackedOperationId>().unwrap(),
            id
        );
        assert_eq!(
            id.0.hyphenated()
                .to_string()
                .parse::<TrackedOperationId>()
                .unwrap(),
            id
        );
    }
}
