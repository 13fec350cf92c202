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
        let mut hash = Sha256::new();
        hash.update(b"waypost idempotency key\0");
        hash.update(tenant.0.to_be_bytes());
        hash.update(key.as_bytes());
        let mut bytes = [0u8; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        Self(Uuid::new_v8(bytes))
    }
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

impl Actor {
    pub fn system() -> Self {
        Self::new("system")
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
}
