//! `[[event_source]]`: an outbox, or lookups, in an application's own database.

use super::{secret::Secret, site_targets::one_of};
use domain::retry::seconds;
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};
use store::sources::{EventSource, SourceSettings, SourceTenants};

/// One `[[event_source]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub name: String,
    pub url: Option<Secret>,
    pub url_file: Option<PathBuf>,
    /// All its events are this tenant's.
    pub tenant: Option<String>,
    /// The application's ids, and the tenants they mean.
    #[serde(default)]
    pub tenants: BTreeMap<String, String>,
    #[serde(default = "seven_days", with = "seconds")]
    pub keep: Duration,
    /// Whether it has events, or only lookups.
    #[serde(default = "yes")]
    pub outbox: bool,
    pub lookup_url: Option<Secret>,
    pub lookup_url_file: Option<PathBuf>,
    #[serde(default)]
    pub lookups: BTreeMap<String, String>,
}

fn yes() -> bool {
    true
}

fn seven_days() -> Duration {
    Duration::from_secs(7 * 86_400)
}

/// Whose events a source has if it does not say.
const FIRST_TENANT: &str = "default";

impl Source {
    pub fn tenant_names(&self) -> Vec<&str> {
        match (&self.tenant, self.tenants.is_empty()) {
            (Some(tenant), _) => vec![tenant],
            (None, false) => self.tenants.values().map(String::as_str).collect(),
            (None, true) => vec![FIRST_TENANT],
        }
    }

    /// A lookup is asked for a tenant by the application's id of it, so there can be only one.
    fn distinct_tenants(&self) -> Result<BTreeMap<String, String>, String> {
        let mut ids: BTreeMap<&str, &str> = BTreeMap::new();
        for (id, tenant) in &self.tenants {
            if let Some(other) = ids.insert(tenant, id) {
                return Err(format!(
                    "tenants has {other:?} and {id:?} for {tenant:?}; keep one of them"
                ));
            }
        }
        Ok(self.tenants.clone())
    }

    fn lookup_url(&self) -> Result<Option<String>, String> {
        one_of("lookup_url", &self.lookup_url, &self.lookup_url_file)
    }

    /// The files it reads, where it is SQLite.
    pub fn files(&self) -> Vec<PathBuf> {
        let url = one_of("url", &self.url, &self.url_file).ok().flatten();
        let lookup_url = self.lookup_url().ok().flatten();
        [url, lookup_url]
            .into_iter()
            .flatten()
            .filter_map(|url| url.trim().strip_prefix("sqlite://").map(PathBuf::from))
            .collect()
    }

    pub fn build(&self) -> Result<EventSource, String> {
        let url = one_of("url", &self.url, &self.url_file)?.ok_or("url or url_file is missing")?;
        let tenants = match (&self.tenant, self.tenants.is_empty()) {
            (Some(_), false) => return Err("tenant is set as well as tenants; keep one of them".into()),
            (Some(tenant), true) => SourceTenants::One(tenant.clone()),
            (None, false) => SourceTenants::Map(self.distinct_tenants()?),
            (None, true) => SourceTenants::One(FIRST_TENANT.into()),
        };
        EventSource::new(SourceSettings {
            name: self.name.clone(),
            url: url.trim().to_owned(),
            lookup_url: self.lookup_url()?.map(|url| url.trim().to_owned()),
            tenants,
            has_outbox: self.outbox,
            keep: self.keep,
            lookups: self.lookups.clone(),
        })
    }
}
