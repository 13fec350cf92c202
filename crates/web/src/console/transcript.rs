//! One attempt, opened: what was sent and what came back.

use super::{
    failure::Result,
    filter::Back,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::took,
};
use crate::{
    api::{PathTexts, transcripts},
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::{Transcript, transcript::Side};
use store::query::AuditRow;

#[derive(Template)]
#[template(path = "notification/transcript.html")]
struct Page {
    frame: Frame,
    id: String,
    /// The view of the list the notification was opened from.
    back: Back,
    subject: String,
    row: AuditRow,
    said: Option<Transcript>,
}
framed!(Page);

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathTexts(id, number): PathTexts,
    mut params: Params,
) -> Result {
    let back = Back::read(&mut params);
    params.finish()?;
    let tenant = signed.caller.tenant;
    let (row, said) = transcripts::find(&state, tenant, &id, &number).await?;
    let about = match row.notification {
        Some(id) => state.central.store.get(tenant, id).await?,
        None => None,
    };
    let subject = about.map(|about| about.submission.content.subject);
    let number = row.attempt.unwrap_or_default();
    let page = Page {
        frame: Frame::new(&state, &signed, format!("Attempt {number}"), Nav::Notifications).await?,
        subject: subject
            .filter(|subject| !subject.trim().is_empty())
            .unwrap_or_else(|| id.clone()),
        id,
        back,
        row,
        said,
    };
    Ok(page.show(&state))
}
