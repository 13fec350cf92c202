//! Who must not be written to: put on the list by people and by recipients themselves.
//!
//! Leaves to others: asking about it (`dispatcher`, with every claim), storing it (`store`).

use crate::directory::Directory;
use domain::{
    Actor, FieldError, TenantId,
    suppression::{NewSuppression, Suppression},
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
