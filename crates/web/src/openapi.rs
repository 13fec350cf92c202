//! The OpenAPI 3.1 document, made of the same declarations as the router.

use crate::{describe::KEY_SCHEME, routes};
use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use std::sync::OnceLock;
use utoipa::openapi::{
    Components, Info, OpenApi, Paths,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

/// The document. Made once per call; [`json`] keeps it.
pub fn document() -> OpenApi {
    let mut paths = Paths::new();
    let mut components = Components::new();
    for endpoint in routes::all() {
        let (path, method, operation, schemas) = endpoint.describe();
        paths.add_path_operation(path, vec![method], operation);
        components.schemas.extend(schemas);
    }
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key of the tenant; its role decides what it may do."))
        .build();
    components.add_security_scheme(KEY_SCHEME, SecurityScheme::Http(scheme));
    let mut info = Info::new("Waypost", env!("CARGO_PKG_VERSION"));
    info.description = Some("Notification delivery that does not lose messages.".into());
    let mut document = OpenApi::new(info, paths);
    document.components = Some(components);
    document
}

/// The document as it is served.
pub fn json() -> Bytes {
    static JSON: OnceLock<Bytes> = OnceLock::new();
    JSON.get_or_init(|| Bytes::from(document().to_json().unwrap_or_else(|_| "{}".into())))
        .clone()
}

pub async fn serve() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json()).into_response()
}
