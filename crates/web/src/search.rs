//! Finding notifications by what somebody typed: an id, its beginning or a Message-ID, otherwise words.

use domain::{IdRange, TenantId};
use store::{
    Store,
    query::{Filter, Listed, Page},
};

/// A page of the list. What reads as an id is looked for as one, whenever it was; if there is none, as a word: an order's
/// number looks much like the beginning of an id.
pub async fn list(store: &dyn Store, tenant: TenantId, filter: &Filter, page: Page) -> store::Result<Listed> {
    if let Some(ids) = filter.keyword.as_deref().and_then(IdRange::of) {
        let by_id = Filter {
            ids: Some(ids),
            keyword: None,
            from: None,
            to: None,
            ..filter.clone()
        };
        let found = store.list(tenant, &by_id, page.clone()).await?;
        if !found.rows.is_empty() {
            return Ok(found);
        }
    }
    store.list(tenant, filter, page).await
}
