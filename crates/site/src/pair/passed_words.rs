//! A message that is passed on, and what became of it, between this crate's words and those of the other machine.

use crate::{Outgoing, SendError, SendOptions, Sent, sent::Refusal};
use link::peer::{FarEndRefusal, SendAnswered, SendAsked, SendRefused, SendTaken};
use store::buffer::{MessageId, Origin};

pub(super) fn asked(id: MessageId, outgoing: &Outgoing) -> SendAsked {
    let (origin, options) = (outgoing.origin.clone(), &outgoing.options);
    SendAsked {
        id: id.0,
        category: outgoing.category,
        target: outgoing.target.clone(),
        payload: outgoing.payload.clone(),
        summary: outgoing.summary.clone(),
        instance: origin.instance,
        script: origin.script,
        execution: origin.execution,
        parent_execution: origin.parent_execution,
        max_retries: options.max_retries,
        retry_interval: options.retry_interval,
        immediate: options.attempt_immediate_delivery,
        trace: options.trace,
    }
}

pub(super) fn outgoing(asked: SendAsked) -> Outgoing {
    Outgoing {
        category: asked.category,
        target: asked.target,
        payload: asked.payload,
        summary: asked.summary,
        origin: Origin {
            instance: asked.instance,
            script: asked.script,
            execution: asked.execution,
            parent_execution: asked.parent_execution,
        },
        options: SendOptions {
            max_retries: asked.max_retries,
            retry_interval: asked.retry_interval,
            attempt_immediate_delivery: asked.immediate,
            message_id: Some(MessageId(asked.id)),
            trace: asked.trace,
        },
    }
}

pub(super) fn taken(sent: Sent) -> SendTaken {
    SendTaken {
        accepted: sent.accepted,
        was_buffered: sent.was_buffered,
        duplicate: sent.duplicate,
        status: sent.status,
        replicated: sent.replicated,
        result: sent.result.map(|result| result.to_string()),
        error: sent.error.map(|error| FarEndRefusal {
            code: error.code,
            detail: error.detail,
            http_status: error.http_status,
        }),
    }
}

pub(super) fn sent(id: MessageId, answered: SendAnswered) -> Result<Sent, SendError> {
    let taken = match answered {
        SendAnswered::Taken(taken) => taken,
        SendAnswered::Refused(SendRefused::Invalid(fields)) => return Err(SendError::Invalid(fields)),
        SendAnswered::Refused(SendRefused::Conflict(words)) => return Err(SendError::Conflict(words)),
        SendAnswered::Refused(SendRefused::NoRoom(words)) => return Err(SendError::NoRoom(words)),
    };
    Ok(Sent {
        id,
        accepted: taken.accepted,
        was_buffered: taken.was_buffered,
        duplicate: taken.duplicate,
        status: taken.status,
        replicated: taken.replicated,
        result: taken.result.and_then(|json| serde_json::from_str(&json).ok()),
        error: taken.error.map(|error| Refusal {
            code: error.code,
            detail: error.detail,
            http_status: error.http_status,
        }),
    })
}
