//! Statements on the database connections of the configuration: what a write carries, the route that takes one in, and the
//! attempt.

use super::{unknown, unreadable};
use crate::{
    api::{Api, Problem, body::Fields, sent},
    handler::{Delivered, Failed, Handler},
    intake::Outgoing,
    payload,
};
use async_trait::async_trait;
use axum::{extract::State, response::Response};
use domain::{site::Category, submission::limit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::{buffer::Message, external::External};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WritePayload {
    pub statement: String,
    #[serde(default)]
    pub params: Vec<Value>,
    /// The unique constraint by which an earlier attempt is recognised; its violation means that the row is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_by: Option<String>,
}

impl WritePayload {
    /// The statement without its values, on one line.
    pub fn summary(&self) -> String {
        payload::cut(&self.statement.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// `POST /db-writes`.
pub(super) async fn send(State(api): State<Api>, mut fields: Fields) -> Result<Response, Problem> {
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
    match api.targets.connections.get(&connection) {
        Some(known) if !statement.trim().is_empty() => {
            if let Err(why) = known.check(&statement) {
                fields.bad("statement", why);
            }
        }
        Some(_) => {}
        None if connection.is_empty() => {}
        None => fields.bad(
            "connection",
            unknown("connection", &connection, &api.targets.connections.names()),
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

/// The connections by name.
#[derive(Debug, Default)]
pub struct CachedDbWrites {
    connections: BTreeMap<String, External>,
}

impl CachedDbWrites {
    pub fn new(connections: BTreeMap<String, External>) -> Self {
        Self { connections }
    }

    pub fn get(&self, name: &str) -> Option<&External> {
        self.connections.get(name)
    }

    pub fn names(&self) -> Vec<&str> {
        self.connections.keys().map(String::as_str).collect()
    }
}

#[async_trait]
impl Handler for CachedDbWrites {
    async fn deliver(&self, message: &Message) -> Result<Delivered, Failed> {
        let write: WritePayload = payload::read(&message.payload).map_err(unreadable)?;
        let connection = self
            .connections
            .get(&message.target)
            .ok_or_else(|| unreadable(format!("there is no connection {:?}", message.target)))?;
        let written = connection
            .execute_once(&write.statement, &write.params, write.idempotent_by.as_deref())
            .await?;
        let mut result = json!({"rowsAffected": written.rows});
        if written.already_there {
            result["alreadyThere"] = true.into();
        }
        Ok(Delivered {
            result: Some(result),
            http_status: None,
        })
    }

    fn serves(&self, target: &str) -> bool {
        self.connections.contains_key(target)
    }
}
