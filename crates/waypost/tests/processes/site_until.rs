//! Asking the two agents of a site, again and again, until it is so. One that stands still for a while, or starts anew, is asked once more.

use crate::{site_agent::AgentProcess, size::pick};
use client::site::Pair;
use std::{
    process::{Command, Output},
    time::Duration,
};

pub fn waypost(agent: &AgentProcess, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(args)
        .env("WAYPOST_SITE_URL", agent.site.url())
        .output()
        .unwrap()
}

pub async fn until(what: &str, agent: &AgentProcess, mut is_so: impl AsyncFnMut() -> bool) {
    // The machine may have other things to do for a while, at full size for minutes.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(pick(300, 600));
    while !is_so().await {
        assert!(
            tokio::time::Instant::now() < deadline,
            "waited for: {what}; log:\n{}",
            agent.log_tail()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub async fn is_a(role: &str, agent: &AgentProcess) {
    until(role, agent, async || {
        agent.site.pair().await.is_ok_and(|pair| pair.role == role)
    })
    .await;
}

/// Said until it is done: to say again what was done harms nothing, and an agent that stands still for a while answers too late.
pub async fn obeys(agent: &AgentProcess, args: &[&str]) {
    until(&args.join(" "), agent, async || {
        let output = waypost(agent, args);
        print!("{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    })
    .await;
}

/// What an agent says of its pair; one that is just starting anew says nothing.
pub async fn pair_of(agent: &AgentProcess) -> Pair {
    let mut found = None;
    until("an answer about the pair", agent, async || {
        found = agent.site.pair().await.ok();
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// The standby has everything that the active has.
pub async fn is_whole(standby: &AgentProcess) {
    until("the copy to be complete", standby, async || {
        let pair = standby.site.pair().await;
        pair.is_ok_and(|pair| pair.role == "Standby" && pair.caught_up && pair.behind == Some(0))
    })
    .await;
}
