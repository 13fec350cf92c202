//! The tenant's audit log.

use crate::{
    auth::Caller,
    dto::{audit::AuditView, filter, page::Paged},
    paging,
    problem::Result,
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State};

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<AuditView>>> {
    let filter = filter::audit_from_query(&mut params);
    let page = paging::page(&mut params);
    params.finish()?;
    let found = state.central.store.audit(caller.tenant, &filter, page).await?;
    Ok(Json(Paged {
        items: found.rows.into_iter().map(AuditView::from).collect(),
        next_cursor: found.next.map(paging::print_cursor),
    }))
}
