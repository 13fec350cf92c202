//! Whose an event of a source is, and what the application calls them.

use std::collections::BTreeMap;

/// What an outbox says of an event that names no tenant: nothing, or the default of its column.
const NO_TENANT: [&str; 2] = ["", "default"];
/// The longest names that central's unique index can hold.
const LONGEST_TENANT: usize = 300;

/// Whose events a source has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceTenants {
    /// All are one tenant's.
    One(String),
    /// The application's ids, and the tenants they mean.
    Map(BTreeMap<String, String>),
}

impl SourceTenants {
    /// The tenant of an event. One that is not named becomes a name that no tenant can have: there is a space in it.
    pub(super) fn of(&self, source: &str, given: String) -> String {
        let known = match self {
            Self::One(tenant) if given == *tenant || NO_TENANT.contains(&given.trim()) => Some(tenant),
            Self::One(_) => None,
            Self::Map(map) => map.get(&given),
        };
        known.cloned().unwrap_or_else(|| {
            let given: String = given.chars().take(LONGEST_TENANT).collect();
            format!("{given} of {source}")
        })
    }

    /// The application's own id of a tenant.
    pub(super) fn back<'a>(&'a self, tenant: &'a str) -> &'a str {
        match self {
            Self::One(_) => tenant,
            Self::Map(map) => map
                .iter()
                .find(|(_, name)| *name == tenant)
                .map_or(tenant, |(id, _)| id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_named_becomes_a_tenant_that_there_cannot_be() {
        let map = SourceTenants::Map(BTreeMap::from([("42".into(), "acme".into())]));
        assert_eq!(map.of("shop", "42".into()), "acme");
        assert_eq!(map.of("shop", "43".into()), "43 of shop");
        assert_eq!(map.back("acme"), "42");
    }

    #[test]
    fn in_a_source_of_one_tenant_an_event_of_another_is_nobodys() {
        let one = SourceTenants::One("acme".into());
        for unnamed in ["", " ", "default", "acme"] {
            assert_eq!(one.of("shop", unnamed.into()), "acme", "{unnamed:?}");
        }
        assert_eq!(one.of("shop", "43".into()), "43 of shop");
    }
}
