//! `POST /calls`: an HTTP call to a system of the configuration.

use super::{Api, Problem, body::Fields, sent};
use crate::{
    intake::Outgoing,
    payload::{self, CallPayload},
};
use axum::{extract::State, response::Response};
use domain::{site::Category, submission::limit};

pub async fn send(State(api): State<Api>, mut fields: Fields) -> Result<Response, Problem> {
    let system = fields.needed("system");
    let method = fields.name("method").unwrap_or_else(|| "POST".into());
    let call = CallPayload {
        method: method.to_uppercase(),
        path: fields.text("path").unwrap_or_default(),
        headers: fields.texts("headers"),
        body: fields.given("body"),
    };
    let (origin, options) = (fields.origin(), fields.options());
    match api.systems.get(&system) {
        Some(known) => fields.all_bad(known.problems(&call.call())),
        None if system.is_empty() => {}
        None => fields.bad("system", unknown("system", &system, &api.systems.names())),
    }
    let payload = payload::text(&call);
    if payload.len() > limit::BODY {
        fields.bad("body", format!("must be at most {} bytes, as JSON", limit::BODY));
    }
    fields.finish()?;
    let sent = api
        .agent
        .site
        .send(Outgoing {
            category: Category::ExternalSystem,
            target: system,
            summary: Some(call.summary()),
            payload,
            origin,
            options,
        })
        .await?;
    Ok(sent::answer(sent))
}

/// "there is no system "erpp"; this site knows erp, mes"
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let known = match known {
        [] => "none".to_owned(),
        known => known.join(", "),
    };
    format!("there is no {what} {name:?} in the configuration of this site; it knows {known}")
}
