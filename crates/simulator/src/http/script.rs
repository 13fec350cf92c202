//! What a receiver may do with a request instead of taking it.

use crate::dial::Rule;
use axum::{
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};

/// What a rule is told about a request.
#[derive(Debug, Clone)]
pub struct HttpAt {
    pub path: String,
    /// The header `webhook-id`.
    pub id: Option<String>,
}

/// What happens to a request.
#[derive(Debug, Clone)]
pub enum HttpAnswer {
    /// 200; for rules that only delay.
    Usual,
    Reply(Reply),
    /// The request is taken, then the connection is closed without an answer.
    Cut,
    /// The request is taken, and no answer comes until the receiver stops.
    Stall,
    /// The usual answer, of which half the body comes before the connection breaks.
    BreakOff,
}

#[derive(Debug, Clone)]
pub struct Reply {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
}

impl Reply {
    /// An answer as web services give it; an impossible status becomes a 500.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::text(status, &body.to_string()).header("content-type", "application/json")
    }

    pub fn text(status: u16, body: &str) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers: vec![],
            body: body.to_owned(),
        }
    }

    /// Adds a header; one that HTTP does not allow is left out.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse(), value.parse()) {
            self.headers.push((name, value));
        }
        self
    }

    pub(super) fn takes(&self) -> bool {
        self.status.is_success()
    }

    pub(super) fn body_text(&self) -> &str {
        &self.body
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl HttpAnswer {
    /// Whether the far end has done what was asked, answered or not.
    pub(super) fn takes(&self) -> bool {
        match self {
            HttpAnswer::Usual | HttpAnswer::Cut | HttpAnswer::Stall | HttpAnswer::BreakOff => true,
            HttpAnswer::Reply(reply) => reply.takes(),
        }
    }

    fn reply(&mut self) -> &mut Reply {
        if !matches!(self, HttpAnswer::Reply(_)) {
            *self = HttpAnswer::Reply(Reply {
                status: StatusCode::OK,
                headers: vec![],
                body: String::new(),
            });
        }
        match self {
            HttpAnswer::Reply(reply) => reply,
            _ => unreachable!("just made one"),
        }
    }
}

pub type HttpRule = Rule<HttpAt, HttpAnswer>;

impl HttpRule {
    /// Answers with this status; an impossible number becomes a 500.
    pub fn status(code: u16) -> Self {
        let mut answer = HttpAnswer::Usual;
        answer.reply().status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Rule::always(answer)
    }

    /// Only delays; for use with [`Rule::delayed`].
    pub fn usual() -> Self {
        Rule::always(HttpAnswer::Usual)
    }

    pub fn cut() -> Self {
        Rule::always(HttpAnswer::Cut)
    }

    pub fn stall() -> Self {
        Rule::always(HttpAnswer::Stall)
    }

    /// Takes the request and breaks off in the middle of its answer.
    pub fn break_off() -> Self {
        Rule::always(HttpAnswer::BreakOff)
    }

    /// Adds a header to the answer; one that HTTP does not allow is left out.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse(), value.parse()) {
            self.answer_mut().reply().headers.push((name, value));
        }
        self
    }

    pub fn retry_after(self, value: &str) -> Self {
        self.header("retry-after", value)
    }

    pub fn body(mut self, text: &str) -> Self {
        self.answer_mut().reply().body = text.to_owned();
        self
    }

    /// Only for requests with this `webhook-id`.
    pub fn id(self, id: &str) -> Self {
        let wanted = id.to_owned();
        self.when(move |at| at.id.as_deref() == Some(wanted.as_str()))
    }

    /// Only for this path.
    pub fn path(self, path: &str) -> Self {
        let wanted = path.to_owned();
        self.when(move |at| at.path == wanted)
    }
}
