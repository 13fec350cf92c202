//! The receiver of webhooks that counts what arrives, and the provider that sends to it.

use client::{Client, ProviderDraft};
use serde_json::json;
use simulator::{HttpOptions, HttpReceiver};

/// The far end is this process: while it stands still, nothing that it has taken is given up.
pub const TIMEOUT: &str = "120s";

pub async fn receiver() -> HttpReceiver {
    let options = HttpOptions {
        keep: 10,
        keep_ids: 1_000_000,
        ..HttpOptions::default()
    };
    HttpReceiver::start(options).await.unwrap()
}

/// The provider `hook` of the tenant, unless it is there already.
pub async fn provider(client: &Client, far_end: &HttpReceiver, concurrency: u32) {
    if client.provider("hook").await.is_ok() {
        return;
    }
    let settings = json!({ "url": far_end.url("/hook"), "timeout": TIMEOUT });
    let retry = json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "jitter": 0.0, "maxAttempts": 50 });
    let draft = ProviderDraft {
        id: Some("hook".into()),
        kind: "webhook".into(),
        settings: settings.as_object().cloned().unwrap(),
        retry: Some(retry),
        limits: Some(json!({ "concurrency": concurrency })),
        ..ProviderDraft::default()
    };
    client.create_provider(&draft).await.unwrap();
}
