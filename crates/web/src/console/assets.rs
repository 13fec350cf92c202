//! The console's own files, at addresses that change with their content, so that browsers may keep them for ever.

use crate::state::Shared;
use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::LazyLock};

struct Asset {
    name: &'static str,
    media: &'static str,
    content: &'static str,
}

const ALL: [Asset; 4] = [
    Asset {
        name: "console.css",
        media: "text/css; charset=utf-8",
        content: include_str!("../../static/console.css"),
    },
    Asset {
        name: "console.js",
        media: "text/javascript; charset=utf-8",
        content: include_str!("../../static/console.js"),
    },
    Asset {
        name: "icon.svg",
        media: "image/svg+xml",
        content: include_str!("../../static/icon.svg"),
    },
    Asset {
        name: "robots.txt",
        media: "text/plain",
        content: "User-agent: *\nDisallow: /\n",
    },
];

/// Where the files are.
#[derive(Debug)]
pub struct Addresses {
    pub css: String,
    pub js: String,
    pub icon: String,
}

pub static ADDRESSES: LazyLock<Addresses> = LazyLock::new(|| Addresses {
    css: address(&ALL[0]),
    js: address(&ALL[1]),
    icon: address(&ALL[2]),
});

fn address(asset: &Asset) -> String {
    format!("/static/{}/{}", version(asset), asset.name)
}

fn version(asset: &Asset) -> String {
    let hash = Sha256::digest(asset.content.as_bytes());
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub fn router() -> Router<Shared> {
    Router::new()
        .route("/static/{version}/{name}", get(serve))
        .route("/favicon.ico", get(icon))
        .route("/robots.txt", get(robots))
}

async fn serve(Path((asked, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ALL.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // An address of another version is answered with what there is, and not kept.
    let kept = if asked == version(asset) {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    send(asset, kept)
}

async fn icon() -> Response {
    send(&ALL[2], "public, max-age=86400")
}

async fn robots() -> Response {
    send(&ALL[3], "public, max-age=86400")
}

fn send(asset: &Asset, kept: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, asset.media), (header::CACHE_CONTROL, kept)];
    (headers, asset.content).into_response()
}
