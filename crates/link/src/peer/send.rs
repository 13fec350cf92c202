//! A message that a standby was sent and the active one takes in: the question and its answer.

use domain::{
    FieldError, TraceContext,
    site::{Category, OperationStatus},
};
use std::time::Duration;
use uuid::Uuid;

/// What the standby was sent, under the id that it gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct SendAsked {
    pub id: Uuid,
    pub category: Category,
    pub target: String,
    pub payload: String,
    pub summary: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    pub max_retries: Option<u32>,
    pub retry_interval: Option<Duration>,
    /// A call or write is to be tried at once.
    pub immediate: bool,
    pub trace: Option<TraceContext>,
}

/// What the active one answered.
#[derive(Debug, Clone, PartialEq)]
pub enum SendAnswered {
    Taken(SendTaken),
    /// Nothing was taken in.
    Refused(SendRefused),
}

/// Taken in, or refused for good by the far end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SendTaken {
    pub accepted: bool,
    pub was_buffered: bool,
    pub duplicate: bool,
    pub status: Option<OperationStatus>,
    pub replicated: Option<bool>,
    /// What the far end answered, as JSON.
    pub result: Option<String>,
    pub error: Option<FarEndRefusal>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FarEndRefusal {
    pub code: String,
    pub detail: String,
    pub http_status: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SendRefused {
    Invalid(Vec<FieldError>),
    Conflict(String),
    NoRoom(String),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSent {
    /// The message was certainly not taken in.
    NotTaken(String),
    /// It may have been.
    Unknown(String),
}
