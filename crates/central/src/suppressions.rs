//! Who must not be written to: put on the list by people, by recipients themselves, and by what providers tell.
//!
//! Leaves to others: asking about it (`dispatcher`, with every claim), storing it (`store`).

use crate::directory::Directory;
use domain::{
    Actor, Channel, FieldError, TenantId,
    suppression::{NewSuppression, Suppression, SuppressionSource},
};
use std::sync::Arc;
use store::{Signals, signals::Signal};

#[derive(Debug, thiserror::Error)]
pub enum SuppressionError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Debug, Clone)]
pub struct SuppressionService {
    store: Arc<dyn store::Suppressions>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
}

impl SuppressionService {
    pub fn new(
        store: Arc<dyn store::Suppressions>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
    ) -> Self {
        Self {
            store,
            signals,
            directory,
        }
    }

    /// Nothing is sent to the address any more from the next claim on. Answers with the entry and whether it is new.
    pub async fn add(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        actor: &Actor,
    ) -> Result<(Suppression, bool), SuppressionError> {
        let problems = entry.problems();
        if !problems.is_empty() {
            return Err(SuppressionError::Fields(problems));
        }
        let added = self.store.suppress(tenant, entry, actor).await?;
        self.changed().await?;
        Ok(added)
    }

    /// A provider says that the recipient has blocked us or opted out. `words` are the provider's own.
    pub async fn told_by_provider(
        &self,
        tenant: TenantId,
        channel: Channel,
        address: &str,
        words: &str,
    ) -> Result<(), SuppressionError> {
        let entry = NewSuppression {
            address: address.to_owned(),
            channel: Some(channel),
            topic: None,
            reason: words.chars().take(domain::submission::limit::SUBJECT).collect(),
            source: SuppressionSource::Receipt,
        };
        self.add(tenant, &entry, &Actor::system()).await.map(drop)
    }

    /// Answers whether there was one.
    pub async fn remove(&self, tenant: TenantId, id: i64, actor: &Actor) -> store::Result<bool> {
        self.store.unsuppress(tenant, id, actor).await
    }

    async fn changed(&self) -> store::Result<()> {
        let before = self.directory.version();
        self.directory.refresh().await?;
        if self.directory.version() != before {
            self.signals.announce(Signal::Directory);
        }
        Ok(())
    }
}
