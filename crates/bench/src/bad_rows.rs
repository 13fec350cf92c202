//! One bad message in a thousand: refused when it comes in, or refused by the far end.

use super::{
    context::Bench,
    load::{BULK, Load},
    noop::BAD,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::per_second;
use anyhow::ensure;
use central::ingest::Submitted;
use domain::{Channel, Submission};
use std::time::Instant;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let (clean_in, clean_out) = measure(bench, false).await?;
    let (bad_in, bad_out) = measure(bench, true).await?;
    let row = |figure, value, clean| {
        Reading::rate(figure, value)
            .beside("all of them good", clean)
            .aiming(Target::Share(0.8))
    };
    Ok(vec![
        row("bad-rows, enqueue", bad_in, clean_in),
        row("bad-rows, drain", bad_out, clean_out),
    ])
}

/// Good messages taken in per second, and put on record per second.
async fn measure(bench: &Bench, with_bad: bool) -> anyhow::Result<(f64, f64)> {
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let load = Load::new("noop", Channel::Email);
    let mut dispatcher = rig.dispatcher();
    load.fill(&rig.central, BULK, |_| {}).await?;
    dispatcher.sweep().await?;
    location.settle().await?;
    let calls = bench.scale.rows / BULK;
    let start = Instant::now();
    for _ in 0..calls {
        let mut messages = load.messages(BULK);
        if with_bad {
            spoil(&mut messages);
        }
        let answers = rig.central.ingest.submit(messages).await?;
        let refused = answers
            .iter()
            .filter(|a| matches!(a, Submitted::Refused(_)))
            .count();
        ensure!(
            refused == usize::from(with_bad),
            "{refused} of a call were refused"
        );
    }
    let good = calls * BULK - if with_bad { calls } else { 0 };
    let taken_in = per_second(good, start.elapsed());
    location.settle().await?;
    let bad = if with_bad { calls } else { 0 };
    let start = Instant::now();
    let tally = dispatcher.sweep().await?;
    let delivered = per_second(tally.delivered, start.elapsed());
    ensure!(
        tally.delivered == good - bad && tally.parked == bad,
        "not what was to come out: {tally:?}"
    );
    rig.close().await;
    bench.database.remove(location).await?;
    Ok((taken_in, delivered))
}

/// One that cannot be stored, and one that the far end refuses.
fn spoil(messages: &mut [Submission]) {
    if let [first, second, ..] = messages {
        first.content.subject = "x".repeat(domain::submission::limit::SUBJECT + 1);
        second.content.subject = BAD.to_owned();
    }
}
