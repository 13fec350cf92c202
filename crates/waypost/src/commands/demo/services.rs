//! The push, chat, SMS and WhatsApp services, each played by the demo's HTTP far end.

use super::world::World;
use client::{Client, Notification};
use serde_json::{Value, json};
use simulator::HttpReceiver;

/// One service of the demo: a provider of its kind, and what a message through it needs.
struct Service {
    kind: &'static str,
    settings: fn(&str) -> Value,
    to: Option<&'static str>,
    /// For services that send approved templates only.
    with_template: bool,
}

const PHONE: Option<&str> = Some("+919876543210");

const SERVICES: &[Service] = &[
    plain("ntfy", |url| json!({ "server": url, "topic": "plant-7-alarms" })),
    plain(
        "slack",
        |url| json!({ "url": format!("{url}/services/T00000000/B00000000/demo") }),
    ),
    plain(
        "discord",
        |url| json!({ "url": format!("{url}/api/webhooks/1300000000000000000/demo") }),
    ),
    plain(
        "teams",
        |url| json!({ "url": format!("{url}/workflows/demo/triggers/manual/paths/invoke?sig=demo") }),
    ),
    plain(
        "telegram",
        |url| json!({ "apiUrl": url, "token": "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc", "chatId": "-1001234567890" }),
    ),
    plain(
        "pushover",
        |url| json!({ "apiUrl": url, "token": "azGDORePK8gMaC0QOYAMyEEuzJnyUi", "user": "uQiRzpo4DXghDmr9QzzfQu27cmVRsG" }),
    ),
    plain(
        "pushbullet",
        |url| json!({ "apiUrl": url, "token": "o.AbCdEfGhIjKlMnOpQrStUvWxYz012345" }),
    ),
    plain(
        "homeassistant",
        |url| json!({ "url": url, "token": "demo-demo-demo-demo", "service": "notify.mobile_app_phone" }),
    ),
    plain(
        "apprise",
        |url| json!({ "server": url, "target": "tgram://123456789:demo/chat" }),
    ),
    Service {
        kind: "twilio",
        settings: |url| {
            json!({ "apiUrl": url, "accountSid": "AC0123456789abcdef0123456789abcdef",
                    "authToken": "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "from": "+15017122661" })
        },
        to: PHONE,
        with_template: false,
    },
    templated("msg91", |url| {
        json!({ "apiUrl": url, "authkey": "123456AbCdEfGhIjKlMn", "sender": "PLANTS",
                "templates": { "hot": "64f0a1b2c3d4e5f60718293a" } })
    }),
    templated("meta", |url| {
        json!({ "apiUrl": url, "phoneNumberId": "106540352242922", "token": "EAAJB-demo-demo-demo-0123456789",
                "templates": { "hot": "machine_hot language=en_US" } })
    }),
    templated("interakt", |url| {
        json!({ "apiUrl": url, "apiKey": "ZGVtby1kZW1vLWRlbW8tZGVtby1kZW1vOg==",
                "templates": { "hot": "machine_hot language=en" } })
    }),
];

/// Settings alone say where it goes.
const fn plain(kind: &'static str, settings: fn(&str) -> Value) -> Service {
    Service {
        kind,
        settings,
        to: None,
        with_template: false,
    }
}

const fn templated(kind: &'static str, settings: fn(&str) -> Value) -> Service {
    Service {
        kind,
        settings,
        to: PHONE,
        with_template: true,
    }
}

pub fn kinds() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().map(|service| service.kind)
}

/// A provider for each, called like its kind.
pub async fn set_up(client: &Client, far_end: &HttpReceiver) -> client::Result<()> {
    for service in SERVICES {
        let url = far_end.url(&format!("/{}", service.kind));
        let settings = (service.settings)(&url);
        let draft = super::setup::provider(service.kind, service.kind, settings);
        client.create_provider(&draft).await?;
    }
    Ok(())
}

/// One message through each.
pub fn messages() -> impl Iterator<Item = Notification> {
    SERVICES.iter().map(|service| {
        let message = match service.to {
            Some(number) => Notification::to([number]).provider(service.kind),
            None => Notification::by_provider(service.kind),
        };
        let message = message.subject("Pump 3 is hot").body("87 °C, and still rising.");
        match service.with_template {
            true => message.type_data(json!({ "template": { "name": "hot", "params": ["Pump 3", "87"] } })),
            false => message,
        }
    })
}

/// How often the service was asked for anything.
pub fn requests_to(world: &World, kind: &str) -> u64 {
    let below = format!("/{kind}/");
    let all = world.far_ends.http.requests();
    all.iter()
        .filter(|request| request.path.starts_with(&below))
        .count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use delivery::{Outside, Registry, capture::Captured};
    use std::{collections::BTreeSet, sync::Arc};

    #[test]
    fn the_demo_sends_through_every_kind_there_is() {
        let outside = Outside::new(Arc::new(domain::SystemClock));
        let registry = Registry::standard(Arc::new(outside), Captured::default());
        let all: BTreeSet<_> = registry.iter().map(|kind| kind.info().kind).collect();
        let shown: BTreeSet<_> = kinds().chain(["smtp", "webhook", "capture"]).collect();
        assert_eq!(shown, all);
    }
}
