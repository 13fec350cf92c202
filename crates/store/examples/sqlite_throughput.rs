//! How fast the embedded store is on this machine, durable commits included:
//! `cargo run --release -p store --example sqlite_throughput [rows] [folder]`.

use domain::{
    Actor, Channel, LeaseToken, Limits, NotificationId, OnAmbiguous, ProviderId, RetryPolicy, Submission,
    SystemClock, Target, TenantId,
    submission::{Extra, Provenance},
};
use std::{sync::Arc, time::Instant};
use store::{
    Directory, Maintenance, Outbox,
    directory::NewProvider,
    outbox::{AttemptAudit, AttemptRecord, Ended, LaneWant, NewNotification},
    sqlite::SqliteStore,
};

/// CPU seconds of the writer thread so far: what counts on a machine that is busy with other things.
fn writer_cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    let ticks = |stat: &str| {
        let (name, rest) = stat.rsplit_once(')')?;
        let field = |n: usize| rest.split_whitespace().nth(n)?.parse::<f64>().ok();
        name.ends_with("waypost-writer")
            .then_some(field(11)? + field(12)?)
    };
    stats.filter_map(|stat| ticks(&stat)).sum::<f64>() / 100.0
}

fn tell(what: &str, rows: usize, began: Instant, cpu: f64) {
    let (taken, worked) = (began.elapsed().as_secs_f64(), writer_cpu() - cpu);
    let rate = rows as f64 / taken;
    println!(
        "{what}: {rate:.0} rows/s; the writer worked {:.1} µs per row",
        worked * 1e6 / rows as f64
    );
}

const LEASE: std::time::Duration = std::time::Duration::from_secs(600);

fn submission(n: usize) -> Submission {
    Submission {
        tenant: TenantId::DEFAULT,
        id: NotificationId::mint(),
        idempotency_key: None,
        channel: Channel::Email,
        provider: None,
        target: Target::List("ops".into()),
        subject: format!("Tank {n} is full"),
        body: "The level is above 98 %, please look after it. ".repeat(6),
        type_data: None,
        provenance: Provenance {
            site: Some(format!("plant-{}", n % 10)),
            ..Provenance::default()
        },
        entity_type: None,
        entity_id: None,
        submitted_by: Actor::new("key:line-4"),
        site_enqueued_at: None,
        send_at: None,
        expires_at: None,
        supersedes_key: None,
        extra: Extra::default(),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let rows: usize = args.next().map_or(Ok(100_000), |n| n.parse())?;
    let folder = match args.next() {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let store = SqliteStore::open(&folder.path().join("waypost.db"), Arc::new(SystemClock))?;
    let store = Arc::new(store);
    let provider = NewProvider {
        tenant: TenantId::DEFAULT,
        id: ProviderId::new("mail"),
        name: "Mail".into(),
        kind: "smtp".into(),
        channel: Channel::Email,
        enabled: true,
        order: 0,
        settings: Default::default(),
        secrets: Default::default(),
        retry: RetryPolicy::email(),
        limits: Limits::default(),
        on_ambiguous: OnAmbiguous::Resend,
    };
    let lane = store.put_provider(&provider, None, &Actor::system()).await?.lane;

    for (callers, batch) in [(64, 1), (8, 100)] {
        let (began, cpu) = (Instant::now(), writer_cpu());
        let tasks = (0..callers).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..(rows / callers / batch) {
                    let batch = (0..batch).map(|i| NewNotification {
                        submission: submission(n * batch + i),
                        lane,
                    });
                    store.ingest(batch.collect()).await?;
                }
                anyhow::Ok(())
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await??;
        }
        let done = rows / callers / batch * callers * batch;
        tell(&format!("ingest, {callers} callers of {batch}"), done, began, cpu);
    }

    let (began, cpu) = (Instant::now(), writer_cpu());
    let tasks = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut done = 0;
            loop {
                let want = LaneWant { lane, n: 250 };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await?;
                if claims.rows.is_empty() {
                    return anyhow::Ok(done);
                }
                done += claims.rows.len();
                let batch = claims.rows.iter().map(|row| AttemptRecord {
                    lease: row.lease,
                    tenant: row.tenant,
                    id: row.id,
                    ended: Ended::Delivered {
                        provider_message_id: None,
                        resolved_targets: vec!["ops@example.com".into()],
                    },
                    recipients: vec![],
                    attempt: Some(AttemptAudit {
                        target: "mail".into(),
                        duration_ms: 12,
                        code: None,
                        detail: Some("250 ok".into()),
                    }),
                    after_interruption: false,
                });
                store.record(batch.collect()).await?;
            }
        })
    });
    let mut done = 0;
    for task in tasks.collect::<Vec<_>>() {
        done += task.await??;
    }
    tell("claim and record", done, began, cpu);
    assert_eq!(store.misplaced().await?, 0);
    store.close().await;
    Ok(())
}
