//! HTTP calls to systems that a site's own configuration names. Like an adapter, one call is one attempt; unlike one,
//! the caller says what is sent, and gets the answer back.
//!
//! Leaves to others: keeping the call until it works, and when to try again (`site`).
//! Always true: a call goes to the configured host and below its path, whatever the caller wrote; the credentials
//! of a system are in no error.

mod classify;
mod settings;

pub use classify::Transient;
pub use settings::{Auth, SystemSettings};

use crate::{
    adapter::Deadline,
    http::{self, Client, Exchange, Names},
    outside::Outside,
    redact::Redactor,
    transcript::Recorder,
};
use bytes::Bytes;
use domain::{Failure, FieldError, Scope, Timestamp};
use hyper::{
    Method, Request,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT},
};
use std::{collections::BTreeMap, fmt};
use url::Url;

/// The most that is given back of an answer's body, in bytes.
pub const MAX_CALL_ANSWER_BYTES: usize = 1 << 20;
const METHODS: [Method; 6] = [
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::HEAD,
];
/// What a caller cannot set: these belong to the connection.
const RESERVED_HEADERS: [&str; 7] = [
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "proxy-authorization",
];

/// What is asked of a system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    pub method: String,
    /// Below the system's base URL.
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Option<String>,
    /// The type of the body, where the headers do not say.
    pub content_type: Option<&'static str>,
}

/// What the system said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: String,
    /// The body was longer than what is given back.
    pub cut: bool,
}

/// A call that did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFailed {
    pub failure: Failure,
    pub status: Option<u16>,
}

/// A configured system.
pub struct System {
    settings: SystemSettings,
    base: Url,
    /// Sent with every call, unless the call says otherwise.
    own_headers: HeaderMap,
    client: Client,
    redactor: Redactor,
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "System({})", self.base.host_str().unwrap_or(""))
    }
}

impl System {
    /// Says what is wrong with the settings, each problem with the key it is about.
    pub fn new(settings: SystemSettings, outside: &Outside) -> Result<Self, FieldError> {
        let base = settings.base()?;
        let tls = outside
            .tls(settings.ca_pem.as_deref())
            .map_err(|why| FieldError::new("ca_file", why))?;
        let mut own_headers = HeaderMap::new();
        own_headers.insert(USER_AGENT, http::user_agent());
        own_headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        own_headers.extend(settings.own_headers()?);
        Ok(Self {
            redactor: settings.redactor(&base),
            client: Client::new(tls, Names::any()),
            own_headers,
            settings,
            base,
        })
    }

    /// Everything that is wrong with a call, before it is accepted.
    pub fn problems(&self, call: &Call) -> Vec<FieldError> {
        let mut bad = vec![];
        if let Err(why) = method(&call.method) {
            bad.push(FieldError::new("method", why));
        }
        if let Err(why) = self.url(&call.path) {
            bad.push(FieldError::new("path", why));
        }
        if let Err(wrong) = self.headers(call) {
            bad.extend(wrong);
        }
        bad
    }

    /// Makes one attempt. `key` stays the same over all of them: the system can tell a repeat by it.
    pub async fn call(&self, call: &Call, key: &str, now: Timestamp) -> Result<Answer, CallFailed> {
        let failed = self.attempt(call, key, now).await.map_err(|mut failed| {
            failed.failure.detail = self.redactor.scrub(&failed.failure.detail);
            failed
        });
        failed.map(|mut answer| {
            answer.body = self
                .redactor
                .hidden(std::mem::take(&mut answer.body))
                .into_owned();
            answer
        })
    }

    async fn attempt(&self, call: &Call, key: &str, now: Timestamp) -> Result<Answer, CallFailed> {
        let unfit = |why: String| CallFailed {
            failure: Failure::permanent(Scope::Message, "BAD_CALL", why),
            status: None,
        };
        let method = method(&call.method).map_err(&unfit)?;
        let url = self.url(&call.path).map_err(&unfit)?;
        let named = |bad: Vec<FieldError>| unfit(domain::field_error::in_words(&bad));
        let mut headers = self.own_headers.clone();
        headers.extend(self.headers(call).map_err(named)?);
        if !headers.contains_key("idempotency-key")
            && let Ok(key) = HeaderValue::from_str(key)
        {
            headers.insert(HeaderName::from_static("idempotency-key"), key);
        }
        let mut request = Request::new(call.body.clone().map_or_else(Bytes::new, Bytes::from));
        *request.method_mut() = method;
        *request.uri_mut() = url.as_str().parse().map_err(|e| unfit(format!("{e}")))?;
        *request.headers_mut() = headers;
        let exchange = Exchange {
            client: &self.client,
            deadline: Deadline::after(self.settings.timeout),
            recorder: &Recorder::off(),
            now,
            redactor: &self.redactor,
            answer_is_secret: false,
        };
        match exchange.send_reading(request, MAX_CALL_ANSWER_BYTES).await {
            Ok(answer) => self.judge(&answer),
            Err(failure) => Err(CallFailed {
                failure,
                status: None,
            }),
        }
    }

    fn judge(&self, answer: &http::Answer) -> Result<Answer, CallFailed> {
        let status = answer.status.as_u16();
        match classify::classify(answer, &self.settings.transient) {
            None => Ok(Answer {
                status,
                content_type: answer.header("content-type").map(str::to_owned),
                body: answer.text().into_owned(),
                cut: !answer.whole,
            }),
            Some(failure) => Err(CallFailed {
                failure,
                status: Some(status),
            }),
        }
    }

    /// The system's host and path, and the caller's below it.
    fn url(&self, path: &str) -> Result<Url, String> {
        let below = path.strip_prefix('/').unwrap_or(path);
        let root = self.base.as_str().trim_end_matches('/');
        let text = match below.is_empty() {
            true => self.base.as_str().to_owned(),
            false => format!("{root}/{below}"),
        };
        let url = Url::parse(&text).map_err(|e| format!("is not a path: {e}"))?;
        let base_path = self.base.path().trim_end_matches('/');
        let inside = url.path() == base_path || url.path().starts_with(&format!("{base_path}/"));
        if url.origin() != self.base.origin() || !inside || url.fragment().is_some() {
            return Err("must stay below the system's base_url".into());
        }
        Ok(url)
    }

    /// What is sent with the call, or everything that is wrong with it.
    fn headers(&self, call: &Call) -> Result<HeaderMap, Vec<FieldError>> {
        let mut headers = HeaderMap::new();
        let mut bad = vec![];
        for (name, value) in &call.headers {
            match self.header(name, value) {
                Ok((name, value)) => drop(headers.insert(name, value)),
                Err(why) => bad.push(FieldError::new(format!("headers.{name}"), why)),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        if let (Some(_), Some(kind)) = (&call.body, call.content_type)
            && !headers.contains_key(CONTENT_TYPE)
        {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        Ok(headers)
    }

    fn header(&self, name: &str, value: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
        let name: HeaderName = name.parse().map_err(|_| "is not a header name")?;
        if RESERVED_HEADERS.contains(&name.as_str()) {
            return Err("cannot be set");
        }
        if self.settings.auth.uses(&name) {
            return Err("is set by the system's own configuration");
        }
        let value = value.parse().map_err(|_| "is not a header value")?;
        Ok((name, value))
    }
}

fn method(text: &str) -> Result<Method, String> {
    METHODS
        .into_iter()
        .find(|m| m.as_str().eq_ignore_ascii_case(text))
        .ok_or_else(|| "must be GET, POST, PUT, PATCH, DELETE or HEAD".into())
}
