//! A real Apprise API server as the far end: `WAYPOST_TEST_APPRISE` names one that may reach this machine, `scripts/test --soak`
//! runs this then.

use crate::{
    far_end,
    node::{Node, Setup},
};
use client::{Channel, Notification, NotificationId, ProviderDraft};
use domain::Status;
use serde_json::json;
use simulator::http::HttpRule;
use testkit::until;

async fn send(node: &Node, body: &str) -> NotificationId {
    let message = Notification::default().channel(Channel::Apprise);
    let message = message.subject("Boiler").body(body);
    node.client.submit(&message).await.unwrap().notification_id
}

#[tokio::test]
#[ignore = "needs a real Apprise API: WAYPOST_TEST_APPRISE=http://127.0.0.1:8000 scripts/test --soak"]
async fn a_real_apprise_api_passes_on_what_it_is_sent_and_says_when_it_could_not() {
    let server = std::env::var("WAYPOST_TEST_APPRISE").expect("WAYPOST_TEST_APPRISE: where the server is");
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&Setup::sqlite(folder.path())).await;
    let behind_it = far_end::receiver().await;
    let target = format!("json://{}/boiler", behind_it.address());
    let settings = json!({ "server": server, "target": target });
    let draft = ProviderDraft {
        id: Some("other".into()),
        kind: "apprise".into(),
        settings: settings.as_object().cloned().unwrap(),
        retry: Some(json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "unknownRetries": 1 })),
        ..ProviderDraft::default()
    };
    node.client.create_provider(&draft).await.unwrap();

    let id = send(&node, "93 degrees").await;
    until("the message to arrive", async || {
        node.client.status(id).await.unwrap().status == Status::Delivered
    })
    .await;
    let got = behind_it.requests();
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(got[0].path, "/boiler");
    assert_eq!(got[0].json()["title"], "Boiler");
    assert_eq!(got[0].json()["message"], "93 degrees");

    behind_it.on(HttpRule::status(500));
    let id = send(&node, "94 degrees").await;
    until("it to be given up", async || {
        node.client.status(id).await.unwrap().status == Status::Parked
    })
    .await;
    let report = node.client.status(id).await.unwrap();
    assert_eq!(report.error_code.as_deref(), Some("UNKNOWN"), "{report:?}");
    assert_eq!(report.retry_count, 2, "once more, then a person looks at it");
}
