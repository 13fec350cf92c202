//! Ending a tenant. Making and finding them is the store's alone.

use crate::node::Central;
use domain::{Actor, TenantId};
use store::{directory::TenantDeletion, signals::Signal};

impl Central {
    /// Deletes a tenant on which nothing hangs any more. Its keys open nothing from now on: here at once, on other nodes
    /// as soon as they hear of it.
    pub async fn delete_tenant(&self, tenant: TenantId, actor: &Actor) -> store::Result<TenantDeletion> {
        let deletion = self.store.delete_tenant(tenant, actor).await?;
        if deletion == TenantDeletion::Deleted {
            self.keys.forget();
            self.directory.refresh().await?;
            self.store.announce(Signal::Directory);
        }
        Ok(deletion)
    }
}
