//! Who must not be written to. May be long: recipients put themselves on it.
//!
//! Always true: the first entry of a tenant raises the directory version, so that every node learns with its next claim
//! that there is something to ask about; later ones cost nobody's cache anything.

use crate::{
    Result,
    query::{Cursor, Page},
};
use async_trait::async_trait;
use domain::{
    Actor, Channel, TenantId, Timestamp,
    suppression::{NewSuppression, Suppression},
};
use std::fmt::Debug;

#[async_trait]
pub trait Suppressions: Debug + Send + Sync {
    /// Newest first.
    async fn suppressions(
        &self,
        tenant: TenantId,
        filter: &SuppressionFilter,
        page: Page,
    ) -> Result<SuppressionPage>;
    /// Puts an entry on the list, unless there is one for the same address, channel and topic. Answers with the entry and
    /// whether it is new. Audited.
    async fn suppress(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        actor: &Actor,
    ) -> Result<(Suppression, bool)>;
    /// The same for what a provider said about a message of that time, unless somebody has taken the address off the list since.
    /// Answers whether there is a new entry.
    async fn suppress_as_told(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        sent_at: Timestamp,
    ) -> Result<bool>;
    /// Answers whether there was one. Audited.
    async fn unsuppress(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool>;

    /// The tenants that have entries at all.
    async fn suppressing_tenants(&self) -> Result<Vec<TenantId>>;
    /// The entries for these addresses, each in the spelling it is compared in ([`domain::suppression::compared`]).
    async fn suppressed(&self, asked: &[(TenantId, String)]) -> Result<Vec<(TenantId, Suppression)>>;
}

/// Which entries; what is none is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuppressionFilter {
    pub address: Option<String>,
    pub channel: Option<Channel>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuppressionPage {
    pub rows: Vec<Suppression>,
    pub next: Option<Cursor>,
}

impl SuppressionPage {
    /// Of rows of which there may be one more than was asked for.
    pub(crate) fn of(mut rows: Vec<Suppression>, limit: u32) -> Self {
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| more).map(|last| Cursor {
            at: last.created_at,
            seq: last.id,
        });
        Self { rows, next }
    }
}

/// The columns of an entry whose empty text stands for "every", because a unique index tells nulls apart.
pub(crate) fn columns(entry: &NewSuppression) -> (&'static str, &str) {
    let channel = entry.channel.map_or("", |channel| channel.as_str());
    (channel, entry.topic.as_deref().unwrap_or(""))
}
