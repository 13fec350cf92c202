//! Every site: whether its agent is connected, what waits there, what came from it.

use super::source::{Known, known_sites};
use crate::{
    api::lists::encode,
    console::{
        failure::Result,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{Badge, age, number},
    },
    state::Shared,
};
use askama::Template;
use axum::extract::State;

#[derive(Template)]
#[template(path = "sites/list.html")]
struct Page {
    frame: Frame,
    sites: Vec<Known>,
    /// Whether this central takes agents at all.
    agents: bool,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    let frame = Frame::new(&state, &signed, "Sites", Nav::Sites).await?.live();
    let page = Page {
        sites: known_sites(&state, signed.caller.tenant).await?,
        agents: state.sites.is_some(),
        frame,
    };
    Ok(page.show(&state))
}
