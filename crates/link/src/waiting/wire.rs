//! Waiting messages between the wire types and the plain ones. Always true: what a site answers has a size.

use super::{WaitingActed, WaitingAnswer, WaitingMessage, WaitingPage};
use crate::wire::{Garbled, MAX_PAGE, cut, cut_some, millis, moment, time, v1};
use domain::{site::WaitingStatus, submission::limit};

impl From<WaitingPage> for v1::AskWaiting {
    fn from(p: WaitingPage) -> Self {
        Self {
            category: p.category.map(|c| c.as_str().into()),
            limit: p.limit,
            after: p.after,
        }
    }
}

impl TryFrom<v1::AskWaiting> for WaitingPage {
    type Error = Garbled;

    fn try_from(p: v1::AskWaiting) -> Result<Self, Garbled> {
        Ok(Self {
            category: p.category.map(|c| c.parse()).transpose()?,
            limit: p.limit,
            after: p.after,
        })
    }
}

impl From<WaitingAnswer> for v1::Waiting {
    fn from(a: WaitingAnswer) -> Self {
        Self {
            messages: a.messages.into_iter().map(Into::into).collect(),
            next: a.next,
            total: a.total,
        }
    }
}

impl TryFrom<v1::Waiting> for WaitingAnswer {
    type Error = Garbled;

    fn try_from(a: v1::Waiting) -> Result<Self, Garbled> {
        let messages = a.messages.into_iter().take(MAX_PAGE).map(TryInto::try_into);
        Ok(Self {
            messages: messages.collect::<Result<_, _>>()?,
            next: a.next.filter(|next| next.len() <= limit::SUBJECT),
            total: a.total,
        })
    }
}

impl From<WaitingMessage> for v1::WaitingMessage {
    fn from(m: WaitingMessage) -> Self {
        Self {
            id: m.id,
            category: m.category.as_str().into(),
            target: m.target,
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: m.created_at.as_millis(),
            last_attempt_at: millis(m.last_attempt_at),
            due_at: m.due_at.as_millis(),
            last_error: m.last_error,
            instance: m.instance,
            script: m.script,
            summary: m.summary,
            held: m.held,
        }
    }
}

impl TryFrom<v1::WaitingMessage> for WaitingMessage {
    type Error = Garbled;

    fn try_from(m: v1::WaitingMessage) -> Result<Self, Garbled> {
        Ok(Self {
            id: cut(m.id, limit::NAME),
            category: m.category.parse()?,
            target: cut(m.target, limit::NAME),
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: moment(m.created_at),
            last_attempt_at: time(m.last_attempt_at),
            due_at: moment(m.due_at),
            last_error: cut_some(m.last_error, limit::ERROR),
            instance: cut_some(m.instance, limit::NAME),
            script: cut_some(m.script, limit::NAME),
            summary: cut_some(m.summary, limit::NAME),
            held: cut_some(m.held, limit::ERROR),
        })
    }
}

impl From<WaitingActed> for v1::Acted {
    fn from(acted: WaitingActed) -> Self {
        let (result, status, why) = match acted {
            WaitingActed::Done { status, error } => (v1::acted::Result::Done, Some(status), error),
            WaitingActed::NotFound => (v1::acted::Result::NotFound, None, None),
            WaitingActed::WrongState(why) => (v1::acted::Result::WrongState, None, Some(why)),
        };
        Self {
            result: result.into(),
            status: status.map(|status| status.as_str().into()),
            why,
        }
    }
}

impl TryFrom<v1::Acted> for WaitingActed {
    type Error = Garbled;

    fn try_from(acted: v1::Acted) -> Result<Self, Garbled> {
        let result = acted.result();
        let why = cut_some(acted.why, limit::ERROR);
        match result {
            v1::acted::Result::Done => Ok(Self::Done {
                // Done, and a newer site says how in a word of its own: what has come of it is not known here, but it did not fail.
                status: acted
                    .status
                    .and_then(|status| status.parse().ok())
                    .unwrap_or(WaitingStatus::Trying),
                error: why,
            }),
            v1::acted::Result::NotFound => Ok(Self::NotFound),
            v1::acted::Result::WrongState => Ok(Self::WrongState(why.unwrap_or_default())),
            v1::acted::Result::Nothing => Err(format!("an unknown result ({})", acted.result)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_site_has_done_in_a_word_of_its_own_has_not_failed() {
        let acted = v1::Acted {
            result: v1::acted::Result::Done.into(),
            status: Some("Deferred".into()),
            why: None,
        };
        let going_on = WaitingActed::Done {
            status: WaitingStatus::Trying,
            error: None,
        };
        assert_eq!(WaitingActed::try_from(acted), Ok(going_on));
    }
}
