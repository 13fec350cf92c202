//! All templates of a tenant.

use super::audience;
use crate::{
    console::{
        failure::Result,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::Badge,
    },
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::Channel;
use store::templates::{TemplateFilter, TemplateRow};

#[derive(Template)]
#[template(path = "templates/list.html")]
struct Page {
    frame: Frame,
    rows: Vec<TemplateRow>,
    asked: TemplateFilter,
}
framed!(Page);

impl Page {
    fn asks(&self) -> bool {
        self.asked != TemplateFilter::default()
    }
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = TemplateFilter {
        event_type: params.text("eventType"),
        channel: params.text("channel").and_then(|text| text.parse().ok()),
        active: None,
        deleted: params.boolean("deleted").unwrap_or(false),
    };
    let page = Page {
        rows: state
            .central
            .store
            .templates(signed.caller.tenant, &asked)
            .await?,
        frame: Frame::new(&state, &signed, "Templates", Nav::Templates).await?,
        asked,
    };
    Ok(page.show(&state))
}
