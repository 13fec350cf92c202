//! What became of a message that was sent.

use crate::{SendError, engine::Tried, engine::words};
use domain::site::{Category, OperationStatus};
use serde_json::Value;
use store::buffer::{Known, MessageId, Step};

/// What became of a message that was accepted, or refused for good by its target.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub id: MessageId,
    /// Delivered or in the buffer.
    pub accepted: bool,
    pub was_buffered: bool,
    /// The same id was sent before; nothing was done now.
    pub duplicate: bool,
    pub status: Option<OperationStatus>,
    /// Whether the standby has it as well, where that is waited for.
    pub replicated: Option<bool>,
    /// What the target answered, where it was reached at once.
    pub result: Option<Value>,
    pub error: Option<Refusal>,
}

/// Why the target will never take it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub code: String,
    pub detail: String,
    pub http_status: Option<u16>,
}

impl Sent {
    pub(crate) fn buffered(id: MessageId) -> Self {
        Self {
            id,
            accepted: true,
            was_buffered: true,
            duplicate: false,
            status: None,
            replicated: None,
            result: None,
            error: None,
        }
    }

    /// In the buffer, not tried yet.
    pub(crate) fn queued(id: MessageId, category: Category) -> Self {
        let tracked = !category.is_forwarded();
        Self {
            status: tracked.then_some(OperationStatus::Submitted),
            ..Self::buffered(id)
        }
    }

    /// The same id was sent before.
    pub(crate) fn known(id: MessageId, known: Known) -> Result<Self, SendError> {
        if !known.same_content {
            return Err(SendError::Conflict(format!("{id} is the id of another message")));
        }
        Ok(Self {
            accepted: !matches!(known.status, Some(OperationStatus::Failed)),
            was_buffered: known.buffered,
            duplicate: true,
            status: known.status,
            ..Self::buffered(id)
        })
    }

    /// What the immediate attempt came to.
    pub(crate) fn after(id: MessageId, tried: Tried) -> Self {
        match (tried.step, tried.answer) {
            (Step::Delivered, answer) => Self {
                was_buffered: false,
                status: Some(OperationStatus::Delivered),
                result: answer.ok().and_then(|delivered| delivered.result),
                ..Self::buffered(id)
            },
            (Step::Failed { .. }, Err(failed)) => Self {
                accepted: false,
                was_buffered: false,
                status: Some(OperationStatus::Failed),
                error: Some(Refusal {
                    code: failed.failure.code.to_string(),
                    detail: failed.failure.detail,
                    http_status: failed.http_status,
                }),
                ..Self::buffered(id)
            },
            (_, answer) => Self {
                status: Some(OperationStatus::Retrying),
                error: answer.err().map(|failed| Refusal {
                    code: failed.failure.code.to_string(),
                    detail: words(&failed.failure),
                    http_status: failed.http_status,
                }),
                ..Self::buffered(id)
            },
        }
    }
}
