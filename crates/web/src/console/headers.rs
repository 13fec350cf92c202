//! What every page tells the browser: nothing but our own files, no frames, no guessing, no referrer for others.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};

/// No script and no style inside a page; nothing from elsewhere; forms only to us.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub async fn on_every_page(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    add(response.headers_mut());
    response
}

pub fn add(headers: &mut HeaderMap) {
    let fixed: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
