//! What a `capture` provider kept on this node.

use super::{
    failure::{Result, Trouble},
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    provider,
};
use crate::{
    api::{PathText, lists::encode},
    dto::captured::{CapturedView, newest_first},
    paging,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;

#[derive(Template)]
#[template(path = "provider/captured.html")]
struct Page {
    frame: Frame,
    id: String,
    name: String,
    kept: Vec<CapturedView>,
    older: Option<String>,
}
framed!(Page);

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    params: Params,
) -> Result {
    let stored = provider::find(&state, &signed, &id).await?;
    let kept = state.central.providers.captured(&stored.provider);
    let kept = kept.ok_or_else(|| Trouble(Problem::not_found("captured message")))?;
    let page = paging::page_whole(kept, params, newest_first, CapturedView::from)?;
    let title = format!("Captured by {}", stored.provider.name);
    let page = Page {
        frame: Frame::new(&state, &signed, title, Nav::Providers).await?,
        id,
        name: stored.provider.name,
        kept: page.items,
        older: page.next_cursor,
    };
    Ok(page.show(&state))
}
