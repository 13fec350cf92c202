//! `POST /db-writes`: one statement on a database connection of the configuration.

use super::{Api, Problem, body::Fields, calls::unknown, sent};
use crate::{
    intake::Outgoing,
    payload::{self, WritePayload},
};
use axum::{extract::State, response::Response};
use domain::{site::Category, submission::limit};
use serde_json::Value;

pub async fn send(State(api): State<Api>, mut fields: Fields) -> Result<Response, Problem> {
    let connection = fields.needed("connection");
    let statement = fields.needed("statement");
    let params = match fields.any("params") {
        None => vec![],
        Some(Value::Array(values)) => values,
        Some(_) => {
            fields.bad("params", "must be a list of values");
            vec![]
        }
    };
    let idempotent_by = idempotent_by(&mut fields);
    let (origin, options) = (fields.origin(), fields.options());
    match api.connections.get(&connection) {
        Some(known) if !statement.trim().is_empty() => {
            if let Err(why) = known.check(&statement) {
                fields.bad("statement", why);
            }
        }
        Some(_) => {}
        None if connection.is_empty() => {}
        None => fields.bad(
            "connection",
            unknown("connection", &connection, &api.connections.names()),
        ),
    }
    let write = WritePayload {
        statement,
        params,
        idempotent_by,
    };
    let payload = payload::text(&write);
    if payload.len() > limit::BODY {
        fields.bad(
            "params",
            format!("must be at most {} bytes, as JSON", limit::BODY),
        );
    }
    fields.finish()?;
    let sent = api
        .agent
        .site
        .send(Outgoing {
            category: Category::CachedDbWrite,
            target: connection,
            summary: Some(write.summary()),
            payload,
            origin,
            options,
        })
        .await?;
    Ok(sent::answer(sent))
}

/// `idempotent: true` needs to know by which constraint: any other violation is a mistake and must stay one.
fn idempotent_by(fields: &mut Fields) -> Option<String> {
    let (idempotent, constraint) = (fields.flag("idempotent"), fields.name("constraint"));
    match (idempotent.unwrap_or(false), constraint) {
        (true, Some(name)) if !name.trim().is_empty() => Some(name),
        (true, _) => {
            fields.bad(
                "constraint",
                "is needed with idempotent: the unique constraint that tells a repeat, by its name on PostgreSQL, \
                 by its columns (readings.id) or its index's name on SQLite",
            );
            None
        }
        (false, Some(_)) => {
            fields.bad("constraint", "means something only with idempotent: true");
            None
        }
        (false, None) => None,
    }
}
