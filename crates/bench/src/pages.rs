//! What people look at, and the claim, as history grows.

use super::{
    context::Bench,
    growth,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::Latencies;
use domain::{Channel, LeaseToken, TenantId};
use std::time::{Duration, Instant};
use store::{
    outbox::LaneWant,
    query::{Filter, Page},
};

const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 5_000_000];
/// Of each question, at each size.
const TIMES: usize = 50;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let location = bench.fresh().await?;
    let (mut kept, mut first, mut readings) = (0, None, vec![]);
    for size in SIZES {
        growth::keep(&location, size - kept).await?;
        kept = size;
        let found = ask(&Rig::on(&location).await?).await?;
        let smallest = *first.get_or_insert(found);
        for (i, what) in ["figures", "list page", "claim of 100"].into_iter().enumerate() {
            readings.push(
                Reading::millis(format!("pages, {what}, {size} rows"), found[i])
                    .beside("10000 rows", smallest[i])
                    .aiming(Target::Times(1.5)),
            );
        }
    }
    bench.database.remove(location).await?;
    Ok(readings)
}

/// Half of the answers came within this, in milliseconds: figures, a list page, a claim.
async fn ask(rig: &Rig) -> anyhow::Result<[f64; 3]> {
    let (store, kpi) = (&rig.central.store, rig.central.settings.kpi);
    let lane = rig.noop().await?;
    let page = Page {
        limit: 50,
        after: None,
    };
    let mut took = [Latencies::default(), Latencies::default(), Latencies::default()];
    let load = Load::new("noop", Channel::Email);
    load.fill(&rig.central, 200, |_| {}).await?;
    for _ in 0..TIMES {
        let start = Instant::now();
        store.kpis(Some(TenantId::DEFAULT), kpi).await?;
        took[0].0.push(start.elapsed());
        let start = Instant::now();
        store
            .list(TenantId::DEFAULT, &Filter::default(), page.clone())
            .await?;
        took[1].0.push(start.elapsed());
        let (wants, token) = ([LaneWant { lane, n: 100 }], LeaseToken::mint());
        let start = Instant::now();
        let claims = store.claim_due(&wants, token, Duration::from_secs(60)).await?;
        took[2].0.push(start.elapsed());
        let leases: Vec<_> = claims.rows.iter().map(|row| row.lease).collect();
        store.release(&leases).await?;
    }
    rig.dispatcher().sweep().await?;
    store.close().await;
    Ok(took.map(|latencies| latencies.percentile(0.5)))
}
