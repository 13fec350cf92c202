//! What people at the machine and at central see of a site, and what they can do: over the command line.

use crate::{
    node::{KEY, Node, Setup},
    site_agent::{AgentProcess, SiteSetup},
};
use client::site::Notify;
use domain::{TrackedOperationId, site::OperationStatus};
use serde_json::Value;
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::{
    process::{Command, Output},
    time::Duration,
};
use testkit::until;

fn waypost(node: &Node, agent: &AgentProcess, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(args)
        .env("WAYPOST_URL", node.client.url())
        .env("WAYPOST_API_KEY", KEY)
        .env("WAYPOST_SITE_URL", agent.site.url())
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Central, a site, and a system that it calls.
struct Place {
    node: Node,
    erp: HttpReceiver,
    agent: AgentProcess,
    /// Goes when all of them have ended.
    _folder: tempfile::TempDir,
}

impl Place {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let node = Node::start(&Setup::sqlite(folder.path())).await;
        let key = node.client.register_site("north").await.unwrap().key;
        let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
        let history = folder.path().join("history.db");
        std::fs::write(&history, b"").unwrap();
        let setup = SiteSetup {
            id: "north".into(),
            folder: folder.path().into(),
            central: format!("http://{}", node.link),
            key,
            more: format!(
                "[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n[[site.connection]]\nname = \"history\"\nurl = {:?}\n",
                erp.url("/"),
                format!("sqlite://{}", history.display())
            ),
        };
        let agent = AgentProcess::start(&setup).await;
        Self {
            node,
            erp,
            agent,
            _folder: folder,
        }
    }

    fn waypost(&self, args: &[&str]) -> Output {
        waypost(&self.node, &self.agent, args)
    }

    /// So many calls that the system refuses for good.
    async fn parked(&self, n: u64) -> Vec<TrackedOperationId> {
        self.erp.on(HttpRule::status(400));
        let mut ids = vec![];
        for _ in 0..n {
            let call = self.agent.site.call("erp").post("/orders").already_tried();
            ids.push(call.send().await.unwrap().tracked_operation_id);
        }
        until("all to be parked", async || {
            self.agent.site.health().await.unwrap().parked == n
        })
        .await;
        ids
    }

    async fn online(&self) {
        until("the site to be online", async || {
            self.node.client.site("north").await.unwrap().presence == "Online"
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_messages_are_seen_and_acted_on_at_the_site_and_through_central() {
    let place = Place::start().await;
    let site = &place.agent.site;
    let ids = place.parked(2).await;
    let listed = json(&place.waypost(&["parked", "list", "--json"]));
    assert_eq!(listed["total"], 2);
    // Central is asked by its own list, and asks the site.
    place.online().await;
    let listed = json(&place.waypost(&["parked", "--site", "north", "list", "--json"]));
    assert_eq!(listed["items"][0]["messageId"], ids[0].to_string());
    place.erp.behave();
    let plain = ids[0].0.simple().to_string();
    let retried = place.waypost(&["parked", "--site", "north", "retry", &plain]);
    assert!(
        retried.status.success(),
        "{}",
        String::from_utf8_lossy(&retried.stderr)
    );
    let discarded = place.waypost(&["parked", "discard", &ids[1].to_string()]);
    assert!(discarded.status.success());
    let again = place.waypost(&["parked", "discard", &ids[1].to_string()]);
    assert_eq!(again.status.code(), Some(3), "it is gone");
    until("the call to be made", async || {
        site.tracking(ids[0]).await.unwrap().status == OperationStatus::Delivered
    })
    .await;
    assert_eq!(
        site.tracking(ids[1]).await.unwrap().status,
        OperationStatus::Discarded
    );
    let sites = json(&place.waypost(&["sites", "--json"]));
    assert_eq!(
        (sites[0]["id"].as_str(), sites[0]["presence"].as_str()),
        (Some("north"), Some("Online"))
    );
    until("central to have heard how both ended", async || {
        let calls = json(&place.waypost(&["sites", "calls", "north", "--json"]));
        let statuses = calls.as_array().unwrap().iter().map(|call| &call["status"]);
        let mut statuses: Vec<_> = statuses.filter_map(Value::as_str).collect();
        statuses.sort_unstable();
        statuses == ["Delivered", "Discarded"]
    })
    .await;
    let listed = place.waypost(&["sites", "calls", "--status", "Delivered", "--target", "erp"]);
    let said = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        said.contains("north") && said.contains("erp") && said.contains("Delivered"),
        "{said}"
    );
    assert!(!said.contains("Discarded"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_parked_messages_some_are_named_and_the_rest_goes_by_a_filter_through_central() {
    let place = Place::start().await;
    let site = &place.agent.site;
    let ids: Vec<String> = place.parked(4).await.iter().map(ToString::to_string).collect();
    let table = place.waypost(&["parked", "list"]);
    assert!(
        String::from_utf8_lossy(&table.stdout).contains("POST /orders"),
        "{table:?}"
    );
    // One that will not do is named, the others are done.
    let some = place.waypost(&["parked", "discard", &ids[0], "no-guid", &ids[1]]);
    let said = String::from_utf8_lossy(&some.stderr);
    assert!(!some.status.success() && said.contains("no-guid: "), "{said}");
    assert_eq!(site.health().await.unwrap().parked, 2);
    // What is left by a filter through central: a job there, steps at the site.
    place.online().await;
    let filter = ["parked", "--site", "north", "discard", "--filter", "target=erp"];
    let asked = place.waypost(&filter);
    assert_eq!(asked.status.code(), Some(2), "there is nobody to ask");
    until(
        "central to have heard of them, and the doctor to say so",
        async || {
            let doctor = place.waypost(&["doctor"]);
            let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
            doctor.status.code() == Some(1) && said.contains("2 messages are parked at site north")
        },
    )
    .await;
    let given_up = place.waypost(&[&filter[..], &["--yes"]].concat());
    let said = String::from_utf8_lossy(&given_up.stdout);
    assert!(
        given_up.status.success() && said.contains("2 of 2 done"),
        "{given_up:?}"
    );
    assert_eq!(site.health().await.unwrap().parked, 0);
    let none = place.waypost(&["parked", "retry", "--all", "--yes"]);
    assert!(none.status.success(), "{none:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_writes_and_sends_and_central_says_when_it_is_gone() {
    let place = Place::start().await;
    let site = &place.agent.site;
    let statement = ["create", "table readings (tag text)"].join(" ");
    let write = site.write("history", statement).send().await.unwrap();
    assert!(write.accepted && !write.was_buffered, "{write:?}");
    let id = Notify::to("ops").send(site, "full", "98 %").await.unwrap();
    until("central to have it", async || {
        site.status(id).await.unwrap().place.as_deref() == Some("central")
    })
    .await;
    let Place {
        node, agent, _folder, ..
    } = place;
    drop(agent);
    until("the site to be missed", async || {
        node.client.site("north").await.unwrap().presence == "Offline"
    })
    .await;
    let nowhere = node
        .client
        .site_parked("north", 10, None)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        nowhere.contains("503") || nowhere.contains("not connected"),
        "{nowhere}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_buffer_that_is_deleted_under_its_agent_loses_nothing_and_central_sees_the_damage() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&Setup::sqlite(folder.path())).await;
    let key = node.client.register_site("north").await.unwrap().key;
    let setup = SiteSetup {
        id: "north".into(),
        folder: folder.path().into(),
        // Nobody is there yet, so that everything waits.
        central: "http://127.0.0.1:1".into(),
        key,
        more: String::new(),
    };
    let agent = AgentProcess::start(&setup).await;
    let mut ids = vec![];
    for n in 0..50 {
        ids.push(
            Notify::to("ops")
                .send(&agent.site, format!("n{n}"), "x")
                .await
                .unwrap(),
        );
    }
    std::fs::remove_file(folder.path().join("north.db")).unwrap();
    let refused = Notify::to("ops").send(&agent.site, "late", "x").await;
    assert!(refused.is_err(), "nothing is acknowledged any more: {refused:?}");
    assert_ne!(agent.ended().await, 0, "it ends loudly");
    let central = format!("http://{}", node.link);
    let agent = AgentProcess::start(&SiteSetup { central, ..setup }).await;
    agent.drained().await;
    for id in ids {
        node.client.status(id).await.unwrap();
    }
    let damage = || async {
        node.client
            .site("north")
            .await
            .unwrap()
            .report
            .map(|r| r.damage)
            .unwrap_or_default()
    };
    until("central to hear of the damage", async || {
        !damage().await.is_empty()
    })
    .await;
    let listed = json(&waypost(&node, &agent, &["site", "damage", "--json"]));
    assert!(
        listed[0]["what"].as_str().unwrap().contains("in its place again"),
        "{listed}"
    );
    let file = folder.path().join("north.db.damaged-by-hand");
    std::fs::copy(folder.path().join("north.db"), &file).unwrap();
    let recovered = waypost(&node, &agent, &["site", "recover", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&recovered.stdout).into_owned();
    assert!(
        said.starts_with("0 brought back, "),
        "nothing is sent twice: {said}"
    );
    assert!(waypost(&node, &agent, &["site", "acknowledge"]).status.success());
    until("central to hear that it was seen", async || {
        damage().await.is_empty()
    })
    .await;
    assert_eq!(agent.site.health().await.unwrap().status, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_seen_tried_and_given_up_through_central() {
    let place = Place::start().await;
    let site = &place.agent.site;
    place.erp.on(HttpRule::status(503));
    let mut ids = vec![];
    for _ in 0..2 {
        let call = site.call("erp").post("/orders");
        let sent = call.retry_interval(Duration::from_secs(3600)).send().await;
        ids.push(sent.unwrap().tracked_operation_id);
    }
    place.online().await;
    let through = |args: &[&str]| place.waypost(&[&["waiting", "--site", "north"], args].concat());
    let listed = json(&through(&["list", "--json", "--limit", "1"]));
    assert_eq!(
        (listed["total"].as_u64(), listed["items"][0]["messageId"].as_str()),
        (Some(2), Some(ids[0].to_string().as_str()))
    );
    let first = ids[0].0.simple().to_string();
    let failed = through(&["try", &first]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(
        failed.status.success() && said.contains("is Retrying: HTTP_503"),
        "{said}"
    );
    place.erp.behave();
    let tried = through(&["try", "no-guid", &first]);
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    assert_eq!(
        tried.status.code(),
        Some(3),
        "the first of two is no message: {said}"
    );
    assert!(said.contains(&format!("{first} is Delivered")), "{said}");
    assert!(through(&["discard", &ids[1].to_string()]).status.success());
    assert_eq!(
        site.tracking(ids[0]).await.unwrap().status,
        OperationStatus::Delivered
    );
    let discarded = site.tracking(ids[1]).await.unwrap();
    assert_eq!(discarded.status, OperationStatus::Discarded);
    assert!(discarded.actor.is_some_and(|who| who.starts_with("key:")));
    let nothing = through(&["list"]);
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(said.contains("nothing waits there"), "{said}");
    let events = through(&["events", &first]);
    let said = String::from_utf8_lossy(&events.stderr).into_owned();
    assert_eq!(events.status.code(), Some(2), "{said}");
    assert!(said.contains("on its own machine"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_seen_tried_and_given_up_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&Setup::sqlite(folder.path())).await;
    let key = node.client.register_site("north").await.unwrap().key;
    let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    erp.on(HttpRule::status(503));
    let setup = SiteSetup {
        id: "north".into(),
        folder: folder.path().into(),
        central: format!("http://{}", node.link),
        key,
        more: format!("[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n", erp.url("/")),
    };
    let agent = AgentProcess::start(&setup).await;
    let mut ids = vec![];
    for _ in 0..2 {
        let call = agent.site.call("erp").post("/orders");
        let sent = call.retry_interval(Duration::from_secs(3600)).send().await;
        ids.push(sent.unwrap().tracked_operation_id.to_string());
    }
    let listed = json(&waypost(&node, &agent, &["waiting", "list", "--json"]));
    assert_eq!(
        (listed["total"].as_u64(), listed["items"][1]["messageId"].as_str()),
        (Some(2), Some(ids[1].as_str()))
    );
    erp.behave();
    let tried = waypost(&node, &agent, &["waiting", "try", "no-guid", &ids[0]]);
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    assert_eq!(tried.status.code(), Some(2), "the first of two was no id: {said}");
    assert!(
        said.contains("no-guid: ") && said.contains(&format!("{} is Delivered", ids[0])),
        "{said}"
    );
    let discarded = waypost(&node, &agent, &["waiting", "discard", &ids[1]]);
    assert!(discarded.status.success());
    let followed = json(&waypost(&node, &agent, &["waiting", "events", &ids[1], "--json"]));
    let what: Vec<_> = followed.as_array().unwrap().iter().map(|e| &e["what"]).collect();
    assert_eq!(what, ["Discard", "Queued"]);
    drop(agent);

    // An agent with a token says what is missing, and where it is looked for.
    let setup = SiteSetup {
        more: "api_token = \"a-token-nobody-guesses\"\n".into(),
        ..setup
    };
    let locked = AgentProcess::start(&setup).await;
    let refused = waypost(&node, &locked, &["waiting", "list"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success());
    assert!(
        said.contains("site.api_token") && said.contains("WAYPOST_SITE_TOKEN"),
        "{said}"
    );
}
