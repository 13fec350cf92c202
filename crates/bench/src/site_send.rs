//! How fast a site takes messages in while its link is down: what one sender waits for is one commit, and a hundred
//! senders share theirs. And what a standby takes of that, for calls inside the process and for programs that send as they do,
//! over the local API.

use super::{
    context::Bench,
    halves::Share,
    http::Bare,
    reading::{Reading, Target},
    site_load::{self, Door, Until},
    site_rig::{Running, SiteRig},
};
use crate::limits::sqlite;
use anyhow::{Context, ensure};
use site::Site;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const MANY: u64 = 100;
/// Of the rate of a site with one machine.
const WITH_STANDBY: f64 = 0.9;
/// For the other machine to copy what little there is.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(30);

/// Who sends, and from where.
#[derive(Clone, Copy)]
struct Senders {
    count: u64,
    over_http: bool,
}

impl Senders {
    fn calling(count: u64) -> Self {
        Self {
            count,
            over_http: false,
        }
    }

    fn posting(count: u64) -> Self {
        Self {
            count,
            over_http: true,
        }
    }

    fn figure(self) -> String {
        let name = if self.count == 1 { "sender" } else { "senders" };
        let how = if self.over_http { " over the local API" } else { "" };
        format!("site-send, {} {name}{how}", self.count)
    }

    fn door(self, running: &Running) -> Door {
        match self.over_http {
            false => Door::Call(running.site().clone()),
            true => Door::Api(Arc::new(Bare::new(&running.notify_url()))),
        }
    }
}

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    // A site's file is SQLite, whatever central has.
    if !bench.database.is_sqlite() {
        return Ok(vec![]);
    }
    let run_for = bench.scale.run_for;
    let one_row = sqlite::one_by_one(bench.folder()?.path(), 1, run_for).await?;
    let group = sqlite::group(bench.folder()?.path(), run_for).await?;
    let mut readings = vec![
        alone(bench, Senders::calling(1), Share::All)
            .await?
            .beside("one-row transactions, nothing else", one_row),
        alone(bench, Senders::calling(MANY), Share::All)
            .await?
            .beside("group commit prototype, 32 senders", group),
    ];
    for count in [1, MANY] {
        readings.push(with_and_without(bench, Senders::calling(count), Share::All).await?);
    }
    if Share::can_be_halved() {
        for count in [1, MANY] {
            for senders in [Senders::calling(count), Senders::posting(count)] {
                let halved = with_and_without(bench, senders, Share::FirstHalf).await?;
                readings.push(halved.aiming(Target::Share(WITH_STANDBY)));
            }
        }
    }
    Ok(readings)
}

/// With a standby, beside the same without one.
async fn with_and_without(bench: &Bench, senders: Senders, share: Share) -> anyhow::Result<Reading> {
    let without = alone(bench, senders, share).await?;
    let with = replicated(bench, senders, share).await?;
    Ok(with.beside("without a standby", without.value))
}

async fn alone(bench: &Bench, senders: Senders, share: Share) -> anyhow::Result<Reading> {
    let measured = async || {
        let place = SiteRig::alone(bench.folder()?)?;
        let running = place.start(bench).await?;
        let reading = measure(bench, &running, senders, "").await?;
        running.stop().await?;
        // Its folder must outlast it: an agent whose file is gone refuses to go on.
        drop(place);
        Ok(reading)
    };
    share.run(measured).await
}

/// The same while another machine of the site keeps a copy on the same disk: on the other half of the processors, as a machine of its
/// own has them, or with what is left of all of them.
async fn replicated(bench: &Bench, senders: Senders, share: Share) -> anyhow::Result<Reading> {
    let name = match share {
        Share::All => ", with a standby on the same processors",
        _ => ", with a standby, half of the processors each",
    };
    let measured = async || {
        let place = SiteRig::alone(bench.folder()?)?;
        let running = place.start(bench).await?;
        site_load::fill(running.site(), 1, |_| {}).await?;
        running.stop().await?;
        let place = place.with_two_machines()?;
        let running = place.start(bench).await?;
        let standby = place.start_standby(bench, share.other())?;
        follows(running.site()).await?;
        let reading = measure(bench, &running, senders, name).await?;
        standby.stop().await?;
        running.stop().await?;
        drop(place);
        Ok(reading)
    };
    share.run(measured).await
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

async fn measure(bench: &Bench, running: &Running, senders: Senders, how: &str) -> anyhow::Result<Reading> {
    let buffer = &running.site().buffer;
    let (commits, messages) = (buffer.commits(), buffer.depth().waiting());
    let door = senders.door(running);
    let rate = site_load::send(&door, senders.count, Until::Over(bench.scale.run_for)).await?;
    let commits = buffer.commits() - commits;
    let messages = buffer.depth().waiting() - messages;
    let shared = format!(
        "{messages} messages in {commits} commits; {:.2} ms from call to answer on average; {}",
        1_000.0 * senders.count as f64 / rate.per_second,
        rate.note()
    );
    Ok(Reading::rate(format!("{}{how}", senders.figure()), rate.per_second).note(shared))
}
