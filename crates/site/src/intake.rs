//! Taking messages in: checked, in the file, and for calls and writes tried at once.
//!
//! Always true: what is accepted survives power loss; what is not accepted leaves nothing behind but its tracking.

use crate::{sent::Sent, site::Site};
use domain::{
    FieldError, Timestamp, TraceContext,
    field_error::in_words,
    pair::Role,
    site::Category,
    trace::{Span, SpanKind},
};
use std::time::{Duration, Instant};
use store::buffer::{Enqueued, Message, MessageId, MessageStatus, NewMessage, Origin, Start};
use uuid::Uuid;

/// What a message may wait between two attempts.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(365 * 86_400);

/// What a sender may say about how a message is tried.
#[derive(Debug, Clone, PartialEq)]
pub struct SendOptions {
    /// 0: no limit. None: the site's own.
    pub max_retries: Option<u32>,
    pub retry_interval: Option<Duration>,
    /// False when the sender has just tried it itself.
    pub attempt_immediate_delivery: bool,
    /// The id to use; sending the same one again is harmless.
    pub message_id: Option<MessageId>,
    /// Where the caller stands in a trace; of notifications only.
    pub trace: Option<TraceContext>,
}

impl Default for SendOptions {
    fn default() -> Self {
        Self {
            max_retries: None,
            retry_interval: None,
            attempt_immediate_delivery: true,
            message_id: None,
            trace: None,
        }
    }
}

/// A message as any category takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    pub payload: String,
    pub summary: Option<String>,
    pub origin: Origin,
    pub options: SendOptions,
}

#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The message itself is wrong.
    #[error("{}", in_words(.0))]
    Invalid(Vec<FieldError>),
    /// The id is taken by another message.
    #[error("{0}")]
    Conflict(String),
    /// There is no room for it now.
    #[error("{0}")]
    NoRoom(String),
    #[error("the agent is stopping")]
    Stopping,
    /// This machine is the standby, and cannot pass it on.
    #[error("{0}")]
    Standby(String),
    /// This machine is the standby: the active one may have taken the call or write, and may not.
    #[error(
        "whether the active machine has taken {0} is not known; ask for it, or send it again under the same id"
    )]
    OutcomeUnknown(MessageId),
    #[error("the buffer cannot be used")]
    Unavailable(#[from] store::Error),
}

impl Site {
    /// Takes a message in and, unless told otherwise, tries a call or write at once. Notifications are the
    /// forwarder's, which is woken by them. What stays here is waited for at the standby, where that is asked for. A standby passes
    /// it on to the active one.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        if let Some(pair) = self.pair().filter(|pair| pair.role() == Role::Standby) {
            let new = self.new_message(&outgoing)?;
            return pair.pass_on(&outgoing, new).await;
        }
        let mut sent = self.accept(outgoing).await?;
        if let Some(pair) = self.pair().filter(|_| sent.was_buffered) {
            sent.replicated = pair.replicated().await;
        }
        Ok(sent)
    }

    async fn accept(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        // Until this has ended the agent has not stopped, and the other machine does not take over: an attempt that began after would
        // be made there as well.
        let _begun = self.engine.begin().ok_or(SendError::Stopping)?;
        let began = Instant::now();
        let mut new = self.new_message(&outgoing)?;
        let step = match outgoing.category.is_forwarded() {
            true => self.settings.tracer.below(outgoing.options.trace),
            false => None,
        };
        // After the content was hashed: the same message from another trace is the same message.
        if let Some(step) = step {
            new.payload = crate::payload::with_trace(new.payload, step);
        }
        let immediate = !outgoing.category.is_forwarded()
            && outgoing.options.attempt_immediate_delivery
            && self
                .engine
                .handlers
                .get(outgoing.category, &outgoing.target)
                .is_some();
        let start = if immediate {
            Start::Attempted
        } else {
            Start::Queued
        };
        let id = new.id;
        let ticket = match self.buffer.enqueue(new.clone(), start).await? {
            Enqueued::New(ticket) => ticket,
            Enqueued::NoRoom(why) => return Err(SendError::NoRoom(why)),
            Enqueued::Known(known) => return Sent::known(id, known),
        };
        if let Some(context) = step {
            self.settings.tracer.tell(Span {
                name: "submit",
                kind: SpanKind::Server,
                context,
                parent: outgoing.options.trace,
                start: began,
                end: Instant::now(),
                attributes: vec![("notification.id", id.to_string())],
                failed: None,
            });
        }
        if !immediate {
            return Ok(Sent::queued(id, outgoing.category));
        }
        let message = begun(new, ticket, self.clock.now());
        Ok(Sent::after(id, self.engine.try_now(message).await))
    }

    fn new_message(&self, outgoing: &Outgoing) -> Result<NewMessage, SendError> {
        let options = &outgoing.options;
        let interval = options.retry_interval.unwrap_or(self.settings.retry_interval);
        if !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&interval) {
            let bad = FieldError::new("retryInterval", "must be at least 1s and at most 365d");
            return Err(SendError::Invalid(vec![bad]));
        }
        if options.message_id.is_some_and(|id| id.0.is_nil()) {
            let bad = FieldError::new("messageId", "must not be the nil GUID");
            return Err(SendError::Invalid(vec![bad]));
        }
        let by_default = match outgoing.category.is_forwarded() {
            true => self.settings.notification_max_retries,
            false => self.settings.max_retries,
        };
        Ok(NewMessage {
            id: options.message_id.unwrap_or_else(|| MessageId(Uuid::now_v7())),
            category: outgoing.category,
            target: outgoing.target.clone(),
            content_hash: crate::payload::content_hash(&outgoing.target, &outgoing.payload, &outgoing.origin),
            payload: outgoing.payload.clone(),
            summary: outgoing.summary.clone(),
            max_retries: options.max_retries.unwrap_or(by_default),
            retry_interval: interval,
            origin: outgoing.origin.clone(),
        })
    }
}

/// The same with where the caller stands in a trace. After the content was hashed: the same message from another trace is the same.
pub(crate) fn keepable(new: NewMessage, trace: Option<TraceContext>) -> NewMessage {
    match trace.filter(|_| new.category.is_forwarded()) {
        Some(trace) => NewMessage {
            payload: crate::payload::with_trace(new.payload, trace),
            ..new
        },
        None => new,
    }
}

/// The message as its immediate attempt sees it, without reading it back.
fn begun(new: NewMessage, ticket: store::buffer::Ticket, now: Timestamp) -> Message {
    let payload_bytes = new.payload.len();
    Message {
        seq: ticket.seq,
        id: new.id,
        category: new.category,
        target: new.target,
        payload: new.payload,
        summary: new.summary,
        retry_count: 0,
        max_retries: new.max_retries,
        retry_interval: new.retry_interval,
        created_at: now,
        last_attempt_at: Some(now),
        status: MessageStatus::Pending,
        last_error: None,
        origin: new.origin,
        due_at: now,
        queued_at: None,
        attempt: ticket.attempt,
        interruptions: 0,
        parked_at: None,
        damaged: None,
        payload_bytes,
    }
}
