//! Finding notifications by what somebody typed: an id, its beginning or a Message-ID, otherwise words.
//!
//! Always true: a list, its file and a bulk action over the same words are about the same rows, because all of them ask here.

use domain::{IdRange, TenantId, Timestamp};
use std::time::Duration;
use store::{
    Queries,
    query::{Filter, Page},
};

/// A search for words looks this far back unless somebody says how far.
pub const SEARCH_RANGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The filter as it is in force. What reads as an id that there is asks for that id, whenever it was unless a time was given;
/// otherwise it asks for words: an order's number looks much like the beginning of an id. Only whether there is such an id
/// decides, not whether the other filters leave it: what does not match is then missing instead of looked for as a word.
pub async fn resolve(
    queries: &(impl Queries + ?Sized),
    tenant: TenantId,
    mut filter: Filter,
    now: Timestamp,
) -> store::Result<Filter> {
    let Some(keyword) = filter.keyword.as_deref() else {
        return Ok(filter);
    };
    if let Some(ids) = existing(queries, tenant, keyword).await? {
        filter.ids = Some(ids);
        filter.keyword = None;
    } else if filter.from.is_none() {
        filter.from = Some(now - SEARCH_RANGE);
    }
    Ok(filter)
}

/// The ids that the text means, if there are any.
pub async fn existing(
    queries: &(impl Queries + ?Sized),
    tenant: TenantId,
    text: &str,
) -> store::Result<Option<IdRange>> {
    let Some(ids) = IdRange::of(text) else {
        return Ok(None);
    };
    let any = Filter {
        ids: Some(ids),
        ..Filter::default()
    };
    let one = Page {
        limit: 1,
        after: None,
    };
    let found = queries.list(tenant, &any, one).await?;
    Ok((!found.rows.is_empty()).then_some(ids))
}
