//! One version of a template, and what changed in it.

use super::{
    audience,
    diff::{self, Line},
    draft::in_lines,
    find, title,
};
use crate::{
    api::PathTexts,
    console::{
        failure::{Result, Trouble},
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
    },
    problem::Problem,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use store::templates::Template as Stored;

#[derive(Template)]
#[template(path = "templates/version.html")]
struct Page {
    frame: Frame,
    template: Stored,
    title: String,
    /// The version it is compared with; none for the first.
    against: Option<i64>,
    before: String,
    text: String,
}
framed!(Page);

impl Page {
    fn lines(&self) -> Vec<Line<'_>> {
        diff::lines(&self.before, &self.text)
    }
}

pub async fn page(
    State(state): State<Shared>,
    signed: Signed,
    PathTexts(id, version): PathTexts,
    mut params: Params,
) -> Result {
    let none = || Trouble(Problem::not_found("version"));
    let version: i64 = version.parse().map_err(|_| none())?;
    let template = find(&state, &signed, &id, Some(version)).await?;
    let asked = params.parsed::<i64>("against").unwrap_or(version - 1);
    let (mut against, mut before) = (None, String::new());
    if asked > 0 {
        let other = find(&state, &signed, &id, Some(asked)).await?;
        (against, before) = (Some(asked), in_lines(&other));
    }
    let title = title(&template.identity);
    let name = format!("{title}, version {version}");
    let page = Page {
        frame: Frame::new(&state, &signed, name, Nav::Templates).await?,
        text: in_lines(&template),
        template,
        title,
        against,
        before,
    };
    Ok(page.show(&state))
}
