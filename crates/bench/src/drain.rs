//! How fast a backlog is delivered and put on record: nothing done with each message, or one HTTP POST.

use super::{
    context::Bench,
    database::Location,
    http::Bare,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
    stopwatch::{Rate, Stopwatch},
};
use crate::limits::{Handler, postgres, sqlite};
use anyhow::ensure;
use central::dispatcher::Dispatcher;
use domain::Channel;
use serde_json::json;

/// Delivered before the clock starts: a node that runs has its connections open and its windows wide.
const WARM_UP: u64 = 500;

/// Posts under way at once.
const POSTS: u32 = 128;

/// Nothing is done with each message.
pub async fn noop(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let (name, limit) = limit(bench, None).await?;
    let value = ours(bench).await?;
    let target = match bench.database.is_sqlite() {
        true => Target::Peers {
            times: 20.0,
            peer: 2_480.0 / 155_000.0,
        },
        false => Target::Peers {
            times: 2.0,
            peer: 26_500.0 / 81_900.0,
        },
    };
    Ok(vec![
        Reading::of("drain", value).beside(name, limit).aiming(target),
    ])
}

/// Each message is posted, through the kind `webhook`.
pub async fn http(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let sink = bench.sink().await?;
    let bare = Bare::new(&sink.url);
    let blast = bare.blast(bench.scale.rows).await?;
    let (name, limit) = limit(bench, Some(bare.handler())).await?;
    let value = ours_http(bench).await?;
    let target = match bench.database.is_sqlite() {
        true => Target::Peers {
            times: 10.0,
            peer: 1_090.0 / 30_800.0,
        },
        false => Target::Peers {
            times: 2.0,
            peer: 13_900.0 / 35_700.0,
        },
    };
    Ok(vec![
        Reading::of("drain-http", value)
            .beside(name, limit)
            .aiming(target),
        Reading::rate("drain-http, of bare HTTP", value.per_second)
            .beside("bare POSTs to the same receiver", blast),
    ])
}

/// The product, with the provider that does nothing.
pub async fn ours(bench: &Bench) -> anyhow::Result<Rate> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let rate = measure(
        &rig,
        &location,
        &Load::new("noop", Channel::Email),
        bench.scale.rows,
    )
    .await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

/// The product, posting.
pub async fn ours_http(bench: &Bench) -> anyhow::Result<Rate> {
    let sink = bench.sink().await?;
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.provider("hook", "webhook", json!({ "url": sink.url }), POSTS)
        .await?;
    let rate = measure(
        &rig,
        &location,
        &Load::new("hook", Channel::Webhook),
        bench.scale.rows,
    )
    .await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(rate)
}

/// Fills, settles, delivers. Messages per second until the last one is on record.
pub async fn measure(rig: &Rig, location: &Location, load: &Load, rows: u64) -> anyhow::Result<Rate> {
    let mut dispatcher = rig.dispatcher();
    load.fill(&rig.central, WARM_UP, |_| {}).await?;
    dispatcher.sweep().await?;
    load.fill(&rig.central, rows, |_| {}).await?;
    location.settle().await?;
    sweep(&mut dispatcher, rows).await
}

pub async fn sweep(dispatcher: &mut Dispatcher, rows: u64) -> anyhow::Result<Rate> {
    let watch = Stopwatch::start();
    let tally = dispatcher.sweep().await?;
    let rate = watch.stop(rows);
    ensure!(
        tally.delivered == rows,
        "{} of {rows} messages were delivered: {tally:?}",
        tally.delivered
    );
    Ok(rate)
}

async fn limit(bench: &Bench, handler: Option<Handler>) -> anyhow::Result<(&'static str, f64)> {
    let location = bench.fresh().await?;
    let rows = bench.scale.rows;
    let found = match &location {
        Location::Folder(folder, _) => (
            "single-writer prototype",
            sqlite::drain(folder, rows, handler).await?,
        ),
        Location::Database(url) => ("split prototype", postgres::drain(url, rows, handler).await?),
    };
    bench.database.remove(location).await?;
    Ok(found)
}
