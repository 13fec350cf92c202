//! Receipts over real sockets: a node, a simulated service that tells late, twice and in any order, and what the node makes
//! of it. Neither its answers nor its log give the callback address away.

use crate::{
    node::{Node, Setup},
    size,
};
use client::{Channel, Client, Notification, NotificationId, ProviderDraft};
use domain::Status;
use serde_json::{Value, json};
use simulator::{
    HttpOptions, HttpReceiver, ReceiptPlan,
    receipts::{CallbackPlace, ReceiptCounts},
};
use std::{net::SocketAddr, path::Path, time::Duration};
use testkit::{ports::an_address, until};

const APP_SECRET: &str = "meta-app-secret-0123456789";
const AUTH_TOKEN: &str = "twilio-auth-token-01234567";

/// A node that knows where the outside reaches it.
async fn node(folder: &Path, address: SocketAddr) -> Node {
    let mut setup = Setup::sqlite(folder);
    setup.env = vec![
        ("WAYPOST_SERVER__LISTEN".into(), address.to_string()),
        ("WAYPOST_SERVER__PUBLIC_URL".into(), format!("http://{address}")),
    ];
    Node::start(&setup).await
}

async fn until_told(far_end: &HttpReceiver, taken: u64) {
    let all = ReceiptCounts { taken, refused: 0 };
    until("all receipts to be told", async || {
        far_end.receipts().counts() == all
    })
    .await;
}

async fn provider(client: &Client, id: &str, kind: &str, settings: Value) -> String {
    let draft = ProviderDraft {
        id: Some(id.into()),
        kind: kind.into(),
        settings: settings.as_object().cloned().unwrap(),
        ..ProviderDraft::default()
    };
    client.create_provider(&draft).await.unwrap();
    client.new_callback(id).await.unwrap().url
}

/// Both services, set up to tell about everything; the secret addresses.
async fn services(client: &Client, far_end: &HttpReceiver) -> Vec<String> {
    let settings = json!({"accountSid": "AC0123", "authToken": AUTH_TOKEN, "from": "+15017122661",
        "apiUrl": far_end.url("/twilio")});
    let sms = provider(client, "sms", "twilio", settings).await;
    let settings = json!({"phoneNumberId": "1065", "token": "EAAJB-secret-secret", "appSecret": APP_SECRET,
        "apiUrl": far_end.url("/meta")});
    let whatsapp = provider(client, "wa", "meta", settings).await;
    let place = |url: Option<&String>, secret: &str| CallbackPlace {
        url: url.cloned(),
        secret: secret.into(),
    };
    far_end.receipts().place("twilio", place(None, AUTH_TOKEN));
    far_end
        .receipts()
        .place("meta", place(Some(&whatsapp), APP_SECRET));
    vec![sms, whatsapp]
}

async fn send(client: &Client, n: u64) -> Vec<NotificationId> {
    let mut ids = vec![];
    for i in 0..n {
        let channel = if i % 2 == 0 {
            Channel::Sms
        } else {
            Channel::WhatsApp
        };
        let notification = Notification::to(["+919876543210"])
            .channel(channel)
            .subject("Pump 3 is hot")
            .body("87 degrees");
        ids.push(client.submit(&notification).await.unwrap().notification_id);
    }
    ids
}

async fn until_each(client: &Client, ids: &[NotificationId], status: Status, receipt: &str) {
    for id in ids {
        let what = format!("{id} to be {status} and {receipt}");
        until(&what, async || {
            let now = client.status(*id).await.unwrap();
            now.status == status && now.receipt.as_deref() == Some(receipt)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn late_twice_and_in_any_order_receipts_come_to_what_is_true() {
    let folder = tempfile::tempdir().unwrap();
    let node = node(folder.path(), an_address()).await;
    let far_end = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let addresses = services(&node.client, &far_end).await;
    let receipts = far_end.receipts();
    receipts.tell(Some(ReceiptPlan {
        states: ["accepted", "failed", "delivered", "read"]
            .map(str::to_owned)
            .to_vec(),
        shuffled: true,
        twice: true,
        ..ReceiptPlan::default()
    }));
    let n = size::pick(20, 400);
    let ids = send(&node.client, n).await;
    until_each(&node.client, &ids, Status::Delivered, "read").await;
    receipts.tell(Some(ReceiptPlan {
        states: vec!["failed".into()],
        after: Duration::from_millis(50),
        ..ReceiptPlan::default()
    }));
    let failed = send(&node.client, n).await;
    until_each(&node.client, &failed, Status::Parked, "failed").await;
    until_told(&far_end, 9 * n).await;
    assert_eq!(
        far_end.counts().taken,
        2 * n,
        "nothing is sent again because of a receipt"
    );
    let shown = node.client.notification(failed[0]).await.unwrap();
    let shown = format!("{shown:?} {:?}", node.client.providers().await.unwrap());
    let log = std::fs::read_to_string(&node.log).unwrap();
    for address in &addresses {
        let secret = address.rsplit('/').next().unwrap();
        assert!(!shown.contains(secret) && !log.contains(secret));
    }
    assert_eq!(node.stop().await, 0);
}

/// A receipt that was answered is on disk. It also proves what the killed process had sent and not recorded: parked as
/// ambiguous by the next one, and completed by the receipt instead of by a second message that costs money.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_survives_a_kill_and_proves_what_nobody_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let address = an_address();
    let first = node(folder.path(), address).await;
    let far_end = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    services(&first.client, &far_end).await;
    far_end.receipts().tell(Some(ReceiptPlan {
        states: vec!["delivered".into()],
        ..ReceiptPlan::default()
    }));
    let n = size::pick(40, 1_000);
    let ids = send(&first.client, n).await;
    until_told(&far_end, n).await;
    first.kill();
    let second = node(folder.path(), address).await;
    until_each(&second.client, &ids, Status::Delivered, "delivered").await;
    assert_eq!(far_end.counts().taken, n, "nobody has it twice");
    assert_eq!(second.stop().await, 0);
}
