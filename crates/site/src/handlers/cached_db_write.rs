//! Statements on the database connections of the configuration.

use super::unreadable;
use crate::{
    handler::{Delivered, Failed, Handler},
    payload::{self, WritePayload},
};
use async_trait::async_trait;
use serde_json::json;
use std::collections::BTreeMap;
use store::{buffer::Message, external::External};

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
