//! Where a service is, and what it is told about us with each request.

use crate::{http, redact::percent_encoded, settings::Problems};
use bytes::Bytes;
use domain::{Failure, Scope};
use hyper::{
    HeaderMap, Method, Request, Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
};
use serde::Serialize;
use url::Url;

/// The place that requests go to.
#[derive(Clone)]
pub(crate) struct Endpoint {
    uri: Uri,
    headers: HeaderMap,
}

impl Endpoint {
    /// `setting` is the one to blame where the address cannot be used.
    pub fn at(url: &Url, setting: &str, problems: &mut Problems) -> Option<Self> {
        let uri = Uri::try_from(url.as_str())
            .map_err(|why| problems.add(setting, format!("cannot be asked: {why}")))
            .ok()?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, http::user_agent());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
        Some(Self { uri, headers })
    }

    /// A header that carries credentials; masked wherever it would be shown.
    pub fn secret_header(
        mut self,
        name: HeaderName,
        value: &str,
        setting: &str,
        problems: &mut Problems,
    ) -> Self {
        match HeaderValue::try_from(value.trim()) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.headers.insert(name, value);
            }
            Err(_) => problems.add(setting, "has characters that cannot be sent"),
        }
        self
    }

    pub fn bearer(self, token: &str, setting: &str, problems: &mut Problems) -> Self {
        self.secret_header(
            AUTHORIZATION,
            &format!("Bearer {}", token.trim()),
            setting,
            problems,
        )
    }

    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.headers
            .extend(http::basic(user, password).map(|login| (AUTHORIZATION, login)));
        self
    }

    pub fn post_json(&self, body: &impl Serialize) -> Result<Request<Bytes>, Failure> {
        let unfit = |e: serde_json::Error| Failure::permanent(Scope::Message, "VALIDATION", e.to_string());
        let body = serde_json::to_vec(body).map_err(unfit)?;
        Ok(self.post(body, HeaderValue::from_static("application/json")))
    }

    pub fn post_form<'a>(&self, fields: impl IntoIterator<Item = (&'a str, String)>) -> Request<Bytes> {
        let encoded = |(name, value): (&str, String)| format!("{name}={}", percent_encoded(&value));
        let body = fields.into_iter().map(encoded).collect::<Vec<_>>().join("&");
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        self.post(body.into_bytes(), form)
    }

    pub fn get(&self) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }

    fn post(&self, body: Vec<u8>, content_type: HeaderValue) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, content_type);
        request
    }
}

/// A URL with more path behind it, whether or not it ended in a slash.
pub(crate) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_below_a_base_with_and_without_a_slash() {
        for base in ["https://x.example/a", "https://x.example/a/"] {
            let base = Url::parse(base).unwrap();
            assert_eq!(below(&base, "b/c").as_str(), "https://x.example/a/b/c");
        }
        let root = Url::parse("https://x.example").unwrap();
        assert_eq!(below(&root, "").as_str(), "https://x.example/");
    }
}
