//! What a `capture` provider kept on this node.

use super::{
    failure::{Result, Trouble},
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    provider,
};
use crate::{
    api::{PathText, lists::encode},
    csv::Line,
    csv_stream,
    dto::captured::{CapturedView, newest_first},
    paging,
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use delivery::Capture;

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

async fn kept(state: &Shared, signed: &Signed, id: &str) -> Result<(String, Vec<Capture>)> {
    let stored = provider::find(state, signed, id).await?;
    let kept = state.central.providers.captured(&stored.provider);
    let kept = kept.ok_or_else(|| Trouble(Problem::not_found("captured message")))?;
    Ok((stored.provider.name, kept))
}

/// All of it, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, PathText(id): PathText) -> Result {
    let (_, mut kept) = kept(&state, &signed, &id).await?;
    kept.sort_by_key(newest_first);
    let columns = "number,notificationId,to,subject,body,bodyHtml,typeData,site,createdAt";
    let mut text = format!("{columns}\r\n");
    let mut line = Line::default();
    for one in kept.into_iter().map(CapturedView::from) {
        line.plain(one.number)
            .plain(one.notification_id)
            .text(&one.to.join("; "))
            .text(&one.subject)
            .text(&one.body)
            .text_or_empty(one.body_html.as_deref())
            .text_or_empty(one.type_data.map(|data| data.to_string()).as_deref())
            .text_or_empty(one.site.as_deref())
            .plain(one.created_at);
        line.end(&mut text);
    }
    Ok(csv_stream::whole("captured.csv", text))
}

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathText(id): PathText,
    params: Params,
) -> Result {
    let (name, kept) = kept(&state, &signed, &id).await?;
    let page = paging::page_whole(kept, params, newest_first, CapturedView::from)?;
    let title = format!("Captured by {name}");
    let page = Page {
        frame: Frame::new(&state, &signed, title, Nav::Providers).await?,
        id,
        name,
        kept: page.items,
        older: page.next_cursor,
    };
    Ok(page.show(&state))
}
