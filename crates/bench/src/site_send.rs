//! How fast a site takes messages in while its link is down: what one sender waits for is one commit, and a hundred
//! senders share theirs.

use super::{
    context::Bench,
    reading::Reading,
    site_load::{self, Until},
    site_rig::SiteRig,
};
use crate::limits::sqlite;

const MANY: u64 = 100;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    // A site's file is SQLite, whatever central has.
    if !bench.database.is_sqlite() {
        return Ok(vec![]);
    }
    let run_for = bench.scale.run_for;
    let one_row = sqlite::one_by_one(bench.folder()?.path(), 1, run_for).await?;
    let group = sqlite::group(bench.folder()?.path(), run_for).await?;
    Ok(vec![
        ours(bench, 1)
            .await?
            .beside("one-row transactions, nothing else", one_row),
        ours(bench, MANY)
            .await?
            .beside("group commit prototype, 32 senders", group),
    ])
}

async fn ours(bench: &Bench, senders: u64) -> anyhow::Result<Reading> {
    let place = SiteRig::alone(bench.folder()?)?;
    let running = place.start(bench).await?;
    let buffer = &running.site().buffer;
    let (commits, messages) = (buffer.commits(), buffer.depth().waiting());
    let rate = site_load::send(running.site(), senders, Until::Over(bench.scale.run_for)).await?;
    let commits = buffer.commits() - commits;
    let messages = buffer.depth().waiting() - messages;
    running.stop().await?;
    // Its folder must outlast it: an agent whose file is gone refuses to go on.
    drop(place);
    let name = if senders == 1 { "sender" } else { "senders" };
    let shared = format!(
        "{messages} messages in {commits} commits; {:.2} ms from call to answer on average",
        1_000.0 * senders as f64 / rate.per_second
    );
    Ok(Reading::rate(format!("site-send, {senders} {name}"), rate.per_second).note(shared))
}
