//! How fast the store is on a PostgreSQL, durable commits included:
//! `cargo run --release -p store --example postgres_throughput URL [rows]`. Leaves the schema `throughput` behind.

use anyhow::Context;
use domain::{
    Actor, Channel, LeaseToken, Limits, NotificationId, OnAmbiguous, ProviderId, RetryPolicy, Submission,
    Target, TenantId,
    submission::{Extra, Provenance},
};
use std::{sync::Arc, time::Instant};
use store::{
    Directory, Maintenance, Outbox,
    directory::NewProvider,
    outbox::{AttemptAudit, AttemptRecord, Ended, LaneWant, NewNotification},
    postgres::{PgStore, StoreTime},
};

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
    let url = args
        .next()
        .context("give a PostgreSQL URL; scripts/postgres starts a server and prints one")?;
    let and = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{and}schema=throughput");
    let rows: usize = args.next().map_or(Ok(100_000), |n| n.parse())?;
    let store = PgStore::open(&url, StoreTime::Database, "throughput".into()).await?;
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
    // A second run finds the provider of the first.
    let known = store.provider(provider.tenant, &provider.id).await?;
    let version = known.map(|known| known.version);
    let lane = store
        .put_provider(&provider, version, &Actor::system())
        .await?
        .lane;

    for (callers, batch) in [(32, 1), (8, 100)] {
        let began = Instant::now();
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
        println!(
            "ingest, {callers} callers of {batch}: {:.0} rows/s",
            done as f64 / began.elapsed().as_secs_f64()
        );
    }

    let began = Instant::now();
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
    println!(
        "claim and record: {:.0} rows/s ({done} rows)",
        done as f64 / began.elapsed().as_secs_f64()
    );
    store.close().await;
    Ok(())
}
