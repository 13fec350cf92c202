//! Deletes what is past its time, in chunks, so that ingest and dispatch go on in between.

use store::{
    Maintenance,
    loops::Work,
    maintenance::{Purged, Retention},
};

/// Rows in one transaction: few enough that nobody waits long behind it.
pub const CHUNK: u32 = 500;

/// Purges until a chunk comes back short. `between` is called after each chunk with what is gone so far.
pub async fn purge(
    store: &dyn Maintenance,
    keep: &Retention,
    mut between: impl FnMut(&Purged),
) -> store::Result<Purged> {
    let mut total = Purged::default();
    loop {
        let chunk = store.purge_chunk(keep, CHUNK).await?;
        total.notifications += chunk.notifications;
        total.audit_rows += chunk.audit_rows;
        total.spent_keys += chunk.spent_keys;
        total.stats_rows += chunk.stats_rows;
        total.site_calls += chunk.site_calls;
        total.jobs += chunk.jobs;
        total.events += chunk.events;
        total.transcripts += chunk.transcripts;
        total.oldest_left = chunk.oldest_left;
        between(&total);
        let most = chunk
            .notifications
            .max(chunk.audit_rows)
            .max(chunk.spent_keys)
            .max(chunk.stats_rows)
            .max(chunk.site_calls)
            .max(chunk.jobs)
            .max(chunk.events)
            .max(chunk.transcripts);
        if most < u64::from(CHUNK) {
            return Ok(total);
        }
        // Others who wait for the writer get their turn before the next chunk.
        tokio::task::yield_now().await;
    }
}

/// Says in the log what is gone, also when it is nothing: that the purge ran is worth a line a day.
pub fn log(purged: &Purged) {
    tracing::info!(
        purged.notifications = purged.notifications,
        purged.audit_rows = purged.audit_rows,
        purged.spent_keys = purged.spent_keys,
        purged.stats_rows = purged.stats_rows,
        purged.site_calls = purged.site_calls,
        purged.jobs = purged.jobs,
        purged.events = purged.events,
        purged.transcripts = purged.transcripts,
        "purged what was past its time"
    );
}

/// What is gone, without what there was none of.
pub fn work(purged: &Purged) -> Work {
    let counts = [
        (purged.notifications, "notification", "notifications"),
        (purged.audit_rows, "audit row", "audit rows"),
        (purged.spent_keys, "spent key", "spent keys"),
        (purged.stats_rows, "count", "counts"),
        (purged.site_calls, "call of a site", "calls of sites"),
        (purged.jobs, "bulk action", "bulk actions"),
        (purged.events, "event", "events"),
        (purged.transcripts, "transcript", "transcripts"),
    ];
    Work::of("purged", &counts, "purged nothing: nothing was past its time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_gone_is_named_and_one_of_a_thing_is_one() {
        let nothing = work(&Purged::default());
        assert_eq!(
            (nothing.words.as_str(), nothing.any),
            ("purged nothing: nothing was past its time", false)
        );
        let some = Purged {
            notifications: 1,
            jobs: 2,
            ..Purged::default()
        };
        assert_eq!(work(&some).words, "purged 1 notification, 2 bulk actions");
    }
}
