//! The tenant the demo plays in: providers, lists.

use super::{
    far_ends::{FLAKY_PATH, FarEnds, GONE, GREYLISTED, STRICT_PATH},
    services,
};
use client::{Client, List, ProviderDraft, Recipient};
use serde_json::{Map, Value, json};

pub async fn set_up(client: &Client, far_ends: &FarEnds) -> client::Result<()> {
    let mail = far_ends.mail.address();
    let settings = json!({
        "host": mail.ip().to_string(), "port": mail.port(), "tls": "none", "auth": "none",
        "from": "Waypost demo <waypost@plant.example>",
    });
    client
        .create_provider(&provider("mail", "smtp", settings))
        .await?;
    for (id, path) in [("flaky", FLAKY_PATH), ("strict", STRICT_PATH)] {
        let settings = json!({ "url": far_ends.http.url(path) });
        client.create_provider(&provider(id, "webhook", settings)).await?;
    }
    client
        .create_provider(&provider("tray", "capture", json!({})))
        .await?;
    services::set_up(client, &far_ends.http).await?;
    for (name, addresses) in [
        (
            "ops",
            vec!["ann@plant.example", "bob@plant.example", "cleo@plant.example"],
        ),
        ("night", vec![GREYLISTED, "guard@plant.example"]),
        ("crew", vec!["dora@plant.example", GONE, "emil@plant.example"]),
    ] {
        let recipients = addresses.into_iter().map(recipient).collect();
        client
            .create_list(&List {
                name: name.into(),
                recipients,
            })
            .await?;
    }
    Ok(())
}

/// Retries after a second, so that the demo does not take minutes.
pub fn provider(id: &str, kind: &str, settings: Value) -> ProviderDraft {
    ProviderDraft {
        id: Some(id.into()),
        kind: kind.into(),
        settings: settings.as_object().cloned().unwrap_or_else(Map::new),
        retry: Some(
            json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "jitter": 0.0, "maxAttempts": 10 }),
        ),
        ..ProviderDraft::default()
    }
}

fn recipient(address: &str) -> Recipient {
    Recipient {
        name: None,
        address: address.into(),
        channel: None,
        enabled: true,
    }
}
