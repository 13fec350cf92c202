//! One line and one count per request, and the id that ties an answer to its lines.
//!
//! Always true: paths are logged as templates; bodies, addresses, query strings and keys are not logged at all.

use crate::auth::AskedBy;
use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use std::time::Instant;
use tracing::Instrument;
use uuid::Uuid;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The outermost layer.
pub async fn requests(request: Request, next: Next) -> Response {
    let id = request_id(&request);
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("(none)", MatchedPath::as_str);
    let span = tracing::debug_span!("request", request.id = id.to_str().unwrap_or_default());
    let start = Instant::now();
    let mut response = next.run(request).instrument(span).await;
    let took = start.elapsed();
    let status = response.status().as_u16();
    let actor = response.extensions_mut().remove::<AskedBy>();
    let actor = actor.as_ref().map_or("-", |asked| asked.0.as_str());
    metrics::counter!(
        "waypost_http_requests_total",
        "method" => method_name(&method), "path" => path.to_owned(), "status" => status.to_string()
    )
    .increment(1);
    metrics::histogram!("waypost_http_request_seconds", "path" => path.to_owned()).record(took.as_secs_f64());
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                http.method = %method, http.path = path, http.status = status,
                duration_ms = took.as_secs_f64() * 1000.0, actor,
                request.id = id.to_str().unwrap_or_default(), "answered a request"
            )
        };
    }
    match status {
        500.. => line!(warn),
        400.. => line!(info),
        _ => line!(debug),
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The caller's own id if it is a sane one, else a fresh one.
fn request_id(request: &Request) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
    };
    match request.headers().get(&REQUEST_ID).filter(sane) {
        Some(value) => value.clone(),
        None => HeaderValue::from_str(&Uuid::now_v7().simple().to_string())
            .unwrap_or(HeaderValue::from_static("unknown")),
    }
}

/// Methods the outside made up do not become new time series.
fn method_name(method: &axum::http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        _ => "OTHER",
    }
}
