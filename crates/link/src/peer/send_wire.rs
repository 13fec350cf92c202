//! A message that is passed on, between the generated wire types and the plain ones.

use super::{
    send::{FarEndRefusal, SendAnswered, SendAsked, SendRefused, SendTaken},
    wire::v1,
};
use domain::{FieldError, site::Category, submission::limit};
use std::time::Duration;
use uuid::Uuid;

pub(super) fn asked_out(session: Vec<u8>, asked: SendAsked) -> v1::SendAsked {
    v1::SendAsked {
        session,
        id: asked.id.as_bytes().to_vec(),
        category: asked.category.as_str().to_owned(),
        target: asked.target,
        payload: asked.payload,
        summary: asked.summary,
        instance: asked.instance,
        script: asked.script,
        execution: asked.execution,
        parent_execution: asked.parent_execution,
        max_retries: asked.max_retries,
        retry_interval_ms: asked
            .retry_interval
            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        immediate: asked.immediate,
        traceparent: asked.trace.map(|trace| trace.to_string()),
    }
}

pub(super) fn asked_in(asked: v1::SendAsked) -> Result<SendAsked, String> {
    let category = asked.category.parse::<Category>();
    Ok(SendAsked {
        id: Uuid::from_slice(&asked.id).map_err(|_| "the id of a message has 16 bytes".to_owned())?,
        category: category.map_err(|_| format!("{:?} is no category here", asked.category))?,
        target: asked.target,
        payload: asked.payload,
        summary: asked.summary,
        instance: asked.instance,
        script: asked.script,
        execution: asked.execution,
        parent_execution: asked.parent_execution,
        max_retries: asked.max_retries,
        retry_interval: asked.retry_interval_ms.map(Duration::from_millis),
        immediate: asked.immediate,
        trace: asked.traceparent.and_then(|trace| trace.parse().ok()),
    })
}

pub(super) fn answered_out(answered: SendAnswered) -> v1::SendAnswered {
    use v1::{send_answered::Is, send_refused::Why};
    let is = match answered {
        SendAnswered::Taken(taken) => Is::Taken(v1::SendTaken {
            accepted: taken.accepted,
            was_buffered: taken.was_buffered,
            duplicate: taken.duplicate,
            status: taken.status.map(|status| status.as_str().to_owned()),
            replicated: taken.replicated,
            result: taken.result,
            error: taken.error.map(|error| v1::FarEndRefusal {
                code: error.code,
                detail: error.detail,
                http_status: error.http_status.map(u32::from),
            }),
        }),
        SendAnswered::Refused(refused) => {
            let (why, words, fields) = match refused {
                SendRefused::Invalid(fields) => (Why::Invalid, String::new(), fields),
                SendRefused::Conflict(words) => (Why::Conflict, words, vec![]),
                SendRefused::NoRoom(words) => (Why::NoRoom, words, vec![]),
            };
            let field = |bad: FieldError| v1::BadField {
                field: bad.field,
                problem: bad.problem,
            };
            Is::Refused(v1::SendRefused {
                why: why.into(),
                words,
                fields: fields.into_iter().map(field).collect(),
            })
        }
    };
    v1::SendAnswered { is: Some(is) }
}

/// An error where the answer is not understood: then nobody knows what became of the message.
pub(super) fn answered_in(answered: v1::SendAnswered) -> Result<SendAnswered, String> {
    use v1::{send_answered::Is, send_refused::Why};
    match answered.is {
        Some(Is::Taken(taken)) => Ok(SendAnswered::Taken(SendTaken {
            accepted: taken.accepted,
            was_buffered: taken.was_buffered,
            duplicate: taken.duplicate,
            status: taken.status.and_then(|status| status.parse().ok()),
            replicated: taken.replicated,
            result: taken.result,
            error: taken.error.map(|error| FarEndRefusal {
                code: error.code.chars().take(limit::NAME).collect(),
                detail: error.detail,
                http_status: error.http_status.and_then(|status| u16::try_from(status).ok()),
            }),
        })),
        Some(Is::Refused(refused)) => match refused.why() {
            Why::Invalid => {
                let fields = refused.fields.into_iter();
                let fields = fields.map(|bad| FieldError::new(bad.field, bad.problem));
                Ok(SendAnswered::Refused(SendRefused::Invalid(fields.collect())))
            }
            Why::Conflict => Ok(SendAnswered::Refused(SendRefused::Conflict(refused.words))),
            Why::NoRoom => Ok(SendAnswered::Refused(SendRefused::NoRoom(refused.words))),
            Why::Unspecified => Err(format!("a refusal that is not known here: {}", refused.words)),
        },
        None => Err("an answer that is not known here".to_owned()),
    }
}
