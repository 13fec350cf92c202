//! Asking the standby where a notification is: what is in its copy it tells, and of what is at central only the active one can.

use crate::{
    central::identity,
    pair_world::{Live, a_pair, notify, world},
};
use domain::{SystemClock, pair::Role};
use link::{NOT_HOLDER, SiteCommands};
use reqwest::StatusCode;
use serde_json::Value;
use site::{
    api::{Access, Api, Listening, serve},
    categories::{CachedDbWrites, ExternalSystems, Targets},
};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};
use store::buffer::{Handed, MessageId};
use tokio_util::sync::CancellationToken;

/// Central acknowledges it to this machine.
async fn hands_over(live: &Live, id: MessageId) {
    let agent = live.becomes(Role::Active).await;
    let buffer = &agent.site.buffer;
    let central = identity("one");
    buffer.met_central(&central).await.unwrap();
    let acked = vec![buffer.message(id).await.unwrap().unwrap().seq];
    let handed = Handed {
        acked,
        refused: vec![],
    };
    assert!(buffer.handed_over(&central, handed).await.unwrap());
}

async fn asked(address: SocketAddr, id: MessageId) -> (StatusCode, Value) {
    let url = format!("http://{address}/notify/{id}");
    let answer = reqwest::get(url).await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn a_standby_does_not_say_that_there_is_no_central_but_who_can_be_asked() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let world = world();
    let (a, b) = a_pair(&world).await;
    let ids = notify(&a, 2).await;
    // It starts anew when it has made a whole copy, and then hears who the other is.
    testkit::until("it follows and knows the other", async || {
        let Some(agent) = b.agent() else { return false };
        let status = agent.site.pair().unwrap().status().await;
        status.caught_up && status.other.name.is_some()
    })
    .await;
    b.holds(2).await;
    hands_over(&a, ids[0]).await;
    b.holds(1).await;
    let agent = b.becomes(Role::Standby).await;
    let stop = CancellationToken::new();
    let api = Api {
        agent,
        targets: Targets {
            systems: Arc::new(ExternalSystems::new(BTreeMap::new(), Arc::new(SystemClock))),
            connections: Arc::new(CachedDbWrites::new(BTreeMap::new())),
        },
        metrics: None,
        access: Access::local(),
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let Listening { address, server } = serve(api, any, stop.clone()).await.unwrap();
    let (_, waits) = asked(address, ids[1]).await;
    assert_eq!(waits["status"], "Forwarding");
    testkit::until("it to know that the other has left", async || {
        asked(address, ids[0]).await.1["status"] == "Unknown"
    })
    .await;
    let (status, left) = asked(address, ids[0]).await;
    assert_eq!(
        (status, &left["status"]),
        (StatusCode::OK, &Value::from("Unknown"))
    );
    assert!(left["handedOverAt"].is_string(), "{left}");
    let (status, unseen) = asked(address, MessageId::from(domain::NotificationId::mint())).await;
    assert_eq!(
        (status, &unseen["code"]),
        (StatusCode::SERVICE_UNAVAILABLE, &Value::from("standby"))
    );
    for said in [left, unseen] {
        let words = said["detail"].as_str().unwrap();
        assert!(
            words.contains("standby") && words.contains("ask north-a"),
            "{words}"
        );
    }
    stop.cancel();
    server.await.unwrap().unwrap();
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_standby_leaves_what_waits_to_the_active_machine_also_where_its_copy_lacks_it() {
    let world = world();
    let (_a, b) = a_pair(&world).await;
    let commands = site::Commands(b.becomes(Role::Standby).await.site.clone());
    let id = MessageId::from(domain::NotificationId::mint()).to_string();
    for acted in [
        commands.try_waiting(&id, "user:bo").await,
        commands.discard_waiting(&id, "user:bo").await,
    ] {
        assert!(
            acted.as_ref().is_err_and(|why| why.contains(NOT_HOLDER)),
            "{acted:?}"
        );
    }
}
