//! What a pair shows of itself, wherever somebody looks: which machine is active, the lease and who gave it, how far the copy is, when
//! the other was heard of, and what is on one machine alone. While the pair stands, and after the active one was lost.

use crate::{
    node::Node,
    site_agent::AgentProcess,
    site_pair::{is_a, is_whole, until},
    site_takeover::{a_central_giving, a_pair, has_lease, paired_site},
};
use client::{SitePair, site::Notify};
use std::process::Command;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

async fn text(agent: &AgentProcess, path: &str) -> String {
    let address = agent.listens_at();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// One gauge of the agent's, with these labels besides the site.
async fn gauge(agent: &AgentProcess, name: &str, labels: &str) -> f64 {
    let all = text(agent, "/metrics").await;
    let line = all.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix('{')?;
        let (found, value) = rest.split_once("} ")?;
        found.contains(labels).then(|| value.parse().unwrap())
    });
    line.unwrap_or_else(|| panic!("no {name} with {labels} in\n{all}"))
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

fn has_all_of(shown: &str, words: &[&str]) {
    for word in words {
        assert!(shown.contains(word), "{word:?} is not in\n{shown}");
    }
}

async fn stands(central: &Node, active: &AgentProcess, standby: &AgentProcess) {
    has_lease("Standby", active).await;
    is_whole(standby).await;
    let shown = text(active, "/").await;
    has_all_of(
        &shown,
        &[
            "<span class=\"good\">active</span>",
            "north-b is the standby. Heard ",
            "The standby gave the lease, for ",
        ],
    );
    let shown = text(standby, "/").await;
    has_all_of(
        &shown,
        &["the <strong>standby</strong>", "north-a is active. Heard "],
    );
    for (agent, is_active) in [(active, 1.0), (standby, 0.0)] {
        assert_eq!(gauge(agent, "waypost_site_active", "").await, is_active);
        assert_eq!(
            gauge(agent, "waypost_site_lease", "by=\"Standby\"").await,
            is_active
        );
        assert_eq!(gauge(agent, "waypost_site_lease", "by=\"Central\"").await, 0.0);
        assert_eq!(gauge(agent, "waypost_site_peer_reachable", "").await, 1.0);
        assert_eq!(gauge(agent, "waypost_site_copy_behind", "").await, 0.0);
        assert_eq!(gauge(agent, "waypost_site_own_rows", "").await, 0.0);
        let silent = gauge(agent, "waypost_site_peer_silent_seconds", "").await;
        assert!(silent < 60.0, "{silent}");
        let lag = gauge(agent, "waypost_site_copy_behind_seconds", "").await;
        assert!(lag < 60.0, "{lag}");
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
    let central = a_central_giving("8s", folder.path()).await;
    let mut north = paired_site(&central, folder.path(), "north").await;
    for setup in &mut north.setups {
        // Long enough for a message to be kept by the standby before it takes over.
        setup.more = setup.more.replace("lease = \"5s\"", "lease = \"8s\"");
    }
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
    assert_eq!(standby.site.pair().await.unwrap().own_rows, Some(1));
    assert_eq!(gauge(&standby, "waypost_site_own_rows", "").await, 1.0);
    let shown = text(&standby, "/").await;
    has_all_of(
        &shown,
        &["north-a cannot be asked", "1 message is on this machine alone"],
    );
    is_a("Active", &standby).await;
    has_lease("Central", &standby).await;
    let shown = text(&standby, "/").await;
    has_all_of(
        &shown,
        &[
            "<span class=\"good\">active</span>",
            "cannot be asked",
            "Central gave the lease, for ",
        ],
    );
    assert_eq!(gauge(&standby, "waypost_site_active", "").await, 1.0);
    assert_eq!(gauge(&standby, "waypost_site_lease", "by=\"Central\"").await, 1.0);
    assert_eq!(gauge(&standby, "waypost_site_peer_reachable", "").await, 0.0);
    reported(&central, "central to know who took over", &standby, |pair| {
        pair.role == "Active" && pair.lease_by.as_deref() == Some("Central") && pair.trouble.is_some()
    })
    .await;
    let words = ["active north-b; ", "lease by Central", "no standby: "];
    comes_to_list(&central, &standby, &words).await;
}
