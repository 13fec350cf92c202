//! Receipts that come in while a backlog is delivered: how much they slow it down.

use super::{
    context::Bench,
    drain,
    load::{BULK, Load},
    reading::{Reading, Target},
    rig::Rig,
};
use anyhow::ensure;
use central::{Central, receipts::GATHERED_FOR};
use domain::{Channel, Correlation, LaneId, NotificationId, Receipt, ReceiptState, TenantId};
use serde_json::json;
use std::sync::Arc;
use store::receipts::ReceiptsFrom;
use tokio::task::JoinSet;

/// About messages that were delivered before.
const RECEIPTS: u64 = 30_000;
/// Providers call with one receipt at a time, from so many connections.
const CALLERS: usize = 32;
const POSTS: u32 = 128;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let alone = measure(bench, false).await?;
    let meanwhile = measure(bench, true).await?;
    Ok(vec![
        Reading::rate("receipts, drain-http meanwhile", meanwhile)
            .beside("the same drain without them", alone)
            .aiming(Target::Share(0.8)),
    ])
}

/// Messages delivered per second.
async fn measure(bench: &Bench, with_receipts: bool) -> anyhow::Result<f64> {
    let sink = bench.sink().await?;
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    let lane = rig
        .provider("hook", "webhook", json!({ "url": sink.url }), POSTS)
        .await?;
    let load = Load::new("hook", Channel::Webhook);
    let mut dispatcher = rig.dispatcher();
    let mut ids = vec![];
    for _ in 0..RECEIPTS / BULK {
        let messages = load.messages(BULK);
        ids.extend(messages.iter().map(|message| message.id));
        rig.central.ingest.submit(messages).await?;
    }
    dispatcher.sweep().await?;
    // As many as there are receipts, so that both take about as long.
    let rows = bench.scale.rows.max(RECEIPTS);
    load.fill(&rig.central, rows, |_| {}).await?;
    location.settle().await?;
    let mut telling = JoinSet::new();
    if with_receipts {
        tell(&rig.central, lane, ids, &mut telling);
    }
    let rate = drain::sweep(&mut dispatcher, rows).await?;
    while let Some(told) = telling.join_next().await {
        told??;
    }
    rig.central.receipts.sweep().await?;
    let waiting = rig.central.store.receipts_waiting(1).await?;
    ensure!(
        waiting == Default::default(),
        "not all were worked on: {waiting:?}"
    );
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate.per_second)
}

/// Callers that tell of all of these, and the loop that works on what they tell.
fn tell(central: &Central, lane: LaneId, ids: Vec<NotificationId>, tasks: &mut JoinSet<anyhow::Result<()>>) {
    let ids: Arc<[NotificationId]> = ids.into();
    for caller in 0..CALLERS {
        let (central, ids) = (central.clone(), ids.clone());
        tasks.spawn(async move {
            let from = ReceiptsFrom {
                tenant: TenantId::DEFAULT,
                lane,
            };
            for id in ids.iter().skip(caller).step_by(CALLERS) {
                let receipt = Receipt {
                    correlation: Some(Correlation {
                        id: *id,
                        generation: 0,
                        recipient: None,
                    }),
                    ..Receipt::new(ReceiptState::Delivered)
                };
                central.store.keep_receipts(from.clone(), vec![receipt]).await?;
            }
            Ok(())
        });
    }
    let (central, all) = (central.clone(), ids.len() as u64);
    tasks.spawn(async move {
        let mut done = 0;
        while done < all {
            tokio::time::sleep(GATHERED_FOR).await;
            done += central.receipts.sweep().await?;
        }
        Ok(())
    });
}
