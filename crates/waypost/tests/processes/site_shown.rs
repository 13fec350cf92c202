//! What a pair shows of itself, wherever somebody looks: which machine is active, the lease and who gave it, how far the copy is, when
//! the other was heard of, and what is on one machine alone. While the pair stands, and after the active one was lost.

use crate::{
    node::Node,
    site_agent::AgentProcess,
    site_takeover::{a_central_giving, a_pair, has_lease, paired_site},
    site_until::{is_a, is_whole, pair_of, until},
};
use client::{SitePair, site::Notify};
use std::process::Command;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Nothing while it starts anew.
async fn text(agent: &AgentProcess, path: &str) -> std::io::Result<String> {
    let address = agent.listens_at();
    let mut stream = TcpStream::connect(&address).await?;
    let request = format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// Until a page of the agent says all of that. What it has heard is a moment old, also that somebody did not answer in time.
async fn comes_to_show(agent: &AgentProcess, path: &str, words: &[&str]) {
    let what = format!("{path} to show {words:?}");
    until(&what, agent, async || {
        let shown = text(agent, path).await.unwrap_or_default();
        words.iter().all(|word| shown.contains(word))
    })
    .await;
}

/// The same of a gauge of the agent's, with these labels besides the site.
async fn comes_to_be(agent: &AgentProcess, name: &str, labels: &str, is_so: impl Fn(f64) -> bool) {
    let mut found: Option<f64> = None;
    let what = format!("{name} with {labels}");
    until(&what, agent, async || {
        let all = text(agent, "/metrics").await.unwrap_or_default();
        let now = all.lines().find_map(|line| {
            let rest = line.strip_prefix(name)?.strip_prefix('{')?;
            let (with, value) = rest.split_once("} ")?;
            with.contains(labels).then(|| value.parse().unwrap())
        });
        if now != found {
            println!("{what} is {now:?}");
            found = now;
        }
        now.is_some_and(&is_so)
    })
    .await;
}

/// As central was told, once it was told so.
async fn reported(central: &Node, what: &str, agent: &AgentProcess, is_so: impl Fn(&SitePair) -> bool) {
    until(what, agent, async || {
        let sites = central.client.sites().await.unwrap_or_default();
        let pair = sites.into_iter().find_map(|site| site.report?.pair);
        pair.is_some_and(|pair| is_so(&pair))
    })
    .await;
}

/// What `waypost sites` prints.
fn listed(central: &Node) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .arg("sites")
        .env("WAYPOST_URL", central.client.url())
        .env("WAYPOST_API_KEY", crate::node::KEY)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Until `waypost sites` says all of that: central is told now and then.
async fn comes_to_list(central: &Node, agent: &AgentProcess, words: &[&str]) {
    let what = format!("`waypost sites` to say {words:?}");
    until(&what, agent, async || {
        let shown = listed(central);
        words.iter().all(|word| shown.contains(word))
    })
    .await;
}

async fn stands(central: &Node, active: &AgentProcess, standby: &AgentProcess) {
    has_lease("Standby", active).await;
    is_whole(standby).await;
    let words = [
        "<span class=\"good\">active</span>",
        "north-b is the standby. Heard ",
        "The standby gave the lease, for ",
    ];
    comes_to_show(active, "/", &words).await;
    let words = ["the <strong>standby</strong>", "north-a is active. Heard "];
    comes_to_show(standby, "/", &words).await;
    for (agent, is_active) in [(active, 1.0), (standby, 0.0)] {
        for (name, labels, value) in [
            ("waypost_site_active", "", is_active),
            ("waypost_site_lease", "by=\"Standby\"", is_active),
            ("waypost_site_lease", "by=\"Central\"", 0.0),
            ("waypost_site_peer_reachable", "", 1.0),
            ("waypost_site_copy_behind", "", 0.0),
            ("waypost_site_own_rows", "", 0.0),
        ] {
            comes_to_be(agent, name, labels, |now| now == value).await;
        }
        for name in [
            "waypost_site_peer_silent_seconds",
            "waypost_site_copy_behind_seconds",
        ] {
            comes_to_be(agent, name, "", |now| now < 60.0).await;
        }
    }
    reported(central, "central to know of the standby", active, |pair| {
        let names = (pair.role.as_str(), pair.other.as_deref());
        names == ("Active", Some("north-b"))
            && pair.other_role.as_deref() == Some("Standby")
            && pair.lease_by.as_deref() == Some("Standby")
            && (pair.behind.is_some(), pair.behind_seconds.is_some()) == (true, true)
            && (pair.last_contact_at.is_some(), pair.own_rows.is_some()) == (true, true)
            && pair.trouble.is_none()
    })
    .await;
    let words = ["active north-a; standby north-b", "heard ", "lease by Standby"];
    comes_to_list(central, active, &words).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pair_says_the_same_of_itself_wherever_one_looks_also_after_a_takeover() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough for a message to be kept by the standby, and to be seen there, before it takes over.
    let lease = "20s";
    let central = a_central_giving(lease, folder.path()).await;
    let north = paired_site(&central, folder.path(), "north")
        .await
        .of_lease(lease);
    let [active, standby] = a_pair(&north).await;
    stands(&central, &active, &standby).await;
    active.kill();
    until("the standby to notice", &standby, async || {
        let pair = standby.site.pair().await;
        pair.is_ok_and(|pair| pair.other.trouble.is_some())
    })
    .await;
    Notify::to("ops")
        .send(&standby.site, "Tank is full", "98 %")
        .await
        .unwrap();
    assert_eq!(pair_of(&standby).await.own_rows, Some(1));
    comes_to_be(&standby, "waypost_site_own_rows", "", |now| now == 1.0).await;
    let words = ["north-a cannot be asked", "1 message is on this machine alone"];
    comes_to_show(&standby, "/", &words).await;
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    let words = [
        "<span class=\"good\">active</span>",
        "cannot be asked",
        "Central gave the lease, for ",
    ];
    comes_to_show(&standby, "/", &words).await;
    for (name, labels, value) in [
        ("waypost_site_active", "", 1.0),
        ("waypost_site_lease", "by=\"Central\"", 1.0),
        ("waypost_site_peer_reachable", "", 0.0),
    ] {
        comes_to_be(&standby, name, labels, |now| now == value).await;
    }
    reported(&central, "central to know who took over", &standby, |pair| {
        pair.role == "Active" && pair.lease_by.as_deref() == Some("Central") && pair.trouble.is_some()
    })
    .await;
    let words = ["active north-b; ", "lease by Central", "no standby: "];
    comes_to_list(&central, &standby, &words).await;
}
