//! How fast a site takes messages in while its link is down: what one sender waits for is one commit, and a hundred
//! senders share theirs.

use super::{
    context::Bench,
    reading::{Reading, Target},
    site_load::{self, Until},
    site_rig::{Running, SiteRig},
};
use crate::limits::sqlite;
use anyhow::{Context, ensure};
use site::Site;
use std::time::{Duration, Instant};

const MANY: u64 = 100;
/// Of the rate of a site with one machine.
const WITH_STANDBY: f64 = 0.9;
/// For the other machine to copy what little there is.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    // A site's file is SQLite, whatever central has.
    if !bench.database.is_sqlite() {
        return Ok(vec![]);
    }
    let run_for = bench.scale.run_for;
    let one_row = sqlite::one_by_one(bench.folder()?.path(), 1, run_for).await?;
    let group = sqlite::group(bench.folder()?.path(), run_for).await?;
    let (one, many) = (alone(bench, 1).await?, alone(bench, MANY).await?);
    let with_standby = |reading: Reading, without: &Reading| {
        reading
            .beside("without a standby", without.value)
            .aiming(Target::Share(WITH_STANDBY))
    };
    let one_with = with_standby(replicated(bench, 1).await?, &one);
    let many_with = with_standby(replicated(bench, MANY).await?, &many);
    Ok(vec![
        one.beside("one-row transactions, nothing else", one_row),
        many.beside("group commit prototype, 32 senders", group),
        one_with,
        many_with,
    ])
}

async fn alone(bench: &Bench, senders: u64) -> anyhow::Result<Reading> {
    let place = SiteRig::alone(bench.folder()?)?;
    let running = place.start(bench).await?;
    let reading = measure(bench, &running, senders, "").await?;
    running.stop().await?;
    // Its folder must outlast it: an agent whose file is gone refuses to go on.
    drop(place);
    Ok(reading)
}

/// The same while another machine of the site keeps a copy, on the same disk, with what is left of the processors.
async fn replicated(bench: &Bench, senders: u64) -> anyhow::Result<Reading> {
    let place = SiteRig::alone(bench.folder()?)?;
    let running = place.start(bench).await?;
    site_load::fill(running.site(), 1, |_| {}).await?;
    running.stop().await?;
    let place = place.with_two_machines()?;
    let running = place.start(bench).await?;
    let standby = place.start_standby(bench)?;
    follows(running.site()).await?;
    let reading = measure(bench, &running, senders, ", with a standby").await?;
    standby.stop().await?;
    running.stop().await?;
    drop(place);
    Ok(reading)
}

/// Waits until the other machine has everything.
async fn follows(site: &Site) -> anyhow::Result<()> {
    let pair = site.pair().context("the site has one machine")?;
    let deadline = Instant::now() + FOLLOW_TIMEOUT;
    while pair.status().await.behind != Some(0) {
        ensure!(Instant::now() < deadline, "the standby does not follow");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn measure(bench: &Bench, running: &Running, senders: u64, how: &str) -> anyhow::Result<Reading> {
    let buffer = &running.site().buffer;
    let (commits, messages) = (buffer.commits(), buffer.depth().waiting());
    let rate = site_load::send(running.site(), senders, Until::Over(bench.scale.run_for)).await?;
    let commits = buffer.commits() - commits;
    let messages = buffer.depth().waiting() - messages;
    let name = if senders == 1 { "sender" } else { "senders" };
    let shared = format!(
        "{messages} messages in {commits} commits; {:.2} ms from call to answer on average",
        1_000.0 * senders as f64 / rate.per_second
    );
    Ok(Reading::rate(format!("site-send, {senders} {name}{how}"), rate.per_second).note(shared))
}
