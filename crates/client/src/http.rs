//! One request, one answer: paths, bodies, errors. Everything else in this crate is built on it.

use crate::{ClientBuilder, Error, Result, again::Again, error};
use reqwest::{Method, RequestBuilder, Response, Url, header::RETRY_AFTER};
use serde::{Serialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

/// A connection to central. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) url: Arc<Url>,
    pub(crate) timeout: Duration,
    pub(crate) again: Again,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({})", self.url)
    }
}

/// No query parameters.
pub(crate) const NONE: &[(&str, String)] = &[];

impl Client {
    /// A client for the central node at `url`, acting as `api_key`.
    pub fn new(url: &str, api_key: impl Into<String>) -> Result<Self> {
        Self::builder(url).api_key(api_key).build()
    }

    /// For those who need more: a tenant, an authority of their own, other limits.
    pub fn builder(url: &str) -> ClientBuilder {
        ClientBuilder::new(url)
    }

    /// Where this client sends its requests.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// A request to the path of these segments, each of them escaped.
    pub(crate) fn request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        let mut url = (*self.url).clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.http.request(method, url).timeout(self.timeout)
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<T> {
        self.answer(self.request(Method::GET, path, query)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.answer(self.request(Method::POST, path, NONE).json(body))
            .await
    }

    pub(crate) async fn put<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.answer(self.request(Method::PUT, path, NONE).json(body))
            .await
    }

    pub(crate) async fn delete(&self, path: &[&str], query: &[(&str, String)]) -> Result<()> {
        let answer = self.send(self.request(Method::DELETE, path, query)).await?;
        checked(answer, self).await.map(drop)
    }

    /// Sends and reads the whole answer.
    pub(crate) async fn answer<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let answer = checked(self.send(request).await?, self).await?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(|e| self.unreachable(e))?;
        serde_json::from_slice(&body).map_err(|e| Error::Server {
            status,
            code: String::new(),
            detail: format!("an answer this client does not understand: {e}"),
            retry_after: None,
        })
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response> {
        request.send().await.map_err(|e| self.unreachable(e))
    }

    pub(crate) fn unreachable(&self, cause: reqwest::Error) -> Error {
        Error::Unreachable {
            url: self.url.to_string(),
            // The URL is in the message already.
            cause: Box::new(cause.without_url()),
        }
    }
}

/// The answer, if it is a good one.
pub(crate) async fn checked(answer: Response, client: &Client) -> Result<Response> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let retry_after = answer
        .headers()
        .get(RETRY_AFTER)
        .and_then(|v| v.to_str().ok()?.parse().ok());
    let body = answer.bytes().await.map_err(|e| client.unreachable(e))?;
    Err(error::from_answer(
        status.as_u16(),
        retry_after.map(Duration::from_secs),
        &body,
    ))
}
