//! How fast a site's backlog reaches central once the link is back, beside what central's own batch ingest takes in.

use super::{
    context::Bench,
    enqueue::{self, Callers},
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
    site_load,
    site_rig::{Running, SiteRig},
    stopwatch::{Rate, Stopwatch},
};
use anyhow::{Context, ensure};
use domain::{Channel, TenantId};
use link::LinkState;
use std::time::Duration;

/// In central before the clock starts, so that connections are open and statements prepared.
const WARM_UP: u64 = 100;
/// How often the buffer's gauge, which costs nothing, is looked at.
const LOOK: Duration = Duration::from_millis(1);
/// A backlog that takes longer than this will never arrive.
const EMPTIED_WITHIN: Duration = Duration::from_secs(900);

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let ingest = enqueue::ours(bench, Callers::Bulk).await?.per_second;
    let forwarded = ours(bench).await?;
    Ok(vec![
        Reading::of("forward", forwarded)
            .beside("central's own batch ingest", ingest)
            .aiming(Target::Share(0.5)),
    ])
}

async fn ours(bench: &Bench) -> anyhow::Result<Rate> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    Load::new("noop", Channel::Email)
        .fill(&rig.central, WARM_UP, |_| {})
        .await?;
    let place = SiteRig::of(&rig, bench.folder()?).await?;
    let running = place.start(bench).await?;
    site_load::fill(running.site(), bench.scale.rows, |_| {}).await?;
    location.settle().await?;
    let plug = place.plug_in(bench, &rig).await?;
    let rate = until_empty(&running).await?;
    running.stop().await?;
    plug.pull().await?;
    let kpis = rig
        .central
        .store
        .kpis(Some(TenantId::DEFAULT), rig.central.settings.kpi)
        .await?;
    let arrived = kpis.queue_depth - WARM_UP;
    ensure!(
        arrived == bench.scale.rows,
        "{arrived} of {} messages arrived",
        bench.scale.rows
    );
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

/// From the moment the link is up until central has acknowledged the last one and the buffer has let go of it.
async fn until_empty(running: &Running) -> anyhow::Result<Rate> {
    let site = running.site();
    let mut link = site.uplink().context("the site does not know central")?.state();
    link.wait_for(LinkState::is_up).await?;
    let watch = Stopwatch::start();
    let rows = site.buffer.depth().waiting();
    let emptied = async {
        while site.buffer.depth().waiting() > 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(EMPTIED_WITHIN, emptied)
        .await
        .context("the backlog did not reach central")?;
    Ok(watch.stop(rows))
}
