//! The figures, for the tenant and per source site.

use crate::{
    auth::Caller,
    dto::{
        kpi::{KpiView, SiteKpiView},
        page::Paged,
    },
    problem::Result,
    state::Shared,
};
use axum::{Json, extract::State};

pub async fn whole(State(state): State<Shared>, caller: Caller) -> Result<Json<KpiView>> {
    Ok(Json(state.central.watched_kpis.now(caller.tenant).await?.into()))
}

pub async fn by_site(State(state): State<Shared>, caller: Caller) -> Result<Json<Paged<SiteKpiView>>> {
    let sites = state
        .central
        .store
        .kpis_by_site(caller.tenant, state.central.settings.kpi)
        .await?;
    Ok(Json(Paged::whole(
        sites.into_iter().map(SiteKpiView::from).collect(),
    )))
}
