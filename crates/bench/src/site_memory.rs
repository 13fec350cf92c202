//! How much memory `waypost site` needs with a large backlog: while it waits, and while it is handed over to central.

use super::{
    bar,
    context::Bench,
    peak::{self, Memory},
    reading::{Reading, Target, Unit},
    rig::Rig,
    site_load,
    site_rig::SiteRig,
};
use anyhow::Context;
use std::{process::Stdio, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

const SMALL: u64 = 100_000;
const LARGE: u64 = 1_000_000;
/// What an agent may take, in MiB.
const MOST: f64 = 64.0;
/// How often central is asked what the site said last.
const LOOK: Duration = Duration::from_millis(500);
/// A backlog that takes longer than this will never arrive.
const EMPTIED_WITHIN: Duration = Duration::from_secs(1800);

struct Peaks {
    waiting: Memory,
    forwarding: Memory,
}

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let small = peaks(bench, SMALL).await?;
    let large = peaks(bench, LARGE).await?;
    let reading = |what: &str, large: Memory, small: Memory| {
        Reading::new(format!("site-memory, 1,000,000 {what}"), Unit::MiB, large.peak)
            .beside("100,000", small.peak)
            .aiming(Target::AtMost(MOST))
            .note(format!(
                "{:.1} MiB of that are pages of the program",
                large.program
            ))
    };
    Ok(vec![
        reading("waiting", large.waiting, small.waiting),
        reading("handed over", large.forwarding, small.forwarding),
    ])
}

async fn peaks(bench: &Bench, rows: u64) -> anyhow::Result<Peaks> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let place = SiteRig::of(&rig, bench.folder()?).await?;
    let running = place.start(bench).await?;
    let bar = bar(rows, "sending");
    site_load::fill(running.site(), rows, |n| bar.set_position(n)).await?;
    bar.finish_and_clear();
    running.stop().await?;
    let agent = start(&place).await?;
    let process = agent.id().context("the agent has ended")?;
    let waiting = peak::of(process)?;
    let plug = place.plug_in(bench, &rig).await?;
    let emptied = async {
        while SiteRig::waiting_as_told(&rig).await? != Some(0) {
            tokio::time::sleep(LOOK).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(EMPTIED_WITHIN, emptied)
        .await
        .context("the backlog did not reach central")??;
    let forwarding = peak::of(process)?;
    drop(agent);
    plug.pull().await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(Peaks { waiting, forwarding })
}

/// A real agent over the buffer that was filled, once it listens. Killed when dropped.
async fn start(place: &SiteRig) -> anyhow::Result<Child> {
    let mut agent = Command::new(std::env::current_exe()?)
        .arg("site")
        .current_dir(place.folder())
        .env("WAYPOST_SITE__ID", "bench")
        .env("WAYPOST_SITE__CENTRAL", format!("http://{}", place.central))
        .env("WAYPOST_SITE__KEY", &place.key)
        .env("WAYPOST_SITE__LISTEN", "127.0.0.1:0")
        .env("WAYPOST_SITE__DATABASE", place.database())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start an agent")?;
    let output = agent.stdout.take().context("the agent has no output")?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if line.contains("is listening on") {
            return Ok(agent);
        }
    }
    anyhow::bail!("the agent ended before it listened")
}
