//! The contract between the engine and whoever delivers a category: one attempt, and one of three answers. Delivered;
//! failed for good; failed for now.

use async_trait::async_trait;
use domain::{Failure, site::Category};
use serde_json::Value;
use std::{collections::BTreeMap, fmt, sync::Arc};
use store::buffer::Message;

/// Delivers the messages of one category.
#[async_trait]
pub trait Handler: fmt::Debug + Send + Sync {
    /// Makes one attempt. Never waits to try again. A payload that cannot be read is a failure for good.
    async fn deliver(&self, message: &Message) -> Result<Delivered, Failed>;

    /// Whether the target is known. Messages for one that is not stay where they are until it is.
    fn serves(&self, _target: &str) -> bool {
        true
    }
}

/// What the far end gave back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delivered {
    pub result: Option<Value>,
    pub http_status: Option<u16>,
}

/// Why there is nothing to give back. The failure's kind says whether another try can help.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    pub failure: Failure,
    pub http_status: Option<u16>,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            http_status: None,
        }
    }
}

/// Who delivers what.
#[derive(Debug, Clone, Default)]
pub struct Handlers(BTreeMap<Category, Arc<dyn Handler>>);

impl Handlers {
    /// Registers the handler of a category, in place of the one before. Before the agent starts.
    pub fn register(mut self, category: Category, handler: Arc<dyn Handler>) -> Self {
        self.0.insert(category, handler);
        self
    }

    /// The handler for messages to this target, if there is one.
    pub fn get(&self, category: Category, target: &str) -> Option<&Arc<dyn Handler>> {
        self.0.get(&category).filter(|handler| handler.serves(target))
    }
}
