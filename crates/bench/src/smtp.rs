//! Mail to a local sink, through the kind `smtp`; the classic tool against the same sink is the limit.

use super::{
    context::Bench,
    drain,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
    stopwatch::Rate,
};
use crate::limits::per_second;
use anyhow::{Context, ensure};
use domain::Channel;
use serde_json::json;
use simulator::{SmtpOptions, SmtpServer};
use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

/// From the postfix package.
const SINK: &str = "/usr/sbin/smtp-sink";
const SOURCE: &str = "/usr/sbin/smtp-source";
/// Sessions of the classic tool, and of ours.
const SESSIONS: u32 = 16;
const LISTENING_WITHIN: Duration = Duration::from_secs(5);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    if !(Path::new(SINK).exists() && Path::new(SOURCE).exists()) {
        let simulator = SmtpServer::start(SmtpOptions::default()).await?;
        let rate = ours(bench, simulator.address()).await?;
        simulator.stop().await;
        let note = "against the simulator: smtp-sink of postfix is not installed, so there is no limit to compare with";
        return Ok(vec![Reading::of("smtp", rate).note(note)]);
    }
    let (address, mut sink) = start_sink().await?;
    let limit = classic(address, bench.scale.rows).await?;
    let rate = ours(bench, address).await?;
    sink.kill().await?;
    Ok(vec![
        Reading::of("smtp", rate)
            .beside("smtp-source -d", limit)
            .aiming(Target::Share(0.5)),
    ])
}

async fn ours(bench: &Bench, sink: SocketAddr) -> anyhow::Result<Rate> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    let settings = json!({
        "host": sink.ip().to_string(), "port": sink.port(), "tls": "none", "auth": "none",
        "from": "Waypost <waypost@example.org>",
    });
    rig.provider("mail", "smtp", settings, SESSIONS).await?;
    let rate = drain::measure(
        &rig,
        &location,
        &Load::new("mail", Channel::Email),
        bench.scale.rows,
    )
    .await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

async fn start_sink() -> anyhow::Result<(SocketAddr, Child)> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut command = Command::new(SINK);
    // It refuses to run as root, and says so only when asked to be somebody else.
    if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
        command.args(["-u", "nobody"]);
    }
    let sink = command
        .args(["-c", &address.to_string(), "1000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start smtp-sink")?;
    let end = Instant::now() + LISTENING_WITHIN;
    while TcpStream::connect(address).await.is_err() {
        ensure!(Instant::now() < end, "smtp-sink does not listen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((address, sink))
}

/// Messages per second over sessions that are kept.
async fn classic(sink: SocketAddr, messages: u64) -> anyhow::Result<f64> {
    let start = Instant::now();
    let status = Command::new(SOURCE)
        .args([
            "-d",
            "-s",
            &SESSIONS.to_string(),
            "-l",
            "600",
            "-m",
            &messages.to_string(),
            &sink.to_string(),
        ])
        .stdout(Stdio::null())
        .status()
        .await?;
    ensure!(status.success(), "smtp-source failed");
    Ok(per_second(messages, start.elapsed()))
}
