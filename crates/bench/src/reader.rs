//! Somebody leaves a transaction open while messages come and go: does it go on as fast, and does anything grow?

use super::{
    bar,
    context::Bench,
    database::Location,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::{per_second, postgres, sqlite};
use anyhow::ensure;
use domain::Channel;
use std::time::{Duration, Instant};

/// Messages that come in and go out in each turn.
const TURN: u64 = 5_000;
/// An embedded database's log grows by everything that is written while somebody reads, so turns are kept apart there: this is
/// about a thousand messages a second, and ten minutes of it fit on a disk.
const APART: Duration = Duration::from_secs(5);
/// The time with the reader is cut into so many parts; the last quarter of them counts.
const PARTS: u32 = 20;
const DELIVERED_WITHIN: Duration = Duration::from_secs(60);

enum Open {
    Postgres(postgres::Reader),
    Sqlite(#[allow(dead_code, reason = "held, not used")] sqlite::Reader),
}

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let location = bench.fresh().await?;
    let mut rig = Rig::on(&location).await?;
    rig.noop().await?;
    rig.start();
    let mut traffic = Traffic {
        rig: &rig,
        load: Load::new("noop", Channel::Email),
        sent: 0,
        apart: match &location {
            Location::Folder(..) => APART,
            Location::Database(_) => Duration::ZERO,
        },
    };
    let hold = bench.scale.hold;
    traffic.flows_for(Duration::from_secs(2)).await?;
    let before = traffic.flows_for(hold / 4).await?;
    let small = sizes(&location).await?;
    let open = match &location {
        Location::Database(url) => Open::Postgres(postgres::Reader::open(url).await?),
        Location::Folder(folder, _) => Open::Sqlite(sqlite::Reader::open(&folder.join("waypost.db"))?),
    };
    let bar = bar(u64::from(PARTS), "a reader stays");
    let (mut flows, mut large) = (vec![], small);
    for _ in 0..PARTS {
        flows.push(traffic.flows_for(hold / PARTS).await?);
        let now = sizes(&location).await?;
        large = (large.0.max(now.0), large.1.max(now.1));
        bar.inc(1);
    }
    bar.finish_and_clear();
    match open {
        Open::Postgres(reader) => reader.close().await?,
        Open::Sqlite(reader) => drop(reader),
    }
    let after = traffic.flows_for(hold / 4).await?;
    let end = sizes(&location).await?;
    rig.close().await;
    bench.database.remove(location).await?;
    let last: Flow = flows.iter().rev().take(flows.len() / 4).copied().sum();
    // History grows all the while, and that costs something too: what there would have been without the reader lies between
    // before and after, in the time of the last quarter at four fifths of the way.
    let without = before.rate() + 0.8 * (after.rate() - before.rate());
    Ok(vec![
        Reading::rate(
            format!("reader, in and out, last quarter of {} s", hold.as_secs()),
            last.rate(),
        )
        .beside("between before and after it", without)
        .aiming(Target::Share(0.8))
        .note(format!(
            "queue {} → at most {} KiB → {} after it left, log {} → {} → {} KiB; {:.0}/s before, {:.0}/s after",
            small.0,
            large.0,
            end.0,
            small.1,
            large.1,
            end.1,
            before.rate(),
            after.rate()
        )),
    ])
}

/// So many messages, in so much time in which there were any.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    messages: u64,
    took: Duration,
}

impl Flow {
    fn rate(self) -> f64 {
        per_second(self.messages, self.took)
    }
}

impl std::iter::Sum for Flow {
    fn sum<I: Iterator<Item = Self>>(flows: I) -> Self {
        flows.fold(Self::default(), |sum, flow| Self {
            messages: sum.messages + flow.messages,
            took: sum.took + flow.took,
        })
    }
}

struct Traffic<'a> {
    rig: &'a Rig,
    load: Load,
    sent: u64,
    apart: Duration,
}

impl Traffic<'_> {
    /// Submits to a node that delivers meanwhile, turn by turn.
    async fn flows_for(&mut self, run_for: Duration) -> anyhow::Result<Flow> {
        let (start, mut flow) = (Instant::now(), Flow::default());
        while start.elapsed() < run_for {
            let turn = Instant::now();
            self.load.fill(&self.rig.central, TURN, |_| {}).await?;
            self.sent += TURN;
            while self.rig.seen.delivered() < self.sent {
                ensure!(turn.elapsed() < DELIVERED_WITHIN, "messages were not delivered");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            flow.messages += TURN;
            flow.took += turn.elapsed();
            tokio::time::sleep(self.apart.saturating_sub(turn.elapsed())).await;
        }
        Ok(flow)
    }
}

/// The queue table and the write-ahead log, in KiB. Of an embedded store only the log is a file of its own.
async fn sizes(location: &Location) -> anyhow::Result<(i64, i64)> {
    match location {
        Location::Database(url) => {
            let sizes = postgres::sizes(url).await?;
            Ok((sizes.queue / 1024, sizes.kept_log / 1024))
        }
        Location::Folder(folder, _) => {
            let log = std::fs::metadata(folder.join("waypost.db-wal")).map_or(0, |m| m.len());
            Ok((0, i64::try_from(log / 1024)?))
        }
    }
}
